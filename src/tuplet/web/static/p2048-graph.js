// The course of a game: what was expected at each position, points so far, and luck and skill apart.
import { count, draw, make } from "./dom.js";

const LEFT = 52, RIGHT = 8, TALL = 190, LOW = 120, AXIS = 20;
const MOST_DOTS = 150;

/** Round numbers that divide a range into a few steps. */
function ticks(low, high, about) {
  const raw = (high - low || 1) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= raw);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) found.push(Math.round(at / step) * step || 0);
  return found;
}

const short = (n) => (Math.abs(n) >= 10_000 ? `${(n / 1000).toFixed(Math.abs(n) < 100_000 && n % 1000 ? 1 : 0)}k` : count(n)).replace("-", "−");

/** A path through values, thinned to four points a pixel: first, lowest, highest, last. */
function path(values, x, y) {
  let text = "";
  let at = 0;
  while (at < values.length) {
    const column = Math.floor(x(at));
    let [low, high, end] = [at, at, at];
    while (end + 1 < values.length && Math.floor(x(end + 1)) === column) {
      end++;
      if (values[end] < values[low]) low = end;
      if (values[end] > values[high]) high = end;
    }
    for (const i of [...new Set([at, Math.min(low, high), Math.max(low, high), end])]) {
      text += `${text ? "L" : "M"}${x(i).toFixed(1)} ${y(values[i]).toFixed(1)}`;
    }
    at = end + 1;
  }
  return text;
}

/** Values of all positions of a reviewed game, from its first: what came to what, added up. */
export function courses(review) {
  const course = { expected: [], scored: [], luck: [0], drift: [0], losses: [0] };
  for (const move of review.moves) {
    course.expected.push(move.expected);
    course.scored.push(move.score);
    for (const part of ["luck", "drift"]) course[part].push(course[part].at(-1) + move[part]);
    course.losses.push(course.losses.at(-1) - move.loss);
  }
  course.expected.push(review.score + (review.left ?? 0));
  course.scored.push(review.score);
  return course;
}

/** Draw the graph into `element`; `onPick(k)` when the position after k moves is clicked, `onPoint(k)`
 * while it is pointed at (null: no longer). Returns {now(k)} to mark the position that is seen. */
export function graph(element, review, { onPick, onPoint }) {
  const course = courses(review);
  const last = review.moves.length;
  const upper = draw("svg", { role: "img", "aria-label": "Expected final score over the game, and points so far" });
  const lower = draw("svg", { role: "img", "aria-label": "Luck, re-estimates and mistakes, each added up over the game" });
  const swatch = (name, text) => make("span", { class: name }, make("span", { class: "swatch" }), text);
  element.replaceChildren(
    make("figcaption", { class: "key" },
      make("span", { class: "expected-key" }, make("span", { class: "swatch" }), "expected final score: points so far and what the judge expects from there"),
      make("span", { class: "scored-key" }, make("span", { class: "swatch" }), "points so far"),
      make("span", { class: "muted" }, make("i", { class: "dot", "data-band": "bad" }), " bad moves")),
    upper,
    make("p", { class: "key" }, swatch("luck", "luck"), swatch("drift", "re-estimates"), swatch("losses", "mistakes"), make("span", { class: "muted" }, "each added up; together they are the line above")),
    lower,
  );
  let seen = 0;
  let scale = () => 0;
  let back = () => 0;

  function redraw() {
    const width = Math.max(element.clientWidth, 200);
    const inner = width - LEFT - RIGHT;
    scale = (k) => LEFT + (last ? (k / last) * inner : 0);
    back = (px) => Math.max(0, Math.min(last, Math.round(((px - LEFT) / inner) * last)));
    const top = Math.max(...course.expected, ...course.scored.slice(-1));
    const y = plot(upper, TALL, 0, top * 1.05 || 1, width);
    upper.append(draw("path", { class: "scored", d: `${path(course.scored, scale, y)}L${scale(last)} ${y(0)}L${scale(0)} ${y(0)}Z` }));
    upper.append(draw("path", { class: "line expected", d: path(course.expected, scale, y) }));
    const costly = (band) => review.moves.filter((move) => move.band === band).sort((one, other) => other.loss - one.loss).slice(0, MOST_DOTS);
    for (const move of costly("inaccurate")) {
      upper.append(draw("line", { class: "rug", x1: scale(move.number - 1), x2: scale(move.number - 1), y1: y(0), y2: y(0) - 7, "data-band": move.band }));
    }
    for (const move of costly("bad")) {
      upper.append(draw("circle", { cx: scale(move.number - 1), cy: y(move.expected), r: 4, "data-band": move.band }));
    }
    let [low, high] = [0, 0];
    for (const part of ["luck", "drift", "losses"]) {
      for (const value of course[part]) { low = Math.min(low, value); high = Math.max(high, value); }
    }
    const z = plot(lower, LOW, low * 1.05, high * 1.05 || 1, width, true);
    for (const part of ["drift", "losses", "luck"]) lower.append(draw("path", { class: `line ${part}`, d: path(course[part], scale, z) }));
    for (const [svg, height] of [[upper, TALL], [lower, LOW]]) {
      svg.append(draw("line", { class: "at", y1: 0, y2: height - AXIS, visibility: "hidden" }), draw("line", { class: "now", y1: 0, y2: height - AXIS }));
    }
    now(seen);
  }

  function plot(svg, height, low, high, width, named = false) {
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    const y = (value) => height - AXIS - ((value - low) / (high - low || 1)) * (height - AXIS - 8);
    for (const tick of ticks(low, high, height > 150 ? 5 : 4)) {
      svg.append(draw("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }),
        draw("text", { x: LEFT - 7, y: y(tick) + 4, "text-anchor": "end" }, (named && tick > 0 ? "+" : "") + short(tick)));
    }
    for (const tick of ticks(0, last, Math.max(2, Math.floor(width / 130)))) {
      if (tick !== Math.round(tick)) continue;
      svg.append(draw("text", { x: scale(tick), y: height - 4, "text-anchor": tick === 0 ? "start" : scale(tick) > width - 30 ? "end" : "middle" }, tick === 0 ? "move 0" : count(tick)));
    }
    return y;
  }

  function now(k) {
    seen = Math.max(0, Math.min(last, k));
    for (const svg of [upper, lower]) {
      const line = svg.querySelector(".now");
      if (line) for (const name of ["x1", "x2"]) line.setAttribute(name, scale(seen));
    }
  }

  function point(event) {
    const box = upper.getBoundingClientRect();
    const k = event ? back(event.clientX - box.left) : null;
    for (const svg of [upper, lower]) {
      const line = svg.querySelector(".at");
      line.setAttribute("visibility", event ? "visible" : "hidden");
      if (event) for (const name of ["x1", "x2"]) line.setAttribute(name, scale(k));
    }
    return k;
  }

  for (const svg of [upper, lower]) {
    svg.addEventListener("pointermove", (event) => {
      const k = point(event);
      onPoint(k);
      if (event.buttons & 1) onPick(k);
    });
    svg.addEventListener("pointerleave", () => { point(null); onPoint(null); });
    svg.addEventListener("click", (event) => onPick(point(event)));
  }
  const watcher = new ResizeObserver(() => redraw());
  watcher.observe(element);
  redraw();
  return { now, end: () => watcher.disconnect() };
}
