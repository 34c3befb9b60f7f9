// Pieces of charts: scales, ticks, grid lines, and the position under the pointer.
import { count, draw } from "./dom.js";

/** A function from values between `low` and `high` to pixels between `from` and `to`. */
export const linear = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);

/** The same, on a logarithmic scale. */
export const logarithmic = (low, high, from, to) => {
  const scale = linear(Math.log(low), Math.log(Math.max(high, low * (1 + 1e-9))), from, to);
  return (value) => scale(Math.log(Math.max(value, low)));
};

/** Round numbers that divide a range into about this many steps. */
export function ticks(low, high, about) {
  const raw = (high - low || 1) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= raw);
  const first = Math.ceil(low / step - 1e-9);
  const number = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(number, 0) }, (_, i) => Number(((first + i) * step).toPrecision(12)) || 0);
}

/** The powers of ten in a range. */
export function powers(low, high) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const number = Math.floor(Math.log10(high) + 1e-9) - first + 1;
  return Array.from({ length: Math.max(number, 0) }, (_, i) => 10 ** (first + i));
}

/** A large number in few characters: up to 9,999 in full, then 12.5k, 1.2M. */
export function short(n) {
  const size = Math.abs(n);
  if (size < 10_000) return count(n);
  const [unit, letter] = size < 1e6 ? [1000, "k"] : [1e6, "M"];
  return `${(n / unit).toFixed(size / unit < 100 && n % unit ? 1 : 0).replace(/\.0$/, "")}${letter}`.replace("-", "−");
}

/** Horizontal grid lines with their values on the left. */
export function horizontalGrid(svg, values, y, left, right, format) {
  for (const value of values) {
    svg.append(draw("line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) }),
      draw("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end", text: format(value) }));
  }
}

/** Move a vertical line of a chart; null hides it. */
export function moveLine(line, x) {
  line.setAttribute("visibility", x === null ? "hidden" : "visible");
  if (x !== null) for (const name of ["x1", "x2"]) line.setAttribute(name, x);
}

/** The x of the pointer in a chart's own coordinates. */
export const pointerX = (svg, event) =>
  new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;

/** Call `run` with the width of an element, now and whenever it changes. Returns a function that ends this. */
export function onWidth(element, run) {
  let width = 0;
  const observer = new ResizeObserver(() => {
    if (element.clientWidth && element.clientWidth !== width) run(width = element.clientWidth);
  });
  observer.observe(element);
  return () => observer.disconnect();
}
