// Moves and numbers of EWN, in words and signs.

import { count, make } from "./dom.js";

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
  return make(
    "span", { class: `ewn-chip ${side}` },
    cube ? make("b", { class: `ewn-cube ${side}`, text: cube }) : null,
    make("span", { class: "ewn-arrow", text: arrow }),
  );
}

/** Whose each move of a line is: who has moved chooses the other's die, where dice are chosen. */
export function sidesOf(line, turn) {
  const chosen = line.some((move) => move.startsWith("="));
  let side = turn;
  return line.map((move) => {
    const own = side;
    if (!chosen || move.startsWith("=")) side = other(side);
    return own;
  });
}

/** A large number in few letters: 1,234 to 9,999 in full, then 12k, 1.2M. */
export function short(n) {
  if (n < 10000) return count(n);
  if (n < 1e6) return `${Math.round(n / 1000)}k`;
  return `${(n / 1e6).toFixed(n < 1e7 ? 1 : 0)}M`;
}
