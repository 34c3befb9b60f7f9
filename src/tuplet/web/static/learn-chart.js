// The curves of several learners in one picture, and the tiles that a learner reaches.
import { horizontalGrid, linear, logarithmic, moveLine, pointerX, powers, short, ticks } from "./chart.js";
import { count, draw, make } from "./dom.js";

const LEFT = 50, RIGHT = 64, TOP = 14, AXIS = 24; // pixels
const FIRST = 100; // games: where a logarithmic axis begins
const TILES = ["128", "256", "512", "1024", "2048", "4096", "8192", "16384", "32768"];

export const AXES = { games: "games", log: "log games", time: "time" };

const clock = (seconds) => (seconds < 60 ? `${Math.round(seconds * 10) / 10} s`
  : `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, "0")}`);

/** The place in a rising list of the last value that is at most `value`. */
function placeOf(values, value) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** After how many seconds a number of games was reached. */
function secondsAt({ games, seconds }, game) {
  const at = placeOf(games, game);
  return at < 0 ? 0 : seconds[at];
}

/**
 * @typedef {{letter: string, hue: number, label: string, curve: any, changes: any[], share: boolean}} Series
 */

export class CurveChart {
  #element; #svg; #line; #tip;
  #series = [];
  #guess = null;
  #axis = "games";
  #width = 0;
  #height = 0;
  #x = (value) => value;

  constructor(element) {
    this.#element = element;
    this.#svg = draw("svg", { class: "curves", role: "img", "aria-label": "Mean score: nothing learned yet" });
    this.#tip = make("div", { class: "learn-tip small", hidden: true });
    element.append(this.#svg, this.#tip);
    new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element;
      if (width === this.#width && height === this.#height) return;
      [this.#width, this.#height] = [width, height];
      this.#draw();
    }).observe(element);
    this.#svg.addEventListener("pointermove", (event) => this.#point(event));
    this.#svg.addEventListener("pointerleave", () => this.#point(null));
  }

  /** `guess` is what the viewer predicted: [[games, mean], …].
   * @param {Series[]} series */
  show(series, axis, guess = null) {
    this.#series = series;
    this.#guess = guess;
    this.#axis = axis;
    this.#draw();
  }

  #xs({ games, seconds }) {
    return this.#axis === "time" ? seconds : games;
  }

