// All arrays over time, as a memory profiler shows them: live cells stacked, and a lane for each array.
class Timeline {
  constructor(box, bench) {
    this.bench = bench;
    const figure = html("figure", {}, box);
    this.node = svg("svg", { class: "picture", role: "slider", tabindex: 0, "aria-label": "Moment" }, figure);
    this.caption = html("figcaption", {}, figure);
    const move = (event) => {
      const { left, top, width, height } = this.node.getBoundingClientRect();
      const x = ((event.clientX - left) * this.width) / width;
      const y = ((event.clientY - top) * this.height) / height;
      const lane = Math.floor((y - this.laneTop) / LANE);
      if (event.type === "pointerdown" && lane in this.lanes) bench.select(this.lanes[lane]);
      bench.go(Math.round(((x - this.left) * this.steps) / (this.width - this.left - RIGHT) - 0.5));
    };
    this.node.addEventListener("pointerdown", (event) => {
      this.node.setPointerCapture(event.pointerId);
      move(event);
    });
    this.node.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) move(event);
    });
    this.node.addEventListener("keydown", (event) => {
      const leap = Math.max(1, Math.round(this.steps / 20));
      const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -leap, PageUp: leap };
      if (event.key === " ") bench.toggle();
      else if (event.key === "Home") bench.go(-1);
      else if (event.key === "End") bench.go(this.steps - 1);
      else if (event.key in moves) bench.go(bench.moment + moves[event.key]);
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => this.view && this.draw()).observe(figure);
  }

  show(view) {
    this.view = view;
    this.steps = view.steps.length;
    this.node.setAttribute("aria-valuemin", 0);
    this.node.setAttribute("aria-valuemax", this.steps);
    this.draw();
  }

  // Arrays that are counted: those that the tool folds, in bytes where all widths are known.
  #counted() {
    const { arrays } = this.bench;
    const shown = [...arrays.keys()].filter((k) => this.view.scenes[k]?.counts);
    const own = shown.filter((k) => !arrays[k].isGiven);
    const counted = own.length ? own : shown;
    const isBytes = counted.every((k) => arrays[k].width);
    return { counted, widths: arrays.map((about) => (isBytes ? about.width : 1)), unit: isBytes ? "bytes" : "cells" };
  }

  draw() {
    const { node, view, bench } = this;
    const { counted, widths, unit } = this.#counted();
    this.lanes = counted;
    this.width = Math.max(280, Math.floor(node.parentElement.clientWidth) - 2);
    this.left = this.width < 500 ? 62 : 104;
    this.laneTop = CHART + 26;
    this.height = this.laneTop + counted.length * LANE + 6;
    node.replaceChildren();
    node.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    node.setAttribute("width", this.width);
    node.setAttribute("height", this.height);
    const sum = (values) => values.reduce((all, value) => all + value, 0);
    const after = sum(counted.map((k) => view.scenes[k].allocated * widths[k]));
    const before = sum(counted.map((k) => view.scenes[k].was * widths[k]));
    const totals = [...Array(this.steps + 1).keys()].map((t) => sum(counted.map((k) => view.scenes[k].counts[t] * widths[k])));
    const peak = Math.max(...totals);
    const tall = Math.max(after, peak, 1);
    const top = before <= 3 * tall ? Math.max(before, tall) * 1.04 : tall * 1.25;
    const y = (value) => 10 + (CHART - 10) * (1 - value / top);
    let floor = new Array(this.steps + 1).fill(0);
    for (const k of counted) {
      const ceiling = floor.map((value, t) => value + view.scenes[k].counts[t] * widths[k]);
      const path = `${this.#stairs(ceiling, y)}${this.#stairs(floor, y, true)}Z`;
      svg("path", { d: path, class: "area", fill: arrayColour(k) }, node);
      floor = ceiling;
    }
    const right = this.width - RIGHT;
    svg("path", { d: `M${this.left} ${y(0)}H${right}`, class: "rule" }, node);
    this.#limit(y(after), `after ${after.toLocaleString("en")}`, "limit after");
    if (before !== after) {
      const isOutside = before > top;
      const text = `before ${before.toLocaleString("en")}${isOutside ? " (above)" : ""}`;
      this.#limit(isOutside ? 10 : y(before), text, "limit before");
    }
    counted.forEach((k, lane) => this.#lane(k, this.laneTop + lane * LANE));
    this.cursor = svg("path", { class: "cursor" }, node);
    const what = unit === "bytes" ? "Bytes" : "Cells";
    this.caption.textContent =
      `${what} that are live at each moment: at most ${peak.toLocaleString("en")}. ` +
      `Memory before the fold: ${before.toLocaleString("en")}; after it: ${after.toLocaleString("en")}. Click a moment.`;
    this.go(bench.moment);
  }

  x(moment) {
    return this.left + ((moment + 1) * (this.width - this.left - RIGHT)) / (this.steps + 1);
  }

  // A line of steps; backwards to close an area.
  #stairs(values, y, isBack = false) {
    const corners = values.map((value, t) => [this.x(t - 1), this.x(t), y(value)]);
    if (isBack) return corners.reverse().map(([from, to, height]) => `L${to} ${height}L${from} ${height}`).join("");
    return corners.map(([from, to, height], t) => `${t ? "L" : "M"}${from} ${height}L${to} ${height}`).join("");
  }

  #limit(y, text, kind) {
    svg("path", { d: `M${this.left} ${y}H${this.width - RIGHT}`, class: kind }, this.node);
    const [word, number] = text.split(" ", 2);
    const label = this.left < 100 ? `${word}` : `${word} ${number}`;
    svg("text", { x: this.left - 6, y: y + 4, class: "lane-name", "font-size": 11 }, this.node, label);
    svg("title", {}, this.node.lastChild, text);
  }

  #lane(k, top) {
    const { bench, node, view } = this;
    const scene = view.scenes[k];
    const about = bench.arrays[k];
    const isSelected = bench.selected === k;
    const back = { x: 0, y: top, width: this.width, height: LANE, class: isSelected ? "lane selected" : "lane" };
    svg("rect", { ...back, "data-lane": k }, node);
    const short = this.left < 100 ? 8 : 15;
    const name = about.title.length > short ? `${about.title.slice(0, short - 1)}…` : about.title;
    svg("text", { x: this.left - 6, y: top + LANE / 2 + 4, class: "lane-name", "font-size": 11 }, node, name);
    svg("title", {}, node.lastChild, about.title);
    const y = (value) => top + LANE - 3 - ((LANE - 6) * value) / Math.max(scene.most, 1);
    const zero = new Array(this.steps + 1).fill(0);
    const path = `${this.#stairs(scene.counts, y)}${this.#stairs(zero, y, true)}Z`;
    svg("path", { d: path, class: "area", fill: arrayColour(k) }, node);
  }

  go(moment) {
    if (!this.cursor) return;
    const x = (this.x(moment) + this.x(moment - 1)) / 2;
    this.cursor.setAttribute("d", `M${x} 4V${this.height - 4}`);
    this.node.setAttribute("aria-valuenow", moment + 1);
    this.node.setAttribute("aria-valuetext", `step ${moment + 1} of ${this.steps}`);
  }
}

const CHART = 120;
const LANE = 22;
const RIGHT = 10;
