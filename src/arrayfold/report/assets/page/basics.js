const SVG = "http://www.w3.org/2000/svg";
const data = JSON.parse(document.getElementById("arrayfold-data").textContent);

function filled(node, attributes, parent, text) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

const svg = (tag, attributes, parent, text) =>
  filled(document.createElementNS(SVG, tag), attributes, parent, text);
const html = (tag, attributes, parent, text) => filled(document.createElement(tag), attributes, parent, text);

const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
const limited = (items, most) =>
  items.length <= most ? items.join(", ") : `${items.slice(0, most).join(", ")} and ${items.length - most} more`;
const same = (a, b) => a.length === b.length && a.every((value, k) => value === b[k]);
const modulo = (a, b) => ((a % b) + b) % b;

// The colour of an address: neighbours differ.
function addressColour(index) {
  const hue = (index * 137.508) % 360;
  return `hsl(${hue.toFixed(1)} 65% ${62 + 10 * (index % 3)}%)`;
}

// Colours of arrays, which people who see few colours can tell apart.
const ARRAY_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#8c8c8c"];
const arrayColour = (number) => ARRAY_COLOURS[number % ARRAY_COLOURS.length];

// Symbols are drawn, so that no font has to have them.
const SYMBOLS = {
  start: "M3 2h2v12h-2zM14 2v12L6 8z",
  back: "M12 2v12L3 8z",
  play: "M4 2v12l9-6z",
  pause: "M4 2h3v12H4zM9 2h3v12H9z",
  forward: "M4 2v12l9-6z",
  end: "M11 2h2v12h-2zM2 2v12l8-6z",
};

function symbol(name, parent) {
  const picture = svg("svg", { viewBox: "0 0 16 16", class: "symbol", "aria-hidden": "true" }, parent);
  svg("path", { d: SYMBOLS[name] }, picture);
  return picture;
}

// Controls that choose the values of all dimensions but the last two.
function sliceControls(parent, dimensions, values, change) {
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
