// How a search grew: the value and the visits of each move against the number of simulations.
import { horizontalGrid, linear, logarithmic, moveLine, onWidth, pointerX, powers, short, ticks } from "./chart.js";
import { count, draw, make, percent } from "./dom.js";
import { colourOf } from "./ewn-moves.js";
import { chip, inParts } from "./ewn-words.js";

const LEFT = 46, RIGHT = 44, TALL = 356; // pixels
const ABOVE = { top: 12, bottom: 182 }, BELOW = { top: 212, bottom: 316 };
const FEWEST = 25; // simulations of a move below which its rate is not drawn

export class Growth {
  constructor(host) {
    this.host = host;
    this.says = make("div", { class: "ewn-readout tiny", "aria-live": "off" });
    this.at = null; // the point that is read
    this.growth = this.position = this.flip = null;
    onWidth(host, () => { if (this.growth && host.childElementCount) this.#draw(); });
  }

  clear() {
    this.host.replaceChildren();
    this.growth = null;
  }

  /** `growth` as /api/analyze has it. */
  show(growth, position, flip) {
    if (!growth || growth.simulations.length < 2) return;
    Object.assign(this, { growth, position, flip });
    this.#draw();
  }

  #draw() {
    const { growth, position, flip } = this, xs = growth.simulations, moves = Object.entries(growth.moves);
    const wide = Math.max(280, Math.round(this.host.clientWidth) || 560), right = wide - RIGHT;
    const first = xs.findIndex((n) => n >= FEWEST);
    this.from = first < 0 || first > xs.length - 2 ? 0 : first;
    const [low, high] = [xs[this.from], xs.at(-1)];
    const x = this.x = logarithmic(low, high, LEFT, right);
    const points = xs.map((_, i) => i).slice(this.from);
    const values = moves.flatMap(([, grown]) => points.flatMap((i) =>
      (grown.visits[i] >= FEWEST ? [grown.value[i], ...(grown.ci95[i] ?? [])] : [])));
    const floor = Math.max(0, Math.floor(20 * Math.min(0.5, ...values)) / 20);
    const roof = Math.min(1, Math.ceil(20 * Math.max(0.5, ...values)) / 20);
    const rateScale = linear(floor, roof, ABOVE.bottom, ABOVE.top);
    const y = (value) => rateScale(Math.min(Math.max(value, floor), roof));
    const most = Math.max(10, ...moves.flatMap(([, grown]) => grown.visits));
    const v = logarithmic(1, most, BELOW.bottom, BELOW.top);
    const svg = this.svg = draw("svg", { viewBox: `0 0 ${wide} ${TALL}`, class: "ewn-growth", role: "img",
      "aria-label": `Win rates and visits of ${moves.length} moves from ${count(low)} to ${count(high)} simulations. `
        + "The table of moves has the numbers.",
      onpointermove: (event) => this.#point(event), onpointerleave: () => this.#read(null) });
    horizontalGrid(svg, ticks(floor, roof, 5), y, LEFT, right, (value) => `${Math.round(100 * value)} %`);
    horizontalGrid(svg, powers(1, most), v, LEFT, right, short);
    for (const n of powers(low, high)) {
      for (const { top, bottom } of [ABOVE, BELOW]) {
        svg.append(draw("line", { class: "grid", x1: x(n), x2: x(n), y1: top, y2: bottom }));
      }
      svg.append(draw("text", { x: x(n), y: BELOW.bottom + 17, "text-anchor": "middle", text: short(n) }));
    }
    const title = (at, height, text, anchor = "start") =>
      svg.append(draw("text", { class: "title", x: at, y: height, "text-anchor": anchor, text }));
    title(LEFT + 6, ABOVE.top + 12, "win rate ± 1.96 standard errors");
    title(LEFT + 6, BELOW.top + 12, "visits");
    title(right, TALL - 4, "simulations", "end");
    const ends = [];
    for (const [move, grown] of [...moves].reverse()) {
      const colour = colourOf(move, position), { cube, arrow } = inParts(position.turn, move, flip);
      const certain = points.filter((i) => grown.visits[i] >= FEWEST || grown.proven[i]);
      const at = (i, height) => `${x(xs[i]).toFixed(1)},${height.toFixed(1)}`;
      const bound = (side) => (i) => at(i, y((grown.ci95[i] ?? [grown.value[i], grown.value[i]])[side]));
      const band = [...certain.map(bound(1)), ...certain.map(bound(0)).reverse()];
      svg.append(draw("g", { class: "grown", "data-move": move, vars: { "--colour": colour } },
        draw("polygon", { class: "band", points: band.join(" ") }),
        draw("polyline", { points: certain.map((i) => at(i, y(grown.value[i]))).join(" ") }),
        draw("polyline", { points: points.map((i) => at(i, v(grown.visits[i]))).join(" ") })));
      ends.push({ colour, text: `${cube}${arrow}`, above: y(grown.value.at(-1)), below: v(grown.visits.at(-1)) });
    }
    this.#label(ends, "above", ABOVE.bottom, right);
    this.#label(ends, "below", BELOW.bottom, right);
    this.cursor = draw("line", { class: "cursor", y1: ABOVE.top, y2: BELOW.bottom, visibility: "hidden" });
    svg.append(this.cursor);
    this.host.replaceChildren(svg, this.says);
    this.#read(this.at);
  }

  /** Write the moves beside the ends of their lines, moved apart where they would overlap. */
  #label(ends, part, bottom, right) {
    let last = -Infinity;
    const placed = [...ends].sort((a, b) => a[part] - b[part])
      .map((end) => ({ ...end, at: (last = Math.max(end[part], last + 15)) }));
    const over = Math.max(0, last - bottom);
    for (const { at, text, colour } of placed) {
      const y = at - over + 5;
      this.svg.append(draw("text", { class: "end", x: right + 6, y, text, vars: { "--colour": colour } }));
    }
  }

  #point(event) {
    const at = pointerX(this.svg, event), xs = this.growth.simulations;
    const distance = (i) => Math.abs(this.x(xs[i]) - at);
    let near = this.from;
    for (let i = this.from; i < xs.length; i++) if (distance(i) < distance(near)) near = i;
    this.#read(near);
  }

  /** Write the values at a point of the chart. */
  #read(at) {
    const { growth, position, flip } = this;
    this.at = at !== null && at < growth.simulations.length ? at : null;
    moveLine(this.cursor, this.at === null ? null : this.x(growth.simulations[this.at]));
    if (this.at === null) {
      this.says.replaceChildren("Point at the chart to read its values.");
      return;
    }
    const parts = Object.entries(growth.moves).map(([move, grown]) => make("span", { class: "row" },
      chip(position.turn, move, flip), `${percent(grown.value[this.at])}, ${count(grown.visits[this.at])} visits`));
    const simulations = count(growth.simulations[this.at]);
    this.says.replaceChildren(make("b", { text: `After ${simulations} simulations:` }), ...parts);
  }
}
