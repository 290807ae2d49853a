"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const data = JSON.parse(document.getElementById("arrayfold-data").textContent);

  // ---------------------------------------------------------------- small things

  function svg(tag, attributes, parent, text) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  }

  function html(tag, attributes, parent, text) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  }

  const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
  const limited = (items, most) =>
    items.length <= most ? items.join(", ") : `${items.slice(0, most).join(", ")} and ${items.length - most} more`;
  const same = (a, b) => a.length === b.length && a.every((value, k) => value === b[k]);
  const modulo = (a, b) => ((a % b) + b) % b;

  function colour(index) {
    const hue = (index * 137.508) % 360;
    return `hsl(${hue.toFixed(1)} 65% ${62 + 10 * (index % 3)}%)`;
  }

  // ---------------------------------------------------------------- what a scene says

  class Scene {
    constructor(raw, subject) {
      Object.assign(this, raw);
      this.name = subject.array;
      this.rank = subject.dimensions.length;
      const bytes = Uint8Array.from(atob(raw.conflicts), (character) => character.charCodeAt(0));
      this.bits = bytes;
      this.rowBytes = Math.ceil(this.cells.length / 8);
      this.index = new Map(this.cells.map((cell, k) => [cell.join(), k]));
      this.places = this.#places();
      this.allocated = this.size ?? new Set(this.places).size;
      this.byPlace = new Map();
      this.places.forEach((place, k) => {
        if (!this.byPlace.has(place)) this.byPlace.set(place, []);
        this.byPlace.get(place).push(k);
      });
      if (this.steps) this.#live();
    }

    // Addresses counted from zero, the last coordinate fastest.
    #places() {
      if (this.moduli) {
        return this.addresses.map((address) => address.reduce((sum, value, k) => sum * this.moduli[k] + value, 0));
      }
      if (this.size !== null && this.addresses.every((address) => address.length === 1)) {
        return this.addresses.map((address) => address[0]);
      }
      const known = [...new Set(this.addresses.map(String))].sort();
      return this.addresses.map((address) => known.indexOf(String(address)));
    }

    conflict(x, y) {
      return (this.bits[x * this.rowBytes + (y >> 3)] >> (y & 7)) & 1;
    }

    partners(x) {
      return [...this.cells.keys()].filter((y) => this.conflict(x, y));
    }

    sharing(x) {
      return this.byPlace.get(this.places[x]).filter((y) => y !== x);
    }

    label(k) {
      return `${this.name}[${this.cells[k].join(", ")}]`;
    }

    // Whether cells so far apart have one address.
    isShared(difference) {
      if (!this.moduli) return false;
      return this.matrix.every((row, k) => {
        const apart = row.reduce((sum, entry, d) => sum + entry * difference[d], 0);
        return modulo(apart, this.moduli[k] * this.divisors[k]) === 0;
      });
    }

    collisions() {
      const found = [];
      for (let x = 0; x < this.cells.length; x++) {
        for (const y of this.sharing(x)) if (x < y && this.conflict(x, y)) found.push([x, y]);
      }
      return found;
    }

    // From when to when each cell holds values, live cells after each step, and reads that find another's value.
    #live() {
      const end = this.steps.length;
      this.lifetimes = new Map();
      for (const [k, first, last] of this.values) {
        if (!this.lifetimes.has(k)) this.lifetimes.set(k, []);
        this.lifetimes.get(k).push([first, last]);
      }
      const memory = new Map(this.liveIn.map((k) => [this.places[k], k]));
      this.wrong = [];
      this.steps.forEach(([, reads, writes], step) => {
        for (const k of reads) {
          const found = memory.get(this.places[k]);
          if (found !== k && this.isBorn(k, step - 1)) this.wrong.push({ step, cell: k, found });
        }
        for (const k of writes) memory.set(this.places[k], k);
      });
      for (const k of this.liveOut) {
        const found = memory.get(this.places[k]);
        if (found !== k && this.lifetimes.has(k)) this.wrong.push({ step: end - 1, cell: k, found });
      }
      this.counts = [...this.steps.keys()].map((step) => this.liveAt(step).length);
      this.most = Math.max(this.liveAt(-1).length, ...this.counts, 0);
    }

    isBorn(k, step) {
      return this.lifetimes.has(k) && this.lifetimes.get(k)[0][0] <= step;
    }

    isLive(k, step) {
      if (step >= 0 && this.steps[step][2].includes(k)) return true;
      return (this.lifetimes.get(k) ?? []).some(([first, last]) => first <= step && step < (last ?? -1));
    }

    liveAt(step) {
      return [...this.cells.keys()].filter((k) => this.isLive(k, step));
    }

    memoryAt(step) {
      const memory = new Map(this.liveIn.map((k) => [this.places[k], k]));
      for (let s = 0; s <= step; s++) for (const k of this.steps[s][2]) memory.set(this.places[k], k);
      return memory;
    }
  }

  // ---------------------------------------------------------------- grids of cells

  // A grid shows the last two dimensions; the ones before them are fixed to a slice.
  class Grid {
    constructor(scene, dimensions, node) {
      this.scene = scene;
      this.dimensions = dimensions;
      this.node = node;
      this.rank = scene.rank;
      const range = (d) => {
        const values = scene.cells.map((cell) => cell[d]);
        return [Math.min(...values), Math.max(...values)];
      };
      this.down = this.rank > 1 ? range(this.rank - 2) : [0, 0];
      this.across = this.rank > 0 ? range(this.rank - 1) : [0, 0];
      const rows = this.down[1] - this.down[0] + 1;
      const columns = this.across[1] - this.across[0] + 1;
      this.side = Math.max(12, Math.min(36, Math.floor(560 / columns), Math.floor(460 / rows)));
      this.left = this.rank > 1 ? 46 : 12;
      this.top = 38;
      this.width = this.left + columns * this.side + 12;
      this.height = this.top + rows * this.side + 10;
    }

    draw(slice) {
      const { node, side } = this;
      node.replaceChildren();
      node.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
      node.setAttribute("width", this.width);
      this.rects = new Map();
      this.#axes();
      this.scene.cells.forEach((cell, k) => {
        if (!same(cell.slice(0, Math.max(this.rank - 2, 0)), slice)) return;
        const [x, y] = this.corner(k);
        const rect = svg("rect", { x, y, width: side, height: side, rx: 3, class: "cell", "data-cell": k }, node);
        this.rects.set(k, rect);
        if (side >= 20) {
          const whole = this.scene.addresses[k].join(",");
          const label = whole.length <= 5 ? whole : String(this.scene.places[k]);
          const size = Math.min(13, side * 0.42, (1.6 * side) / label.length);
          const middle = { x: x + side / 2, y: y + side / 2, class: "number", "font-size": size };
          svg("text", middle, node, label);
        }
      });
    }

    corner(k) {
      const cell = this.scene.cells[k];
      const column = this.rank > 0 ? cell[this.rank - 1] - this.across[0] : 0;
      const row = this.rank > 1 ? cell[this.rank - 2] - this.down[0] : 0;
      return [this.left + column * this.side, this.top + row * this.side];
    }

    #axes() {
      const { node, side } = this;
      const every = Math.max(1, Math.ceil(18 / side));
      if (this.rank > 0) {
        svg("text", { x: this.left + 4, y: 10, class: "axis", "font-size": 13 }, node, this.dimensions[this.rank - 1]);
        for (let value = this.across[0]; value <= this.across[1]; value += every) {
          const x = this.left + (value - this.across[0] + 0.5) * side;
          svg("text", { x, y: 28, class: "axis", "font-size": 11 }, node, value);
        }
      }
      if (this.rank > 1) {
        svg("text", { x: 10, y: this.top + 10, class: "axis", "font-size": 13 }, node, this.dimensions[this.rank - 2]);
        for (let value = this.down[0]; value <= this.down[1]; value += every) {
          const y = this.top + (value - this.down[0] + 0.5) * side;
          svg("text", { x: 32, y, class: "axis", "font-size": 11 }, node, value);
        }
      }
    }
  }

  // ---------------------------------------------------------------- pictures of one array

  class Subject {
    constructor(section, raw) {
      this.raw = raw;
      this.section = section;
      this.scenes = raw.scenes.map((scene) => new Scene(scene, raw));
      this.current = raw.start;
      this.views = [new Space(this), new Differences(this), new Sweep(this)];
      this.#sliders();
      this.show();
    }

    get scene() {
      return this.scenes[this.current];
    }

    part(name) {
      return this.section.querySelector(`.${name}`);
    }

    #sliders() {
      const controls = this.part("sizes");
      this.inputs = this.raw.sliders.map(({ name, values }) => {
        const label = html("label", {}, controls, `${name} = `);
        const output = html("span", { class: "value" }, label);
        const start = values.indexOf(this.scene.params[name]);
        const input = html("input", { type: "range", min: 0, max: values.length - 1, value: start }, label);
        input.setAttribute("data-parameter", name);
        input.addEventListener("input", () => this.#choose(name, values[input.value]));
        return { name, values, input, output };
      });
      if (!this.inputs.length) controls.remove();
    }

    // The scene with this value whose other sizes are closest to the present ones.
    #choose(name, value) {
      const now = this.scene.params;
      const distance = (scene) =>
        Object.entries(scene.params).reduce((sum, [key, size]) => sum + Math.abs(size - now[key]), 0);
      let best = null;
      this.scenes.forEach((scene, k) => {
        if (scene.params[name] !== value) return;
        if (best === null || distance(scene) < distance(this.scenes[best])) best = k;
      });
      if (best !== null) this.current = best;
      this.show();
    }

    show() {
      for (const { name, values, input, output } of this.inputs) {
        const value = this.scene.params[name];
        input.value = values.indexOf(value);
        input.setAttribute("aria-valuetext", `${name} = ${value}`);
        output.textContent = value;
      }
      for (const view of this.views) view.show(this.scene);
      this.#counted();
    }

    // The browser goes through all pairs itself: it neither trusts the proof nor needs it.
    #counted() {
      const { scene } = this;
      const collisions = scene.collisions();
      let pairs = 0;
      for (let x = 0; x < scene.cells.length; x++) pairs += scene.partners(x).length;
      const sizes = Object.entries(scene.params).map(([name, value]) => `${name} = ${value}`).join(", ");
      const place = sizes ? `At ${sizes}, counted out by this page` : "Counted out by this page";
      let text = `${place}: ${count(scene.cells.length, "cell", "cells")}, `;
      text += `${count(pairs / 2, "pair", "pairs")} of cells in conflict, `;
      text += collisions.length
        ? `${count(collisions.length, "pair", "pairs")} of them with one address. `
        : "none of them with one address. ";
      text += `${count(scene.allocated, "address", "addresses")}`;
      if (scene.steps && scene.isReal) {
        const where = this.raw.isSequential ? "at one moment" : "at one moment of the execution below";
        text += `; at most ${count(scene.most, "cell is", "cells are")} live ${where}`;
      }
      const line = this.part("counted");
      line.textContent = `${text}.`;
      line.classList.toggle("bad", collisions.length > 0);
    }
  }

  // Controls that choose the values of all dimensions but the last two.
  function sliceControls(parent, scene, dimensions, values, change) {
    parent.replaceChildren();
    const outer = dimensions.slice(0, Math.max(dimensions.length - 2, 0));
    return outer.map((name, d) => {
      const label = html("label", {}, parent, `slice ${name} = `);
      const output = html("span", { class: "value" }, label);
      const options = values[d];
      const input = html("input", { type: "range", min: 0, max: options.length - 1, "data-slice": name }, label);
      input.addEventListener("input", () => change(d, options[input.value]));
      return {
        set(value) {
          input.value = options.indexOf(value);
          input.setAttribute("aria-valuetext", `${name} = ${value}`);
          output.textContent = value;
        },
      };
    });
  }

  function valuesOf(vectors, outer) {
    return [...Array(outer).keys()].map((d) => [...new Set(vectors.map((v) => v[d]))].sort((a, b) => a - b));
  }

  // ---------------------------------------------------------------- who conflicts with whom

  class Space {
    constructor(subject) {
      this.subject = subject;
      this.box = subject.part("space");
      this.controls = html("div", { class: "controls" }, this.box);
      const figure = html("figure", {}, this.box);
      const label = `Cells of ${subject.raw.array}. Arrow keys move from cell to cell, Escape leaves.`;
      this.node = svg("svg", { class: "picture", tabindex: 0, role: "application", "aria-label": label }, figure);
      html("figcaption", {}, figure, "Each square is a cell; its number and colour are its address.");
      this.readout = html("p", { class: "readout", "aria-live": "polite" }, this.box);
      this.pinned = null;
      const target = (event) => event.target.getAttribute?.("data-cell");
      this.node.addEventListener("pointerover", (event) => {
        const cell = target(event);
        if (cell !== null && cell !== undefined) this.choose(Number(cell));
      });
      this.node.addEventListener("pointerleave", () => this.choose(this.pinned));
      this.node.addEventListener("click", (event) => {
        const cell = target(event);
        this.pinned = cell === null || cell === undefined || Number(cell) === this.pinned ? null : Number(cell);
        this.choose(this.pinned);
      });
      this.node.addEventListener("keydown", (event) => this.#key(event));
    }

    show(scene) {
      this.scene = scene;
      this.pinned = null;
      const { dimensions } = this.subject.raw;
      this.outer = Math.max(scene.rank - 2, 0);
      const values = valuesOf(scene.cells, this.outer);
      this.slice = values.map((options) => options[0]);
      this.sliders = sliceControls(this.controls, scene, dimensions, values, (d, value) => {
        this.slice[d] = value;
        this.draw();
      });
      this.grid = new Grid(scene, dimensions, this.node);
      this.draw();
    }

    draw() {
      this.grid.draw(this.slice);
      this.sliders.forEach((slider, d) => slider.set(this.slice[d]));
      for (const [k, rect] of this.grid.rects) rect.setAttribute("fill", colour(this.scene.places[k]));
      this.choose(this.pinned);
    }

    choose(chosen) {
      const { scene } = this;
      this.chosen = chosen;
      const sharing = new Set(chosen === null ? [] : scene.sharing(chosen));
      for (const [k, rect] of this.grid.rects) {
        const classes = ["cell"];
        if (chosen !== null) {
          if (k === chosen) classes.push("chosen");
          else if (scene.conflict(chosen, k)) classes.push("partner");
          else if (sharing.has(k)) classes.push("shared");
          else classes.push("faded");
          if (sharing.has(k) && scene.conflict(chosen, k)) classes.push("wrong");
        }
        rect.setAttribute("class", classes.join(" "));
      }
      this.readout.textContent = chosen === null ? "Point at a cell, or move with the arrow keys." : this.#words(chosen);
    }

    #words(k) {
      const { scene } = this;
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
          const start = first < 0 ? "from before the program" : `from step ${first + 1}, ${scene.steps[first][0]},`;
          if (last === null) return `${start} and is never read`;
          return `${start} to ${last >= scene.steps.length ? "the end" : `step ${last + 1}, ${scene.steps[last][0]}`}`;
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
      if (!move) return;
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
  }

  // ---------------------------------------------------------------- differences and the lattice

  class Differences {
    constructor(subject) {
      this.subject = subject;
      this.box = subject.part("differences");
      this.controls = html("div", { class: "controls" }, this.box);
      const figure = html("figure", {}, this.box);
      this.node = svg("svg", { class: "picture", role: "img" }, figure);
      this.caption = html("figcaption", {}, figure);
    }

    show(scene) {
      this.scene = scene;
      const { dimensions } = this.subject.raw;
      this.outer = Math.max(scene.rank - 2, 0);
      const zero = dimensions.map(() => 0);
      const values = valuesOf([zero, ...scene.differences], this.outer);
      this.slice = values.map(() => 0);
      this.sliders = sliceControls(this.controls, scene, dimensions, values, (d, value) => {
        this.slice[d] = value;
        this.draw();
      });
      this.draw();
    }

    draw() {
      const { scene, node } = this;
      const { dimensions, reuse } = this.subject.raw;
      const { rank } = scene;
      this.sliders.forEach((slider, d) => slider.set(this.slice[d]));
      const reach = (d) => Math.max(0, ...scene.differences.map((v) => Math.abs(v[d]))) + 2;
      const down = rank > 1 ? reach(rank - 2) : 0;
      const across = rank > 0 ? reach(rank - 1) : 0;
      const step = Math.max(11, Math.min(30, Math.floor(560 / (2 * across + 1)), Math.floor(460 / (2 * down + 1))));
      const width = 40 + (2 * across + 1) * step;
      const height = 40 + (2 * down + 1) * step;
      const at = (y, x) => [30 + (x + across + 0.5) * step, 30 + (y + down + 0.5) * step];
      node.replaceChildren();
      node.setAttribute("viewBox", `0 0 ${width} ${height}`);
      node.setAttribute("width", width);
      const found = new Set(scene.differences.map(String));
      const lattice = [];
      let both = 0;
      let shown = 0;
      for (let y = -down; y <= down; y++) {
        for (let x = -across; x <= across; x++) {
          const vector = [...this.slice, ...(rank > 1 ? [y, x] : rank > 0 ? [x] : [])];
          const [u, v] = at(y, x);
          if (vector.every((entry) => entry === 0)) {
            svg("path", { d: `M${u - 6} ${v}h12M${u} ${v - 6}v12`, class: "zero" }, node);
            continue;
          }
          const isConflict = found.has(String(vector));
          const isShared = scene.isShared(vector);
          shown += isConflict;
          both += isConflict && isShared;
          if (isShared) lattice.push([y, x]);
          const kind = isConflict ? "conflict" : "dot";
          const dot = svg("circle", { cx: u, cy: v, r: isConflict ? step * 0.24 : 1.8, class: kind }, node);
          if (isShared) {
            const ring = { cx: u, cy: v, r: step * 0.38, class: isConflict ? "both" : "same" };
            svg("circle", ring, node);
          }
          const words = [isConflict && "conflict", isShared && "one address"].filter(Boolean).join(" and ");
          svg("title", {}, dot, `(${vector.join(", ")}): ${words || "no conflict, two addresses"}`);
        }
      }
      const names = dimensions.slice(-2);
      svg("text", { x: width / 2, y: 14, class: "axis", "font-size": 12 }, node, `difference in ${names.at(-1) ?? ""}`);
      if (rank > 1) {
        const turn = `rotate(-90 12 ${height / 2})`;
        const attributes = { x: 12, y: height / 2, class: "axis", "font-size": 12, transform: turn };
        svg("text", attributes, node, `difference in ${names[0]}`);
      }
      if (this.slice.every((value) => value === 0)) {
        for (const vector of this.#shortest(lattice)) this.#arrow(at, vector, "arrow", "arrowhead");
        const inner = reuse && reuse.slice(this.outer);
        if (reuse && reuse.slice(0, this.outer).every((entry) => entry === 0) && rank > 0) {
          const [y, x] = rank > 1 ? inner : [0, inner[0]];
          if (Math.abs(y) <= down && Math.abs(x) <= across) this.#arrow(at, [y, x], "reuse", "reusehead");
        }
      }
      let text = `${count(shown, "difference", "differences")} of conflicting cells in this picture. `;
      if (!scene.moduli) text += "The addresses come from a table, so there is no lattice to draw.";
      else if (both) text += `${both} of them are between cells of one address: the mapping is wrong.`;
      else text += "None of them is between cells of one address: the rings avoid the dots.";
      if (reuse && scene.cells.length > 1) text += ` Cells (${reuse.join(", ")}) apart may share an address at every size.`;
      this.caption.textContent = text;
      node.setAttribute("aria-label", text);
    }

    // The shortest vectors of the lattice, two at most and not parallel.
    #shortest(lattice) {
      const ahead = lattice.filter(([y, x]) => y > 0 || (y === 0 && x > 0));
      ahead.sort((a, b) => a[0] ** 2 + a[1] ** 2 - b[0] ** 2 - b[1] ** 2);
      if (!ahead.length) return [];
      const [first] = ahead;
      const second = ahead.find(([y, x]) => y * first[1] !== x * first[0]);
      return second ? [first, second] : [first];
    }

    #arrow(at, [y, x], line, head) {
      const [u, v] = at(0, 0);
      const [p, q] = at(y, x);
      const length = Math.hypot(p - u, q - v) || 1;
      const [a, b] = [(p - u) / length, (q - v) / length];
      svg("path", { d: `M${u} ${v}L${p - a * 9} ${q - b * 9}`, class: line }, this.node);
      const base = [p - a * 10, q - b * 10];
      const corners = [[p, q], [base[0] - b * 5, base[1] + a * 5], [base[0] + b * 5, base[1] - a * 5]];
      svg("path", { d: `M${corners.map((corner) => corner.join(" ")).join("L")}Z`, class: head }, this.node);
    }
  }

  // ---------------------------------------------------------------- the sweep

  class Sweep {
    constructor(subject) {
      this.subject = subject;
      this.box = subject.part("sweep");
      this.timer = null;
      if (!this.box || !subject.raw.scenes.some((scene) => scene.steps)) return;
      this.controls = html("div", { class: "controls" }, this.box);
      const button = (text, label, action) => {
        const node = html("button", { type: "button", "aria-label": label, title: label }, this.controls, text);
        node.addEventListener("click", action);
        return node;
      };
      button("|◀", "To the start", () => this.go(-1));
      button("◀", "One step back", () => this.go(this.step - 1));
      this.playButton = button("▶ Play", "Play", () => this.toggle());
      button("▶", "One step forward", () => this.go(this.step + 1));
      button("▶|", "To the end", () => this.go(this.scene.steps.length - 1));
      const label = html("label", {}, this.controls, "step ");
      this.range = html("input", { type: "range", min: -1, step: 1 }, label);
      this.range.addEventListener("input", () => this.go(Number(this.range.value)));
      this.jump = button("Go to the first wrong read", "Go to the first wrong read", () =>
        this.go(this.scene.wrong[0].step),
      );
      this.readout = html("p", { class: "readout", "aria-live": "off" }, this.box);
      const pictures = html("div", { class: "pictures" }, this.box);
      const figure = (caption) => {
        const outside = html("figure", {}, pictures);
        const node = svg("svg", { class: "picture", role: "img" }, outside);
        html("figcaption", {}, outside, caption);
        return node;
      };
      this.cells = figure("The array: grey cells are still to be written, pale ones are done with.");
      this.memory = figure("The memory: every address with the cell whose value it holds.");
      this.chart = figure("Live cells after each step, below the line of allocated cells.");
      this.verdict = html("p", {}, this.box);
    }

    show(scene) {
      this.stop();
      if (!this.controls || !scene.steps) return;
      this.scene = scene;
      this.grid = new Grid(scene, this.subject.raw.dimensions, this.cells);
      this.range.max = scene.steps.length - 1;
      const isWrong = scene.wrong.length > 0;
      this.jump.hidden = !isWrong;
      this.verdict.className = isWrong ? "bad" : "good";
      this.verdict.textContent = isWrong
        ? `${count(scene.wrong.length, "read finds", "reads find")} the value of another cell in this execution.`
        : "In this execution every read finds the value it looks for.";
      if (!scene.isReal) {
        this.verdict.className = "soft";
        this.verdict.textContent = "Some of these instances never run in the same execution; all are shown.";
      }
      this.#drawChart();
      this.go(-1);
    }

    toggle() {
      if (this.timer !== null) this.stop();
      else {
        if (this.step >= this.scene.steps.length - 1) this.go(-1);
        const pause = Math.max(60, Math.min(600, 12000 / this.scene.steps.length));
        this.timer = setInterval(() => {
          if (this.step >= this.scene.steps.length - 1) this.stop();
          else this.go(this.step + 1, true);
        }, pause);
        this.playButton.textContent = "⏸ Pause";
        this.playButton.setAttribute("aria-label", "Pause");
        this.readout.setAttribute("aria-live", "off");
      }
    }

    stop() {
      if (this.timer !== null) clearInterval(this.timer);
      this.timer = null;
      if (this.playButton) {
        this.playButton.textContent = "▶ Play";
        this.playButton.setAttribute("aria-label", "Play");
        this.readout.setAttribute("aria-live", "polite");
      }
    }

    go(step, isPlaying = false) {
      if (!isPlaying) this.stop();
      const { scene } = this;
      this.step = Math.max(-1, Math.min(step, scene.steps.length - 1));
      this.range.value = this.step;
      const [instance, reads, writes] = this.step < 0 ? ["", [], []] : scene.steps[this.step];
      this.#drawCells(reads, writes);
      this.#drawMemory(reads, writes);
      const x = this.chartX(this.step + 1);
      this.cursor.setAttribute("d", `M${x} 10V130`);
      const live = scene.liveAt(this.step).length;
      let text = "Before the first step";
      if (this.step >= 0) {
        const parts = [];
        const labels = (cells) => limited(cells.map((k) => scene.label(k)), 6);
        if (reads.length) parts.push(`reads ${labels(reads)}`);
        if (writes.length) parts.push(`writes ${labels(writes)}`);
        text = `Step ${this.step + 1} of ${scene.steps.length}: ${instance} ${parts.join(" and ")}`;
        const line = data.statements[instance.split("[")[0]];
        if (line) text += ` (${line})`;
      }
      text += `. ${count(live, "cell is", "cells are")} live, ${count(scene.allocated, "is", "are")} allocated.`;
      for (const { cell, found } of scene.wrong.filter((one) => one.step === this.step)) {
        const instead = found === undefined ? "nothing" : `the value of ${scene.label(found)}`;
        text += ` ${scene.label(cell)} is needed, but its address holds ${instead}.`;
      }
      this.readout.textContent = text;
      this.readout.classList.toggle("bad", scene.wrong.some((one) => one.step === this.step));
      this.range.setAttribute("aria-valuetext", text);
    }

    #drawCells(reads, writes) {
      const { scene, grid } = this;
      const outer = Math.max(scene.rank - 2, 0);
      const moving = writes[0] ?? reads[0] ?? 0;
      const slice = scene.cells[moving].slice(0, outer);
      grid.draw(slice);
      const wrong = new Set(scene.wrong.filter((one) => one.step === this.step).map((one) => one.cell));
      for (const [k, rect] of grid.rects) {
        const isBorn = scene.isBorn(k, this.step);
        const classes = ["cell"];
        if (isBorn) rect.setAttribute("fill", colour(scene.places[k]));
        else classes.push("unborn");
        if (isBorn && !scene.isLive(k, this.step)) classes.push("dead");
        if (reads.includes(k)) classes.push("reading");
        if (writes.includes(k)) classes.push("writing");
        if (wrong.has(k)) classes.push("wrong");
        rect.setAttribute("class", classes.join(" "));
      }
      const where = outer ? `, slice ${slice.join(", ")}` : "";
      this.cells.setAttribute("aria-label", `Cells of ${scene.name} after step ${this.step + 1}${where}`);
    }

    #drawMemory(reads, writes) {
      const { scene, memory: node } = this;
      node.replaceChildren();
      const isPlane = scene.moduli && scene.moduli.length === 2 && scene.moduli[1] <= 32;
      const columns = isPlane ? scene.moduli[1] : Math.min(scene.allocated, scene.allocated > 100 ? 20 : 10);
      const rows = Math.max(1, Math.ceil(scene.allocated / Math.max(columns, 1)));
      if (rows > 60) {
        node.parentElement.hidden = true;
        return;
      }
      node.parentElement.hidden = false;
      const [width, height] = [columns > 16 ? 26 : 44, 30];
      node.setAttribute("viewBox", `0 0 ${columns * width + 12} ${rows * height + 12}`);
      node.setAttribute("width", columns * width + 12);
      const held = scene.memoryAt(this.step);
      const touched = (cells) => new Set(cells.map((k) => scene.places[k]));
      const [read, written] = [touched(reads), touched(writes)];
      for (let place = 0; place < scene.allocated; place++) {
        const [x, y] = [6 + (place % columns) * width, 6 + Math.floor(place / columns) * height];
        const cell = held.get(place);
        const classes = ["cell"];
        const attributes = { x, y, width, height, rx: 3 };
        if (cell === undefined) classes.push("unborn");
        else attributes.fill = colour(place);
        if (cell !== undefined && !scene.isLive(cell, this.step)) classes.push("dead");
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

    chartX(step) {
      return 34 + (step * 560) / Math.max(this.scene.steps.length, 1);
    }

    #drawChart() {
      const { scene, chart: node } = this;
      node.replaceChildren();
      node.setAttribute("viewBox", "0 0 620 160");
      node.setAttribute("width", 620);
      const top = Math.max(scene.allocated, scene.most, 1);
      const y = (value) => 130 - (value * 112) / top;
      let path = `M${this.chartX(0)} 130`;
      [scene.liveAt(-1).length, ...scene.counts].forEach((value, k) => {
        path += `V${y(value)}H${this.chartX(Math.min(k + 1, scene.steps.length))}`;
      });
      svg("path", { d: `${path}V130Z`, class: "area" }, node);
      svg("path", { d: `M34 ${y(scene.allocated)}H594`, class: "limit" }, node);
      svg("text", { x: 18, y: y(scene.allocated), class: "axis", "font-size": 11 }, node, scene.allocated);
      svg("text", { x: 18, y: 130, class: "axis", "font-size": 11 }, node, 0);
      svg("text", { x: 314, y: 148, class: "axis", "font-size": 11 }, node, `step 1 to ${scene.steps.length}`);
      this.cursor = svg("path", { class: "cursor" }, node);
      const text = `At most ${scene.most} live cells; ${scene.allocated} allocated.`;
      node.setAttribute("aria-label", text);
    }
  }

  // ---------------------------------------------------------------- a counterexample, played out

  class Story {
    constructor(box) {
      this.items = [...box.querySelectorAll("ol.story li")];
      this.picture = svg("svg", { class: "picture", role: "img", viewBox: "0 0 620 120", width: 620 });
      const controls = html("div", { class: "controls" });
      const add = (text, action) => {
        const node = html("button", { type: "button" }, controls, text);
        node.addEventListener("click", action);
      };
      add("Previous", () => this.go(this.at - 1));
      add("Next", () => this.go(this.at + 1));
      box.querySelector("ol.story").after(controls, this.picture);
      this.go(0);
    }

    go(at) {
      this.at = Math.max(0, Math.min(at, this.items.length - 1));
      this.items.forEach((item, k) => {
        if (k === this.at) item.setAttribute("aria-current", "step");
        else item.removeAttribute("aria-current");
      });
      const { address, holds, does } = this.items[this.at].dataset;
      const { picture: node } = this;
      node.replaceChildren();
      const isRead = does.startsWith("read");
      const isWrong = does.endsWith("wrong");
      svg("text", { x: 310, y: 20, class: "axis", "font-size": 13 }, node, `address ${address}`);
      const classes = ["cell", isWrong ? "wrong" : isRead ? "reading" : "writing"].join(" ");
      const fill = colour(holds === this.items[0].dataset.holds ? 1 : 4);
      svg("rect", { x: 210, y: 36, width: 200, height: 48, rx: 6, fill, class: classes }, node);
      svg("text", { x: 310, y: 60, class: "number", "font-size": 15 }, node, holds);
      const words = isRead ? (isWrong ? "read finds another's value" : "read") : "write";
      svg("text", { x: 310, y: 104, class: "axis", "font-size": 13 }, node, words);
      node.setAttribute("aria-label", `Address ${address} holds the value of ${holds}`);
    }
  }

  for (const section of document.querySelectorAll("[data-subject]")) {
    const raw = data.subjects[Number(section.getAttribute("data-subject"))];
    if (raw.scenes.length) new Subject(section, raw);
  }
  for (const box of document.querySelectorAll(".counterexample")) if (box.querySelector("ol.story")) new Story(box);
  document.documentElement.setAttribute("data-ready", "true");
})();
