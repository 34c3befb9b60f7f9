// The game on the table: where it stands, what has been done, and what can be taken back.

import { post } from "./api.js";

export class Sitting {
  constructor() {
    this.position = null;
    this.rng = null;
    this.start = ""; // notation
    this.steps = []; // [move | null, what chance did | null]
    this.past = [];
    this.future = [];
    this.last = null; // {side, from, to} of the last move
  }

  get game() {
    return this.position.game;
  }

  /** A first position, or one that is given: {game, position?, seed?, red?, blue?, die?}. */
  async begin(request) {
    const found = await post("/api/position", request);
    this.set(found.position, found.rng);
    return found.position;
  }

  /** Stand at a position as if nothing had been before; `kept` is what `memory` gave. */
  set(position, rng, kept = null) {
    Object.assign(this, { position, rng, start: position.notation, steps: [], past: [], future: [], last: null });
    if (kept?.at === position.notation) Object.assign(this, { rng: kept.rng, start: kept.start, steps: kept.steps });
  }

  /** What the back button needs to go on here as if nothing had happened. */
  memory() {
    return { at: this.position.notation, rng: this.rng, start: this.start, steps: this.steps };
  }

  /** Make a move; chance does not act yet. */
  async play(move) {
    const found = await post("/api/play", { game: this.game, position: this.position.notation, move });
    this.#go([[move, found.outcome ?? null]], found.position, found.rng);
  }

  /** Let chance act: with rng of its own, or with an outcome that somebody chose. */
  async roll(outcome = null) {
    const how = outcome === null ? { rng: this.rng } : { outcome };
    const found = await post("/api/play", { game: this.game, position: this.position.notation, ...how });
    this.#go([[null, found.outcome]], found.position, found.rng);
  }

  /** What an agent did, as the socket tells it. */
  follow(frame) {
    if (frame.steps.length) this.#go(frame.steps.map(([move, outcome]) => [move || null, outcome]), frame.position, frame.rng);
  }

  #go(steps, position, rng) {
    this.past.push(this.#snapshot());
    this.future = [];
    this.last = difference(this.position, position) ?? (steps.some(([move]) => move) ? null : this.last);
    this.steps = merged(this.steps, steps);
    this.position = position;
    this.rng = rng ?? this.rng;
  }

  #snapshot() {
    return { position: this.position, rng: this.rng, start: this.start, steps: this.steps, last: this.last };
  }

  /** Take back until `here(position)` holds; false, and nothing happens, if that never was. */
  undo(here) {
    return this.#travel(this.past, this.future, here);
  }

  redo(here) {
    return this.#travel(this.future, this.past, here);
  }

  #travel(from, to, here) {
    let at = from.length - 1;
    while (at >= 0 && !here(from[at].position)) at--;
    if (at < 0) return false;
    let now = this.#snapshot();
    while (from.length > at) {
      to.push(now);
      now = from.pop();
    }
    Object.assign(this, now);
    return true;
  }
}

/** Steps with what chance did put beside the move before it, as records have it. */
function merged(before, after) {
  const steps = before.map((step) => [...step]);
  for (const [move, outcome] of after) {
    if (move === null && steps.length && steps.at(-1)[1] === null) steps.at(-1)[1] = outcome;
    else steps.push([move, outcome]);
  }
  return steps;
}

/** The one cube that stands elsewhere now: {side, from, to}; null if it is not one. */
export function difference(before, after) {
  if (!before.cubes) return null; // another game
  const gone = Object.keys(before.cubes).filter((name) => name in after.cubes && before.cubes[name].join() !== after.cubes[name].join());
  if (gone.length !== 1) return null;
  const [name] = gone;
  return { side: name[0] === "r" ? "red" : "blue", from: before.cubes[name], to: after.cubes[name] };
}

const walked = new Map(); // "notation move" -> position after it

/** The steps of a line from a position on: moves, or what chance does. [{side, from, to, position}] */
export async function walk(position, moves) {
  const steps = [];
  for (const move of moves) {
    const key = `${position.notation} ${move}`;
    if (!walked.has(key)) {
      const what = position.is_chance ? { outcome: move } : { move };
      walked.set(key, (await post("/api/play", { game: position.game, position: position.notation, ...what })).position);
      if (walked.size > 500) walked.delete(walked.keys().next().value);
    }
    const next = walked.get(key);
    const step = position.is_chance || move.startsWith("=") ? {} : { side: position.turn, from: position.cubes[position.turn[0] + move.slice(0, -1)], to: position.targets[move] };
    steps.push({ ...step, position: next });
    position = next;
  }
  return steps;
}
