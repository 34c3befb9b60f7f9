// The die: with pips if cubes are numbered from 1, with digits if from 0.

import { counted, draw, make } from "./dom.js";
import { other, reducedMotion } from "./ewn-words.js";

const PIPS = {
  1: [[50, 50]],
  2: [[27, 27], [73, 73]],
  3: [[25, 25], [50, 50], [75, 75]],
  4: [[27, 27], [73, 27], [27, 73], [73, 73]],
  5: [[26, 26], [74, 26], [50, 50], [26, 74], [74, 74]],
  6: [[28, 24], [28, 50], [28, 76], [72, 24], [72, 50], [72, 76]],
};

/** A face of the die as SVG. `number` is null if it is not rolled, "∗" if any cube may move. */
export function face(number, side, pips = true) {
  const dots = pips && PIPS[number];
  const known = number !== null && number !== undefined;
  const body = draw("svg", { viewBox: "0 0 100 100", class: `ewn-face ${side ?? ""}`, "aria-hidden": "true" },
    draw("rect", { class: "edge", x: 4, y: 7, width: 92, height: 91, rx: 20 }),
    draw("rect", { class: "side", x: 4, y: 3, width: 92, height: 90, rx: 20 }));
  if (dots) for (const [x, y] of dots) body.append(draw("circle", { class: "pip", cx: x, cy: y - 2, r: 9.5 }));
  else {
    body.append(draw("text", { class: known ? "digit" : "digit unknown", x: 50, y: 66, "text-anchor": "middle",
      text: known ? number : "?" }));
  }
  return body;
}

/** The large die of the position, a button while it can be rolled. */
export class Die {
  constructor(host, onRoll) {
    this.button = make("button", { type: "button", class: "ewn-die", onclick: () => onRoll() });
    host.append(this.button);
    this.shown = null;
  }

  /** `rollable`: a click rolls it. `tumble`: it has just been rolled. */
  show(position, { rollable = false, hidden = false, tumble = false } = {}) {
    const anyCube = position.is_chance || position.chooses_die ? null : "∗";
    const number = position.over ? "★" : hidden ? null : position.die ?? anyCube;
    const pips = position.first === 1;
    this.button.replaceChildren(face(number, position.over ? position.winner : position.turn, pips));
    this.button.disabled = !rollable;
    this.button.classList.toggle("ready", rollable);
    this.button.setAttribute("aria-label", rollable ? "Roll the die" : number === null ? "The die, not rolled"
      : position.over ? "The game is over" : number === "∗" ? "No die: any cube may move" : `The die shows ${number}`);
    if (tumble && !reducedMotion()) {
      this.button.firstChild.animate([
        { transform: "rotate(-200deg) scale(.55)", opacity: 0.3 },
        { transform: "rotate(14deg) scale(1.08)", opacity: 1, offset: 0.75 },
        { transform: "none" },
      ], { duration: 420, easing: "cubic-bezier(.2,.8,.3,1)" });
    }
  }
}

/** The next numbers of a known die, from this turn on. */
export function sequence(position) {
  const list = make("ol", { class: "ewn-ahead", "aria-label": "The known die, from this turn on" });
  let side = position.turn;
  for (const [turn, number] of position.coming_die.entries()) {
    const when = turn ? `in ${counted(turn, "turn")}` : "now";
    const item = make("li", { class: `${side}${turn ? "" : " now"}`, title: `${when}: ${side}, die ${number}` },
      face(number, side, false), make("span", { class: "visually-hidden", text: `${side} ${number}` }));
    list.append(item);
    side = other(side);
  }
  return list;
}
