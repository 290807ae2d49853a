// The source, the arrays and the time of one region, which always show the same moment.
class Workbench {
  constructor(region, raw) {
    Object.assign(this, { arrays: raw.arrays, statements: raw.statements, isSequential: raw.isSequential });
    this.views = raw.views.map((view) => new View(view, raw.arrays));
    this.sliders = raw.sliders;
    this.current = raw.start;
    this.timer = null;
    this.box = region.querySelector(".workbench");
    this.listing = region.querySelector(".listing");
    this.#toolbar();
    this.stage = new Stage(region.querySelector(".stage"), this);
    this.differences = new Map();
    for (const node of region.querySelectorAll(".differences")) {
      const k = Number(node.getAttribute("data-subject"));
      this.differences.set(k, new Differences(node, this.arrays[k]));
    }
    const hasSteps = this.views.some((view) => view.steps);
    this.timeline = hasSteps ? new Timeline(region.querySelector(".timeline"), this) : null;
    // Mappings that somebody brought come first; otherwise the largest array.
    const sizes = this.view.scenes.map((scene) => scene?.allocated ?? -1);
    this.selected = this.arrays[0].isGiven && sizes[0] >= 0 ? 0 : sizes.indexOf(Math.max(...sizes));
    this.show();
  }

  get view() {
    return this.views[this.current];
  }

  #toolbar() {
    const bar = this.box.querySelector(".toolbar");
    const sizes = html("div", { class: "controls sizes" }, bar);
    this.inputs = this.sliders.map(({ name, values }) => {
      const label = html("label", {}, sizes, `${name} = `);
      const output = html("span", { class: "value" }, label);
      const input = html("input", { type: "range", min: 0, max: values.length - 1 }, label);
      input.setAttribute("data-parameter", name);
      input.addEventListener("input", () => this.#choose(name, values[input.value]));
      return { name, values, input, output };
    });
    if (!this.inputs.length) sizes.remove();
    this.transport = html("div", { class: "controls transport" }, bar);
    const button = (sign, label, action) => {
      const node = html("button", { type: "button", "aria-label": label, title: label }, this.transport);
      if (sign) symbol(sign, node);
      node.addEventListener("click", action);
      return node;
    };
    button("start", "To the start", () => this.go(-1));
    button("back", "One step back", () => this.go(this.moment - 1));
    this.playButton = button("play", "Play", () => this.toggle());
    button("forward", "One step forward", () => this.go(this.moment + 1));
    button("end", "To the end", () => this.go(this.view.steps.length - 1));
    const peak = button("", "To the moment at which most is live", () => this.go(this.view.interesting));
    peak.textContent = "Peak";
    this.peakButton = peak;
    this.sentence = html("p", { class: "sentence", "aria-live": "polite" }, bar);
    if (this.arrays.length > 1) {
      const tabs = html("div", { class: "controls tabs", role: "group", "aria-label": "Array" }, bar);
      this.tabs = this.arrays.map((about, k) => {
        const node = html("button", { type: "button", "data-array": k }, tabs);
        const swatch = svg("svg", { viewBox: "0 0 10 10", class: "swatch", "aria-hidden": "true" }, node);
        svg("rect", { width: 10, height: 10, rx: 2, fill: arrayColour(k) }, swatch);
        node.append(about.title);
        node.addEventListener("click", () => this.select(k));
        return node;
      });
    }
  }

