// One array at one moment: its cells with what they conflict with, and the memory.
class Stage {
  constructor(box, bench) {
    this.box = box;
    this.bench = bench;
    this.controls = html("div", { class: "controls slices" }, box);
    const pictures = html("div", { class: "pictures" }, box);
    const figure = (kind, caption, attributes) => {
      const outside = html("figure", { class: kind }, pictures);
      const node = svg("svg", { class: "picture", ...attributes }, outside);
      html("figcaption", {}, outside, caption);
      return node;
    };
    this.cells = figure("space", "The array. Number and colour of a cell are its address.", {
      tabindex: 0,
      role: "application",
    });
    this.memory = figure("memory", "The memory: every address with the cell whose value it holds.", { role: "img" });
    this.legend = html("ul", { class: "legend" }, box);
    this.readout = html("p", { class: "readout", "aria-live": "polite" }, box);
    this.counted = html("p", { class: "counted" }, box);
    this.pinned = null;
    const target = (event) => {
      const cell = event.target.getAttribute?.("data-cell");
      return cell === null || cell === undefined ? null : Number(cell);
    };
    this.cells.addEventListener("pointerover", (event) => {
      const cell = target(event);
      if (cell !== null) this.choose(cell);
    });
    this.cells.addEventListener("pointerleave", () => this.choose(this.pinned));
    this.cells.addEventListener("click", (event) => {
      const cell = target(event);
      this.pinned = cell === this.pinned ? null : cell;
      this.choose(this.pinned);
    });
    this.cells.addEventListener("keydown", (event) => this.#key(event));
  }

  show(scene, about, view) {
    this.scene = scene;
    this.view = view;
    this.pinned = null;
    this.chosen = null;
    for (const part of [...this.box.children].filter((one) => one !== this.readout)) part.hidden = !scene;
    if (!scene) {
      this.readout.textContent = `${about.title} has no cells at these sizes, or too many to draw.`;
      return;
    }
    const { dimensions } = about;
    this.outer = Math.max(scene.rank - 2, 0);
    const values = valuesOf(scene.cells, this.outer);
    this.slice = values.map((options) => options[0]);
    this.sliders = sliceControls(this.controls, dimensions, values, (d, value) => {
      this.slice[d] = value;
      this.draw();
    });
    this.controls.hidden = this.outer === 0;
    this.grid = new Grid(scene, dimensions, this.cells);
    const label = `Cells of ${about.title}. Arrow keys move from cell to cell, Escape leaves.`;
    this.cells.setAttribute("aria-label", label);
    this.#legend();
    this.#counted();
  }

  // Shows a moment; slices go where something happens.
  go(moment) {
    const { scene } = this;
    if (!scene) return;
    this.moment = moment;
    const [reads, writes] = scene.steps ? scene.touched(moment) : [[], []];
    const moving = writes[0] ?? reads[0];
    if (moving !== undefined) this.slice = scene.cells[moving].slice(0, this.outer);
    this.draw();
  }

  draw() {
    this.grid.draw(this.slice);
    this.sliders.forEach((slider, d) => slider.set(this.slice[d]));
    this.choose(this.grid.rects.has(this.pinned) ? this.pinned : null);
    this.#drawMemory();
  }

  choose(chosen) {
    const { scene } = this;
    if (!scene) return;
    this.chosen = chosen;
    const sharing = new Set(chosen === null ? [] : scene.sharing(chosen));
    const [reads, writes] = scene.steps ? scene.touched(this.moment) : [[], []];
    const lost = new Set((scene.wrong ?? []).filter((one) => one.moment === this.moment).map((one) => one.cell));
    for (const [k, rect] of this.grid.rects) {
      const classes = ["cell"];
      const isBorn = !scene.steps || scene.isBorn(k, this.moment);
      if (chosen !== null) {
        if (k === chosen) classes.push("chosen");
        else if (scene.conflict(chosen, k)) classes.push("partner");
        else if (sharing.has(k)) classes.push("shared");
        else classes.push("faded");
        if (sharing.has(k) && scene.conflict(chosen, k)) classes.push("wrong");
        rect.setAttribute("fill", addressColour(scene.places[k]));
      } else {
        if (isBorn) rect.setAttribute("fill", addressColour(scene.places[k]));
        else {
          rect.removeAttribute("fill");
          classes.push("unborn");
        }
        if (isBorn && scene.steps && !scene.isLive(k, this.moment)) classes.push("dead");
        if (reads.includes(k)) classes.push("reading");
        if (writes.includes(k)) classes.push("writing");
        if (lost.has(k)) classes.push("wrong");
      }
      rect.setAttribute("class", classes.join(" "));
    }
    this.readout.textContent =
      chosen === null ? "Point at a cell, or move with the arrow keys: what does it conflict with?" : this.#words(chosen);
  }

  #words(k) {
    const { scene, view } = this;
    const partners = scene.partners(k);
    const sharing = scene.sharing(k);
    const wrong = sharing.filter((other) => scene.conflict(k, other));
    let text = `${scene.label(k)} has address ${scene.addresses[k].join(", ") || "0"}. `;
    text += `It conflicts with ${partners.length} of ${scene.cells.length - 1} other cells. `;
    if (!sharing.length) text += "No other cell has its address.";
    else {
      text += `Its address is also that of ${limited(sharing.map((other) => scene.label(other)), 6)}`;
      text += wrong.length ? `, and ${wrong.length} of them conflict with it.` : ", none of which conflicts with it.";
    }
    if (scene.steps && scene.lifetimes.has(k)) {
      const spans = scene.lifetimes.get(k).map(([first, last]) => {
        const start = first < 0 ? "from before the program" : `from step ${first + 1}, ${view.steps[first]},`;
        if (last === null) return `${start} and is never read`;
        return `${start} to ${last >= view.steps.length ? "the end" : `step ${last + 1}, ${view.steps[last]}`}`;
      });
      const more = spans.length > 3 ? `; and ${count(spans.length - 3, "more time", "more times")}` : "";
      text += ` It is live ${spans.slice(0, 3).join("; ")}${more}.`;
    }
    return text;
  }

