// Differences of conflicting cells, and the lattice of the mapping.
class Differences {
  constructor(box, about) {
    this.box = box;
    this.about = about;
    this.controls = html("div", { class: "controls" }, this.box);
    const figure = html("figure", {}, this.box);
    this.node = svg("svg", { class: "picture", role: "img" }, figure);
    this.caption = html("figcaption", {}, figure);
  }

  show(scene) {
    this.scene = scene;
    const { dimensions } = this.about;
    this.outer = Math.max(scene.rank - 2, 0);
    const zero = dimensions.map(() => 0);
    const values = valuesOf([zero, ...scene.differences], this.outer);
    this.slice = values.map(() => 0);
    this.sliders = sliceControls(this.controls, dimensions, values, (d, value) => {
      this.slice[d] = value;
      this.draw();
    });
    this.draw();
  }

  draw() {
    const { scene, node } = this;
    const { dimensions, reuse } = this.about;
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
    // Arrows are below dots, so that they cover none.
    this.arrows = svg("g", {}, node);
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
    svg("path", { d: `M${u} ${v}L${p - a * 9} ${q - b * 9}`, class: line }, this.arrows);
    const base = [p - a * 10, q - b * 10];
    const corners = [[p, q], [base[0] - b * 5, base[1] + a * 5], [base[0] + b * 5, base[1] - a * 5]];
    svg("path", { d: `M${corners.map((corner) => corner.join(" ")).join("L")}Z`, class: head }, this.arrows);
  }
}