  #draw() {
    if (!this.#width) return;
    const svg = this.#svg, width = this.#width, height = this.#height;
    const drawn = this.#series.filter(({ curve }) => curve.mean.length);
    const share = drawn.some((each) => each.share);
    const right = width - (width < 480 ? 56 : RIGHT);
    const end = Math.max(...drawn.map(({ curve }) => this.#xs(curve).at(-1)), this.#axis === "time" ? 5 : 1000);
    const guessed = drawn.length && this.#guess ? this.#guess.map(([, mean]) => mean) : [];
    const peak = Math.max(...drawn.map(({ curve }) => Math.max(...curve.mean)), ...guessed, share ? 1 : 2500);
    const high = share ? 1 : peak * 1.1;
    const x = this.#axis === "log" ? logarithmic(FIRST, end, LEFT, right) : linear(0, end, LEFT, right);
    const y = linear(0, high, height - AXIS, TOP);
    this.#x = x;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    horizontalGrid(svg, ticks(0, high, 5), y, LEFT, right, share ? (v) => `${Math.round(100 * v)} %` : short);
    const marks = this.#axis === "log" ? powers(FIRST, end) : ticks(0, end, Math.max(2, Math.floor(width / 120)));
    marks.forEach((mark, i) => {
      const text = this.#axis === "time" ? clock(mark) : i === 0 ? `${short(mark)} games` : short(mark);
      svg.append(draw("text", { x: x(mark), y: height - 5, "text-anchor": i === 0 ? "start" : "middle", text }));
    });
    const clip = draw("clipPath", { id: "learn-clip" },
      draw("rect", { x: LEFT, y: TOP - 8, width: Math.max(right - LEFT, 1) + 6, height: height - AXIS - TOP + 8 }));
    svg.append(clip);
    if (this.#guess && drawn.length) this.#guessed(svg, drawn[0].curve, x, y);
    for (const { curve, hue } of drawn) this.#band(svg, curve, hue, x, y);
    for (const each of drawn) this.#marks(svg, each, x, height);
    for (const { curve, hue } of drawn) this.#curve(svg, curve, hue, x, y);
    this.#ends(svg, drawn, x, y, height, share);
    if (!this.#series.length) {
      svg.append(draw("text", { class: "wait", x: (LEFT + right) / 2, y: height / 2, "text-anchor": "middle",
        text: "Press Start, and a curve begins here." }));
    }
    this.#line = draw("line", { class: "at", y1: TOP, y2: height - AXIS, visibility: "hidden" });
    svg.append(this.#line);
    svg.setAttribute("aria-label", drawn.length ? drawn.map(({ label, curve }) => `${label}: mean score `
      + `${short(curve.mean.at(-1))} after ${count(curve.games.at(-1))} games`).join("; ")
      : "Mean score: nothing learned yet");
  }

  #band(svg, curve, hue, x, y) {
    const xs = this.#xs(curve), at = (values) => (i) => `${x(xs[i]).toFixed(1)} ${y(values[i]).toFixed(1)}`;
    const places = xs.map((_, i) => i);
    svg.append(draw("path", { class: "band", "data-hue": hue, "clip-path": "url(#learn-clip)",
      d: `M${places.map(at(curve.high)).join("L")}L${places.reverse().map(at(curve.low)).join("L")}Z` }));
  }

  #curve(svg, curve, hue, x, y) {
    const xs = this.#xs(curve);
    svg.append(draw("path", { class: "line", "data-hue": hue, "clip-path": "url(#learn-clip)",
      d: `M${xs.map((value, i) => `${x(value).toFixed(1)} ${y(curve.mean[i]).toFixed(1)}`).join("L")}` }));
  }

  /** What was predicted. */
  #guessed(svg, curve, x, y) {
    const first = this.#axis === "log" ? [] : [[0, 0]];
    const points = [...first, ...this.#guess].map(([games, mean]) =>
      `${x(this.#axis === "time" ? secondsAt(curve, games) : games).toFixed(1)} ${y(mean).toFixed(1)}`);
    const [left, top] = points[first.length].split(" ").map(Number);
    svg.append(draw("path", { class: "guess", d: `M${points.join("L")}`, "clip-path": "url(#learn-clip)" }),
      draw("text", { class: "guess", x: left + 6, y: top + 16, text: "your guess" }));
  }

  /** Where something was changed. */
  #marks(svg, { curve, changes, hue, letter }, x, height) {
    changes.forEach(({ game, ...settings }, i) => {
      const at = x(this.#axis === "time" ? secondsAt(curve, game) : game);
      const text = Object.entries(settings).map(([name, value]) => ({ alpha: `α ${value}`,
        spawn4: `${Math.round(100 * value)} % fours`, net: String(value) })[name] ?? `${name} ${value}`).join(", ");
      const near = at > this.#width * 0.7;
      svg.append(draw("line", { class: "change", "data-hue": hue, x1: at, x2: at, y1: TOP, y2: height - AXIS }),
        draw("text", { class: "change", "data-hue": hue, x: at + (near ? -4 : 4), y: TOP + 10 + 15 * (i % 4),
          "text-anchor": near ? "end" : "start", text: `${letter}: ${text}` }));
    });
  }

  /** A dot, the letter and the value at the end of each curve; they never cover each other. */
  #ends(svg, drawn, x, y, height, share) {
    const ends = drawn.map(({ curve, hue, letter }) => ({ hue, letter, value: curve.mean.at(-1),
      left: x(this.#xs(curve).at(-1)), top: y(curve.mean.at(-1)) })).sort((a, b) => a.top - b.top);
    let lowest = -Infinity;
    for (const each of ends) {
      each.at = Math.max(each.top, lowest + 17);
      lowest = each.at;
    }
    const over = Math.max(0, lowest - (height - AXIS - 4));
    for (const { hue, letter, value, left, top, at } of ends) {
      const text = share ? `${Math.round(100 * value)} %` : short(Math.round(value / 100) * 100);
      svg.append(draw("circle", { class: "end", "data-hue": hue, cx: left, cy: top, r: 4 }),
        draw("text", { class: "end", "data-hue": hue, x: left + 9, y: at - over + 5 },
          draw("tspan", { class: "letter", text: letter }), draw("tspan", { dx: 5, text })));
    }
  }

  /** Say what the curves are at the pointer. */
  #point(event) {
    const drawn = this.#series.filter(({ curve }) => curve.mean.length);
    this.#tip.hidden = !event || !drawn.length;
    if (!event || !drawn.length) {
      if (this.#line) moveLine(this.#line, null);
      return;
    }
    const place = pointerX(this.#svg, event);
    const lines = drawn.flatMap(({ curve, hue, letter, share }) => {
      const xs = this.#xs(curve), at = placeOf(xs.map(this.#x), place);
      if (at < 0 || this.#x(xs.at(-1)) < place - 3) return [];
      const mean = curve.mean[at], half = (curve.high[at] - curve.low[at]) / 2;
      const text = share ? `${(100 * mean).toFixed(1)} ± ${(100 * half).toFixed(1)} %`
        : `${count(mean)} ± ${count(half)}`;
      return [[make("div", { class: "row" }, make("b", { class: "letter", "data-hue": hue }, letter),
        make("span", { class: "number" }, text)), curve.games[at], curve.seconds[at]]];
    });
    moveLine(this.#line, lines.length ? place : null);
    this.#tip.hidden = !lines.length;
    if (!lines.length) return;
    const [, games, seconds] = lines[0];
    this.#tip.replaceChildren(make("div", { class: "muted" }, `${count(games)} games, ${clock(seconds)}`),
      ...lines.map(([line]) => line));
    const last = this.#element.clientWidth - this.#tip.offsetWidth - 4;
    this.#tip.style.left = `${Math.min(Math.max(place + 14, 0), last)}px`;
  }
}

/** The shares of games that reached each tile, as areas that cover each other; the largest tile is in front. */
export function tileAreas(svg, { games, tiles }, width = 300, height = 84) {
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  if (games.length < 2) return;
  const x = linear(games[0], games.at(-1), 0, width), y = linear(0, 100, height, 0);
  svg.append(draw("rect", { class: "tile-area", "data-tile": "64", x: 0, y: 0, width, height }));
  for (const tile of TILES) {
    const shares = tiles[tile];
    if (!shares) continue;
    const line = games.map((game, i) => `${x(game).toFixed(1)} ${y(shares[i]).toFixed(1)}`).join("L");
    svg.append(draw("path", { class: "tile-area", "data-tile": tile,
      d: `M-2 ${height + 2}L-2 ${y(shares[0]).toFixed(1)}L${line}L${width + 2} ${y(shares.at(-1)).toFixed(1)}`
        + `L${width + 2} ${height + 2}Z` }));
  }
}

/** The largest tiles of a curve that a share of games reaches now: [[2048, 87.3], …]. */
export function tilesNow({ tiles }, most = 4) {
  return Object.entries(tiles).map(([tile, shares]) => [Number(tile), average(shares)])
    .filter(([, share]) => share >= 0.05).sort(([a], [b]) => b - a).slice(0, most).reverse();
}

const average = (shares) => {
  const last = shares.slice(-10);
  return last.reduce((sum, share) => sum + share, 0) / last.length;
};