  #key(event) {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (event.key === "Escape") {
      this.pinned = null;
      this.choose(null);
      return;
    }
    const move = moves[event.key];
    if (!move || !this.scene) return;
    event.preventDefault();
    const shown = [...this.grid.rects.keys()];
    if (!shown.length) return;
    if (this.chosen === null || !this.grid.rects.has(this.chosen)) {
      this.pinned = shown[0];
    } else {
      const [x, y] = this.grid.corner(this.chosen);
      const ahead = shown.filter((k) => {
        const [u, v] = this.grid.corner(k);
        return move[0] ? u === x && (v - y) * move[0] > 0 : v === y && (u - x) * move[1] > 0;
      });
      const far = (k) => this.grid.corner(k).reduce((sum, value, d) => sum + Math.abs(value - [x, y][d]), 0);
      this.pinned = ahead.length ? ahead.reduce((a, b) => (far(b) < far(a) ? b : a)) : this.chosen;
    }
    this.choose(this.pinned);
  }

  #legend() {
    const entries = this.scene.steps
      ? [["unborn", "not written yet"], ["dead", "not needed any more"], ["reading", "read"], ["writing", "written"]]
      : [];
    entries.push(["partner", "conflicts: needed at the same time"], ["shared", "has the same address"]);
    this.legend.replaceChildren();
    for (const [kind, words] of entries) {
      const item = html("li", {}, this.legend);
      const sample = svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, item);
      const box = { x: 2, y: 2, width: 12, height: 12, rx: 3, class: `cell ${kind}` };
      svg("rect", kind === "unborn" ? box : { ...box, fill: kind === "dead" ? addressColour(0) : "none" }, sample);
      item.append(words);
    }
  }

  // The browser goes through all pairs itself: it neither trusts the proof nor needs it.
  #counted() {
    const { scene, view } = this;
    const collisions = scene.collisions();
    let pairs = 0;
    for (let x = 0; x < scene.cells.length; x++) pairs += scene.partners(x).length;
    const sizes = Object.entries(view.params).map(([name, value]) => `${name} = ${value}`).join(", ");
    let text = sizes ? `At ${sizes}, counted out by this page: ` : "Counted out by this page: ";
    text += `${count(scene.cells.length, "cell", "cells")}, ${count(pairs / 2, "pair", "pairs")} of cells in conflict, `;
    text += collisions.length
      ? `${count(collisions.length, "pair", "pairs")} of them with one address. `
      : "none of them with one address. ";
    text += count(scene.allocated, "address", "addresses");
    if (scene.steps && view.isReal) {
      const where = this.bench.isSequential ? "at one moment" : "at one moment of the execution that is played";
      text += `; at most ${count(scene.most, "cell is", "cells are")} live ${where}`;
    }
    text += ".";
    let isBad = collisions.length > 0;
    if (scene.steps && view.isReal) {
      const lost = scene.wrong.length;
      text += lost
        ? ` ${count(lost, "read finds", "reads find")} the value of another cell in this execution.`
        : " In this execution every read finds the value it looks for.";
      isBad ||= lost > 0;
    }
    this.counted.textContent = text;
    this.counted.classList.toggle("bad", isBad);
  }

  #drawMemory() {
    const { scene, memory: node, moment } = this;
    const figure = node.parentElement;
    const isPlane = scene.moduli && scene.moduli.length === 2 && scene.moduli[1] <= 32;
    const columns = isPlane ? scene.moduli[1] : Math.min(scene.allocated, scene.allocated > 100 ? 20 : 10);
    const rows = Math.max(1, Math.ceil(scene.allocated / Math.max(columns, 1)));
    figure.hidden = !scene.steps || rows > 60 || columns === 0;
    if (figure.hidden) return;
    node.replaceChildren();
    const [width, height] = [columns > 16 ? 26 : 44, 30];
    node.setAttribute("viewBox", `0 0 ${columns * width + 12} ${rows * height + 12}`);
    node.setAttribute("width", columns * width + 12);
    const held = scene.memoryAt(moment);
    const [read, written] = scene.touched(moment).map((cells) => new Set(cells.map((k) => scene.places[k])));
    for (let place = 0; place < scene.allocated; place++) {
      const [x, y] = [6 + (place % columns) * width, 6 + Math.floor(place / columns) * height];
      const cell = held.get(place);
      const classes = ["cell"];
      const attributes = { x, y, width, height, rx: 3 };
      if (cell === undefined) classes.push("unborn");
      else attributes.fill = addressColour(place);
      if (cell !== undefined && !scene.isLive(cell, moment)) classes.push("dead");
      if (read.has(place)) classes.push("reading");
      if (written.has(place)) classes.push("writing");
      const rect = svg("rect", { ...attributes, class: classes.join(" ") }, node);
      const words = cell === undefined ? "empty" : `holds ${scene.label(cell)}`;
      svg("title", {}, rect, `address ${place}: ${words}`);
      if (cell !== undefined) {
        const label = scene.cells[cell].join(",");
        const size = Math.min(12, (1.7 * width) / Math.max(label.length, 1));
        const center = { x: x + width / 2, y: y + height / 2, class: "number", "font-size": size };
        svg("text", center, node, label);
      }
    }
    node.setAttribute("aria-label", `Memory of ${scene.allocated} addresses, ${held.size} of them in use`);
  }
}
