// How a search came to think what it thinks: values and visits of each move against simulations.

import { count, draw, make, percent } from "./dom.js";
import { colourOf } from "./ewn-moves.js";
import { chip, inParts, short } from "./ewn-words.js";

const LEFT = 46, RIGHT = 44;
const ABOVE = { top: 12, tall: 170 }, BELOW = { top: 212, tall: 104 };
const TALL = 356;
const FEWEST = 25; // simulations of a move before which a rate says nothing

export class Growth {
  constructor(host) {
    this.host = host;
    this.says = make("div", { class: "ewn-readout tiny", "aria-live": "off" });
    this.at = null;
    this.wide = 560;
    new ResizeObserver(() => { if (this.growth && this.host.childElementCount && this.#width() !== this.wide) this.show(this.growth, this.position, this.flip); }).observe(host);
  }

  #width() {
    return Math.max(280, Math.round(this.host.clientWidth) || 560);
  }

  clear() {
    this.host.replaceChildren();
    this.key = "";
  }

  /** `growth` as /api/analyze has it. */
  show(growth, position, flip) {
    if (!growth || growth.simulations.length < 2) return;
    Object.assign(this, { growth, position, flip });
    this.wide = this.#width();
    const xs = growth.simulations, first = xs.findIndex((n) => n >= FEWEST), from = first < 0 || first > xs.length - 2 ? 0 : first;
    const [low, high] = [xs[from], xs.at(-1)];
    this.x = (n) => LEFT + (this.wide - LEFT - RIGHT) * Math.log(Math.max(n, low) / low) / Math.max(Math.log(high / low), 1e-9);
    this.from = from;
    const moves = Object.entries(growth.moves);
    const seen = moves.flatMap(([, grown]) => grown.value.slice(from).flatMap((value, i) => (grown.visits[from + i] >= FEWEST ? [value, ...(grown.ci95[from + i] ?? [])] : [])));
    const floor = Math.max(0, Math.floor(20 * Math.min(0.5, ...seen)) / 20), roof = Math.min(1, Math.ceil(20 * Math.max(0.5, ...seen)) / 20);
    const y = (value) => ABOVE.top + ABOVE.tall * (1 - (Math.min(Math.max(value, floor), roof) - floor) / (roof - floor));
    const most = Math.max(10, ...moves.flatMap(([, grown]) => grown.visits));
    const v = (n) => BELOW.top + BELOW.tall * (1 - Math.log(Math.max(n, 1)) / Math.log(most));
    const picture = draw("svg", { viewBox: `0 0 ${this.wide} ${TALL}`, class: "ewn-growth", role: "img",
      "aria-label": `Win rates and visits of ${moves.length} moves from ${count(low)} to ${count(high)} simulations. The table of moves has the numbers.`,
      onpointermove: (event) => this.#point(event), onpointerleave: () => this.#read(null) });
    this.#axes(picture, { floor, roof, y, v, most, low, high });
    const ends = [];
    for (const [move, grown] of [...moves].reverse()) {
      const colour = colourOf(move, position), line = [], top = [], bottom = [], visits = [];
      for (let i = from; i < xs.length; i++) {
        const x = this.x(xs[i]).toFixed(1);
        visits.push(`${x},${v(grown.visits[i]).toFixed(1)}`);
        if (grown.visits[i] < FEWEST && !grown.proven[i]) continue;
        const [lo, hi] = grown.ci95[i] ?? [grown.value[i], grown.value[i]];
        line.push(`${x},${y(grown.value[i]).toFixed(1)}`);
        top.push(`${x},${y(hi).toFixed(1)}`);
        bottom.unshift(`${x},${y(lo).toFixed(1)}`);
      }
      const group = draw("g", { class: "grown", "data-move": move });
      group.style.setProperty("--colour", colour);
      group.append(draw("polygon", { class: "band", points: [...top, ...bottom].join(" ") }), draw("polyline", { points: line.join(" ") }), draw("polyline", { points: visits.join(" ") }));
      picture.append(group);
      const { cube, arrow } = inParts(position.turn, move, flip);
      ends.push({ colour, text: `${cube}${arrow}`, above: y(grown.value.at(-1)), below: v(grown.visits.at(-1)) });
    }
    for (const part of ["above", "below"]) this.#name(picture, ends, part);
    this.cursor = draw("line", { class: "cursor", y1: ABOVE.top, y2: BELOW.top + BELOW.tall, visibility: "hidden" });
    picture.append(this.cursor);
    this.picture = picture;
    this.host.replaceChildren(picture, this.says);
    this.#read(this.at);
  }

  #axes(picture, { floor, roof, y, v, most, low, high }) {
    const line = (attributes) => picture.append(draw("line", { class: "grid", ...attributes }));
    const text = (x, height, words, anchor = "end") => picture.append(draw("text", { x, y: height + 4, "text-anchor": anchor, text: words }));
    const step = roof - floor > 0.5 ? 0.2 : roof - floor > 0.2 ? 0.1 : 0.05;
    for (let value = Math.ceil(floor / step - 1e-9) * step; value <= roof + 1e-9; value += step) {
      line({ x1: LEFT, x2: this.wide - RIGHT, y1: y(value), y2: y(value) });
      text(LEFT - 6, y(value), `${Math.round(100 * value)} %`);
    }
    for (let n = 1; n <= most; n *= 10) {
      line({ x1: LEFT, x2: this.wide - RIGHT, y1: v(n), y2: v(n) });
      text(LEFT - 6, v(n), short(n));
    }
    for (let n = 10 ** Math.ceil(Math.log10(low)); n <= high; n *= 10) {
      for (const part of [ABOVE, BELOW]) line({ x1: this.x(n), x2: this.x(n), y1: part.top, y2: part.top + part.tall });
      text(this.x(n), BELOW.top + BELOW.tall + 13, short(n), "middle");
    }
    picture.append(draw("text", { class: "title", x: LEFT + 6, y: ABOVE.top + 12, text: "win rate ± 1.96 standard errors" }),
      draw("text", { class: "title", x: LEFT + 6, y: BELOW.top + 12, text: "visits" }),
      draw("text", { class: "title", x: this.wide - RIGHT, y: TALL - 4, "text-anchor": "end", text: "simulations in all" }));
  }

  /** Moves beside the ends of their lines, moved apart where they would overlap. */
  #name(picture, ends, part) {
    const { top, tall } = part === "above" ? ABOVE : BELOW;
    let last = -Infinity;
    const placed = [...ends].sort((a, b) => a[part] - b[part]).map((end) => ({ ...end, at: (last = Math.max(end[part], last + 15)) }));
    const over = Math.max(0, last - (top + tall));
    for (const end of placed) {
      const label = draw("text", { class: "end", x: this.wide - RIGHT + 6, y: end.at - over + 5, text: end.text });
      label.style.setProperty("--colour", end.colour);
      picture.append(label);
    }
  }

  #point(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.picture.getScreenCTM().inverse()).x;
    const xs = this.growth.simulations;
    let near = this.from;
    for (let i = this.from; i < xs.length; i++) if (Math.abs(this.x(xs[i]) - at) < Math.abs(this.x(xs[near]) - at)) near = i;
    this.#read(near);
  }

  /** Say what was thought after so many simulations. */
  #read(at) {
    this.at = at;
    const { growth, position, flip } = this;
    this.cursor?.setAttribute("visibility", at === null ? "hidden" : "visible");
    if (at === null || at >= growth.simulations.length) {
      this.says.replaceChildren("Point at the chart to read what was thought after so many simulations.");
      return;
    }
    const x = this.x(growth.simulations[at]);
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    const parts = Object.entries(growth.moves).map(([move, grown]) => make("span", { class: "row" }, chip(position.turn, move, flip), `${percent(grown.value[at])}, ${count(grown.visits[at])} visits`));
    this.says.replaceChildren(make("b", { text: `After ${count(growth.simulations[at])} simulations:` }), ...parts);
  }
}
