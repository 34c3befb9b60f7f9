// Small things the EWN page is made of: elements, moves in words, numbers in words.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "text") element.textContent = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** An SVG element; functions among the attributes are listeners. */
export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

/** An HTML element; functions among the attributes are listeners. */
export function html(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export const other = (side) => (side === "red" ? "blue" : "red");
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
export const sleep = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

const ARROWS = { red: "→↓↘↗", blue: "←↑↖↙" };
const TURNED = { "→": "←", "←": "→", "↓": "↑", "↑": "↓", "↘": "↖", "↖": "↘", "↗": "↙", "↙": "↗" };
const WORDS = ["sideways", "straight on", "diagonally", "diagonally back"];

/** A move's text in parts to show: the cube's number, and an arrow as it looks on the board. */
export function inParts(side, move, flip = false) {
  if (move.startsWith("=")) return { cube: "", arrow: `die ${move.slice(1)}` };
  const arrow = ARROWS[side]?.[Number(move.at(-1))] ?? "";
  return { cube: move.slice(0, -1), arrow: flip ? TURNED[arrow] ?? arrow : arrow };
}

/** A move in words, for those who listen. */
export function inWords(side, move) {
  if (move.startsWith("=")) return `${side} chooses die ${move.slice(1)}`;
  return `${side} ${move.slice(0, -1)} ${WORDS[Number(move.at(-1))] ?? ""}`.trim();
}

/** A move as a chip: the cube in its side's colour, and where it goes. */
export function chip(side, move, flip = false) {
  const { cube, arrow } = inParts(side, move, flip);
  return html(
    "span", { class: `ewn-chip ${side}` },
    cube ? html("b", { class: `ewn-cube ${side}`, text: cube }) : null,
    html("span", { class: "ewn-arrow", text: arrow }),
  );
}

export const count = (n) => Math.round(n).toLocaleString("en-GB");
export const percent = (x, digits = 1) => `${(100 * x).toFixed(digits)} %`;

/** A large number in few letters: 1,234 to 9,999 in full, then 12k, 1.2M. */
export function short(n) {
  if (n < 10000) return count(n);
  if (n < 1e6) return `${Math.round(n / 1000)}k`;
  return `${(n / 1e6).toFixed(n < 1e7 ? 1 : 0)}M`;
}
