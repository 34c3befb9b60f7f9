// Moves on the board: the last one, and the positions along a line.
import { post } from "./api.js";

const sideOf = (cube) => (cube[0] === "r" ? "red" : "blue");

/** The move that led to the position shown, {side, from, to}; null if it is not known. */
export function lastMove({ start, steps, at }) {
  const before = at > 1 ? steps[at - 2].position : start?.position, after = steps[at - 1]?.position;
  if (!before || !after) return null;
  const moved = Object.keys(before.cubes).filter((cube) =>
    cube in after.cubes && before.cubes[cube].join() !== after.cubes[cube].join());
  if (moved.length !== 1) return null;
  return { side: sideOf(moved[0]), from: before.cubes[moved[0]], to: after.cubes[moved[0]] };
}

/** A legal move as squares: {side, from, to}. */
export function squaresOf(position, move) {
  const { turn, cubes, targets } = position;
  return { side: turn, from: cubes[turn[0] + move.slice(0, -1)], to: targets[move] };
}

const known = new Map(); // "notation move" -> the position after it

/**
 * The steps of a line (moves, or outcomes of chance) from a position.
 * @returns {Promise<{side?: string, from?: number[], to?: number[], position: any}[]>}
 */
export async function walk(position, line) {
  const steps = [];
  for (const move of line) {
    const key = `${position.notation} ${move}`;
    if (!known.has(key)) {
      const step = position.is_chance ? { outcome: move } : { move };
      const request = { game: position.game, position: position.notation, ...step };
      known.set(key, (await post("/api/play", request)).position);
      if (known.size > 500) known.delete(known.keys().next().value);
    }
    const squares = position.is_chance || move.startsWith("=") ? {} : squaresOf(position, move);
    position = known.get(key);
    steps.push({ ...squares, position });
  }
  return steps;
}