  // The view with this value whose other sizes are closest to the present ones.
  #choose(name, value) {
    const now = this.view.params;
    const distance = (view) =>
      Object.entries(view.params).reduce((sum, [key, size]) => sum + Math.abs(size - now[key]), 0);
    let best = null;
    this.views.forEach((view, k) => {
      if (view.params[name] !== value) return;
      if (best === null || distance(view) < distance(this.views[best])) best = k;
    });
    if (best !== null) this.current = best;
    this.show();
  }

  show() {
    this.stop();
    const { view } = this;
    for (const { name, values, input, output } of this.inputs) {
      const value = view.params[name];
      input.value = values.indexOf(value);
      input.setAttribute("aria-valuetext", `${name} = ${value}`);
      output.textContent = value;
    }
    const isLost = view.scenes.some((scene) => scene?.wrong?.length);
    this.transport.hidden = !view.steps;
    this.peakButton.textContent = isLost ? "First wrong read" : "Peak";
    const label = isLost ? "Go to the first wrong read" : "To the moment at which most is live";
    this.peakButton.setAttribute("aria-label", label);
    this.peakButton.title = label;
    this.moment = view.steps ? view.interesting : -1;
    for (const [k, one] of this.differences) if (view.scenes[k]) one.show(view.scenes[k]);
    if (this.timeline && view.steps) this.timeline.show(view);
    this.select(this.selected);
  }

  select(k) {
    this.selected = k;
    this.tabs?.forEach((tab, number) => tab.setAttribute("aria-pressed", number === k));
    this.stage.show(this.view.scenes[k], this.arrays[k], this.view);
    if (this.timeline && this.view.steps) this.timeline.draw();
    this.#draw();
  }

  toggle() {
    if (this.timer !== null) this.stop();
    else {
      if (this.moment >= this.view.steps.length - 1) this.go(-1);
      const pause = Math.max(60, Math.min(600, 12000 / this.view.steps.length));
      this.timer = setInterval(() => {
        if (this.moment >= this.view.steps.length - 1) this.stop();
        else this.go(this.moment + 1, true);
      }, pause);
      this.#label("pause", "Pause");
      this.sentence.setAttribute("aria-live", "off");
    }
  }

  stop() {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    this.#label("play", "Play");
    this.sentence.setAttribute("aria-live", "polite");
  }

  #label(sign, words) {
    this.playButton.replaceChildren();
    symbol(sign, this.playButton);
    this.playButton.setAttribute("aria-label", words);
    this.playButton.title = words;
  }

  go(moment, isPlaying = false) {
    if (!this.view.steps) return;
    if (!isPlaying) this.stop();
    this.moment = Math.max(-1, Math.min(moment, this.view.steps.length - 1));
    this.#draw();
  }

  #draw() {
    const { view, moment } = this;
    this.stage.go(moment);
    if (!view.steps) {
      this.sentence.textContent = "The input gives conflicts and no execution that could be played.";
      return;
    }
    this.timeline.go(moment);
    this.#highlight(moment < 0 ? null : view.steps[moment].split("[")[0]);
    let text = "Before the first step";
    const touching = [...view.scenes.keys()].filter((k) => view.scenes[k]?.steps && !this.#isTwice(k));
    let isLost = false;
    if (moment >= 0) {
      const done = { reads: [], writes: [] };
      for (const k of touching) {
        const [reads, writes] = view.scenes[k].touched(moment);
        done.reads.push(...reads.map((cell) => view.scenes[k].label(cell)));
        done.writes.push(...writes.map((cell) => view.scenes[k].label(cell)));
      }
      const parts = Object.entries(done).filter(([, cells]) => cells.length);
      const words = parts.map(([verb, cells]) => `${verb} ${limited(cells, 6)}`).join(" and ");
      text = `Step ${moment + 1} of ${view.steps.length}: ${view.steps[moment]} ${words}`;
    }
    const live = touching.reduce((sum, k) => sum + view.scenes[k].liveCount(moment), 0);
    const all = touching.reduce((sum, k) => sum + view.scenes[k].allocated, 0);
    text += `. ${count(live, "cell is", "cells are")} live, ${count(all, "is", "are")} allocated.`;
    for (const scene of view.scenes) {
      for (const { cell, found } of (scene?.wrong ?? []).filter((one) => one.moment === moment)) {
        const instead = found === undefined ? "nothing" : `the value of ${scene.label(found)}`;
        text += ` ${scene.label(cell)} is needed, but its address holds ${instead}.`;
        isLost = true;
      }
    }
    if (!view.isReal) text += " Some of these instances never run in the same execution; all are shown.";
    this.sentence.textContent = text;
    this.sentence.classList.toggle("bad", isLost);
  }

  // Whether an array is shown with another mapping before.
  #isTwice(k) {
    return this.arrays.findIndex((about) => about.array === this.arrays[k].array) < k;
  }

  // Lines of the statement that runs are lit, and scrolled to inside of their box.
  #highlight(statement) {
    if (!this.listing) return;
    for (const node of this.listing.querySelectorAll(".current")) node.classList.remove("current");
    const lines = statement && this.statements[statement];
    const found = lines
      ? [...this.listing.querySelectorAll("[data-line]")].filter((node) => {
          const line = Number(node.getAttribute("data-line"));
          return lines[0] <= line && line <= lines[1];
        })
      : [...this.listing.querySelectorAll("[data-statement]")].filter(
          (node) => statement && node.getAttribute("data-statement") === statement,
        );
    for (const node of found) node.classList.add("current");
    if (!found.length) return;
    const { listing } = this;
    const top = found[0].getBoundingClientRect().top - listing.getBoundingClientRect().top;
    const bottom = found.at(-1).getBoundingClientRect().bottom - listing.getBoundingClientRect().top;
    if (top < 0 || bottom > listing.clientHeight) {
      listing.scrollTop += top - Math.max(0, (listing.clientHeight - (bottom - top)) / 2);
    }
  }
}
