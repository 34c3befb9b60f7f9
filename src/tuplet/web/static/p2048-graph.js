// The course of a reviewed game: the expected score and the points so far, and what luck and mistakes added up to.
import { horizontalGrid, linear, moveLine, onWidth, pointerX, short, ticks } from "./chart.js";
import { count, draw, make } from "./dom.js";

const LEFT = 52, RIGHT = 8, TALL = 190, LOW = 120, AXIS = 20; // pixels
const MAX_MARKS = 150;

/** A path through values, with at most four points per pixel: first, lowest, highest, last. */
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

/** The values at all positions of a reviewed game, from the first. */
function courses(review) {
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

/** Draw the graph into `element`. `onPick(k)` is called when the position after k moves is clicked, `onPoint(k)` while
 * it is pointed at (null: no longer). Returns {now(k)}, which marks the position on the board, and {end()}. */
export function graph(element, review, { onPick, onPoint }) {
  const course = courses(review), last = review.moves.length;
  const upper = draw("svg", { role: "img", "aria-label": "Expected final score over the game, and points so far" });
  const lower = draw("svg", { role: "img", "aria-label": "Luck, re-estimates and mistakes, summed over the game" });
  const swatch = (name, text) => make("span", { class: name }, make("span", { class: "swatch" }), text);
  element.replaceChildren(
    make("figcaption", { class: "key" },
      swatch("expected-key", "expected final score: points so far plus what the judge expects"),
      swatch("scored-key", "points so far"),
      make("span", { class: "muted" }, make("i", { class: "dot", "data-band": "bad" }), " blunders")),
    upper,
    make("p", { class: "key" }, swatch("luck", "luck"), swatch("drift", "re-estimates"), swatch("losses", "mistakes"),
      make("span", { class: "muted" }, "each summed; together they are the line above")),
    lower,
  );
  let shown = 0, x = linear(0, 1, 0, 1);

  function redraw(clientWidth) {
    const width = Math.max(clientWidth, 200);
    x = linear(0, last, LEFT, width - RIGHT);
    const top = Math.max(...course.expected, ...course.scored.slice(-1));
    const y = plot(upper, TALL, 0, top * 1.05 || 1, width, short);
    const area = `${path(course.scored, x, y)}L${x(last)} ${y(0)}L${x(0)} ${y(0)}Z`;
    upper.append(draw("path", { class: "scored", d: area }));
    upper.append(draw("path", { class: "line expected", d: path(course.expected, x, y) }));
    for (const move of costliest("inaccurate")) {
      const at = x(move.number - 1);
      upper.append(draw("line", { class: "rug", x1: at, x2: at, y1: y(0), y2: y(0) - 7, "data-band": move.band }));
    }
    for (const move of costliest("bad")) {
      upper.append(draw("circle", { cx: x(move.number - 1), cy: y(move.expected), r: 4, "data-band": move.band }));
    }
    let [low, high] = [0, 0];
    for (const part of ["luck", "drift", "losses"]) {
      for (const value of course[part]) [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
    const z = plot(lower, LOW, low * 1.05, high * 1.05 || 1, width, (tick) => (tick > 0 ? "+" : "") + short(tick));
    for (const part of ["drift", "losses", "luck"]) {
      lower.append(draw("path", { class: `line ${part}`, d: path(course[part], x, z) }));
    }
    for (const [svg, height] of [[upper, TALL], [lower, LOW]]) {
      svg.append(draw("line", { class: "at", y1: 0, y2: height - AXIS, visibility: "hidden" }),
        draw("line", { class: "now", y1: 0, y2: height - AXIS }));
    }
    now(shown);
  }

  function costliest(band) {
    const moves = review.moves.filter((move) => move.band === band);
    return moves.sort((one, other) => other.loss - one.loss).slice(0, MAX_MARKS);
  }

  function plot(svg, height, low, high, width, format) {
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    const y = linear(low, high, height - AXIS, 8);
    horizontalGrid(svg, ticks(low, high, height > 150 ? 5 : 4), y, LEFT, width - RIGHT, format);
    for (const tick of ticks(0, last, Math.max(2, Math.floor(width / 130))).filter(Number.isInteger)) {
      const anchor = tick === 0 ? "start" : x(tick) > width - 30 ? "end" : "middle";
      const text = tick === 0 ? "move 0" : count(tick);
      svg.append(draw("text", { x: x(tick), y: height - 4, "text-anchor": anchor, text }));
    }
    return y;
  }

  function mark(name, k) {
    for (const line of element.querySelectorAll(`line.${name}`)) moveLine(line, k === null ? null : x(k));
  }

  function now(k) {
    shown = Math.max(0, Math.min(last, k));
    mark("now", shown);
  }

  for (const svg of [upper, lower]) {
    const moveAt = (event) => {
      const share = (pointerX(svg, event) - x(0)) / (x(last) - x(0) || 1);
      return Math.max(0, Math.min(last, Math.round(share * last)));
    };
    svg.addEventListener("pointermove", (event) => {
      const k = moveAt(event);
      mark("at", k);
      onPoint(k);
      if (event.buttons & 1) onPick(k);
    });
    svg.addEventListener("pointerleave", () => {
      mark("at", null);
      onPoint(null);
    });
    svg.addEventListener("click", (event) => onPick(moveAt(event)));
  }
  redraw(element.clientWidth);
  return { now, end: onWidth(element, redraw) };
}
