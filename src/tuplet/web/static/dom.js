// Elements, icons, and numbers as people read them.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else if (name === "vars") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/**
 * make("button", {class: "quiet", onclick: run}, "Go"): an element of HTML.
 * @returns {any}
 */
export const make = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

/**
 * draw("circle", {r: 3}): an element of SVG.
 * @returns {any}
 */
export const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** @returns {any} the element of an id */
export const by = (id) => document.getElementById(id);

/** Icons, as paths in a square of 24. */
const ICONS = {
  undo: "M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3",
  redo: "m15 14 5-5-5-5M20 9H10a6 6 0 0 0 0 12h3",
  play: "M7 4.5v15l12-7.5z",
  pause: "M8 5v14M16 5v14",
  step: "M6 4.5v15L15.500 12zM19 5v14",
  new: "M12 5v14M5 12h14",
  edit: "M4 20h4L19 9l-4-4L4 16z",
  paste: "M8 5H6v15h12V5h-2M9 3h6v4H9z",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4",
  light: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500 19 19"
    + "M19 5l-1.500 1.500M6.500 17.500 5 19",
  dark: "M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500z",
  close: "M6 6l12 12M18 6 6 18",
  next: "m9 5 7 7-7 7",
  previous: "m15 5-7 7 7 7",
  up: "M12 20V4M5 11l7-7 7 7",
  down: "M12 4v16M5 13l7 7 7-7",
  left: "M20 12H4M11 5l-7 7 7 7",
  right: "M4 12h16M13 5l7 7-7 7",
  turn: "M4 9a8 8 0 0 1 14-3l2 2M20 3v5h-5M20 15a8 8 0 0 1-14 3l-2-2M4 21v-5h5",
};

export const icon = (name) =>
  draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, draw("path", { d: ICONS[name] }));

const WHOLE = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const TENTH = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** 12,345 */
export const count = (number) => WHOLE.format(number).replace("-", "−");

/** 12,345.6 */
export const points = (number) => TENTH.format(number).replace(/^-0\.0$/, "0.0").replace("-", "−");

/** +12.3 or −12.3 */
export const signed = (number) => (number > 0 ? "+" : "") + points(number);

/** 12.3 % */
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;

/** 1 move, 2 moves */
export const counted = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

/** What is proven of a move: "won in 5", counting the moves of both sides, or "proven"; "" if nothing is. */
export const proofOf = ({ value, proven, ends_in: moves }) =>
  (moves ? `${value > 0.5 ? "won" : "lost"} in ${moves}` : proven ? "proven" : "");

/**
 * A choice of one, as buttons that belong together: choice("show", {shown: "Shown"}, "shown", run).
 * Returns the element, with `.value` to read and `.choose(value)` to set without calling `onChange`.
 */
export function choice(name, options, value, onChange, label = name) {
  const inputs = new Map();
  const element = make("div", { class: "choice", role: "radiogroup", "aria-label": label });
  for (const [key, text] of Object.entries(options)) {
    const input = make("input", { type: "radio", name, value: key, onchange: () => onChange(key) });
    input.checked = key === value;
    inputs.set(key, input);
    element.append(make("label", {}, input, make("span", {}, text)));
  }
  element.choose = (key) => inputs.has(key) && (inputs.get(key).checked = true);
  Object.defineProperty(element, "value", { get: () => [...inputs].find(([, input]) => input.checked)?.[0] });
  return element;
}

/** Call at most once every `wait` ms: at once, and with the last arguments at the end. */
export function spaced(run, wait) {
  let timer = null;
  let last = null;
  const call = (...latest) => {
    last = latest;
    if (timer !== null) return;
    const fire = () => {
      timer = null;
      if (last === null) return;
      const use = last;
      last = null;
      timer = setTimeout(fire, wait);
      run(...use);
    };
    fire();
  };
  call.drop = () => {
    clearTimeout(timer);
    timer = last = null;
  };
  call.flush = () => {
    const use = last;
    call.drop();
    if (use !== null) run(...use);
  };
  return call;
}

/** A small board with some cells marked. */
export function mini(cells, rows, columns, colour = "var(--accent)") {
  const on = new Set(cells);
  const svg = draw("svg", { class: "mini", viewBox: `0 0 ${columns * 10} ${rows * 10}`, "aria-hidden": "true" });
  for (let cell = 0; cell < rows * columns; cell++) {
    svg.append(draw("rect", { x: (cell % columns) * 10 + .8, y: Math.floor(cell / columns) * 10 + .8,
      width: 8.4, height: 8.4, rx: 1.6, fill: on.has(cell) ? colour : "var(--line)" }));
  }
  return svg;
}
