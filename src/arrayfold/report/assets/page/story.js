// A counterexample, played out.
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
    const fill = addressColour(holds === this.items[0].dataset.holds ? 1 : 4);
    svg("rect", { x: 210, y: 36, width: 200, height: 48, rx: 6, fill, class: classes }, node);
    svg("text", { x: 310, y: 60, class: "number", "font-size": 15 }, node, holds);
    const words = isRead ? (isWrong ? "read finds another's value" : "read") : "write";
    svg("text", { x: 310, y: 104, class: "axis", "font-size": 13 }, node, words);
    node.setAttribute("aria-label", `Address ${address} holds the value of ${holds}`);
  }
}
