// Moves of EWN, in words and signs.

import { make } from "./dom.js";

/** The agent that plays against a person at first. */
export const OPPONENT = "normal";

export const other = (side) => (side === "red" ? "blue" : "red");
export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
export const sleep = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

const ARROWS = { red: "→↓↘↗", blue: "←↑↖↙" };
const TURNED = { "→": "←", "←": "→", "↓": "↑", "↑": "↓", "↘": "↖", "↖": "↘", "↗": "↙", "↙": "↗" };
const WORDS = ["sideways", "straight on", "diagonally", "diagonally back"];

/** The parts of a move: the number of the cube, and an arrow as it points on the board. */
export function inParts(side, move, flip = false) {
  if (move.startsWith("=")) return { cube: "", arrow: `die ${move.slice(1)}` };
  const arrow = ARROWS[side]?.[Number(move.at(-1))] ?? "";
  return { cube: move.slice(0, -1), arrow: flip ? TURNED[arrow] ?? arrow : arrow };
}

/** A move in words, for screen readers. */
export function inWords(side, move) {
  if (move.startsWith("=")) return `${side} chooses die ${move.slice(1)}`;
  return `${side} ${move.slice(0, -1)} ${WORDS[Number(move.at(-1))] ?? ""}`.trim();
}

/** A move as a chip: the cube in the colour of its side, and an arrow. */
export function chip(side, move, flip = false) {
  const { cube, arrow } = inParts(side, move, flip);
  return make(
    "span", { class: `ewn-chip ${side}` },
    cube ? make("b", { class: `ewn-cube ${side}`, text: cube }) : null,
    make("span", { class: "ewn-arrow", text: arrow }),
  );
}

/** The side of each move of a line. Where the die is chosen, the side that has moved chooses it for the other. */
export function sidesOf(line, turn) {
  const chosen = line.some((move) => move.startsWith("="));
  let side = turn;
  return line.map((move) => {
    const own = side;
    if (!chosen || move.startsWith("=")) side = other(side);
    return own;
  });
}
