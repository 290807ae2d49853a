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
    if (this.shown && same(this.shown, slice)) return;
    this.shown = [...slice];
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
        const whole = this.scene.addresses[k].join(",") || "0";
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
