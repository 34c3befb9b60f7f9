// A game as it is played: positions, undo and redo. Every position comes from the server.
import { post } from "./api.js";

const WAITING = 16; // moves that may wait for an answer

/** A game: where it started, its steps {move, outcome, reward, notation, position?, rng?}, and which of
 * its positions is seen. `onChange({kind, motion, outcome, before})` is called when that is another. */
export class Session {
  #waiting = [];
  #running = false;
  #epoch = 0; // jumps: an answer from before one is no longer wanted

  constructor(onChange) {
    this.onChange = onChange;
    this.game = "2048";
    this.start = null; // {position, rng}
    this.steps = [];
    this.at = 0; // steps made by what is seen
    this.position = null;
    this.rng = null;
    this.youPlace = false; // the player says where tiles appear
  }

  /** A first position of a game, or a given one. */
  async open(game, notation = null, kind = "jump") {
    const epoch = this.#jump();
    const found = await post("/api/position", notation ? { game, position: notation } : { game });
    if (epoch !== this.#epoch) return;
    this.game = game;
    this.start = found;
    this.steps = [];
    this.#see(0, found, { kind });
  }

  /** A whole game, as pasted or as it was before; seen at step `at`. */
  async load({ game, start, steps, at }) {
    const epoch = this.#jump();
    const first = typeof start === "string" ? await post("/api/position", { game, position: start }) : start;
    if (epoch !== this.#epoch) return;
    [this.game, this.start, this.steps] = [game, first, steps];
    await this.go(at ?? steps.length, true);
  }

  /** All of it, to be loaded again. */
  get whole() {
    return { game: this.game, start: this.start, steps: this.steps, at: this.at };
  }

  get legal() {
    return this.position?.legal_moves ?? [];
  }

  /** Make a move. While an answer is under way it waits, unless a held key `repeats` it: that must not
   * run on after the key is let go. */
  move(move, repeats = false) {
    if (repeats && this.#running) return undefined;
    if (this.#waiting.length < WAITING) this.#waiting.push(() => this.#made(move));
    return this.#run();
  }

  /** Let a tile appear where one is due: 2@5, or by chance. */
  place(outcome = null) {
    if (this.#waiting.length < WAITING) this.#waiting.push(() => this.#placed(outcome));
    return this.#run();
  }

  async #run() {
    if (this.#running) return undefined;
    this.#running = true;
    try {
      while (this.#waiting.length) await this.#waiting.shift()();
    } catch (error) {
      this.#waiting = [];
      throw error;
    } finally {
      this.#running = false;
    }
    return undefined;
  }

  async #made(move) {
    if (!this.legal.includes(move)) return;
    const epoch = this.#epoch;
    const before = this.position;
    const request = { game: this.game, position: before.notation, move };
    if (!this.youPlace) request.rng = this.rng;
    const found = await post("/api/play", request);
    if (epoch !== this.#epoch) return;
    this.#add([{
      move, outcome: found.outcome, reward: found.reward, notation: found.position.notation,
      position: found.position, rng: found.rng ?? this.rng,
    }]);
    this.#see(this.steps.length, this.steps.at(-1), { kind: "move", before, ...found });
  }

  async #placed(outcome) {
    if (!this.position?.is_chance) return;
    const epoch = this.#epoch;
    const before = this.position;
    const request = { game: this.game, position: before.notation };
    if (outcome) request.outcome = outcome;
    else request.rng = this.rng;
    const found = await post("/api/play", request);
    if (epoch !== this.#epoch) return;
    const step = { ...(this.at ? this.steps[this.at - 1] : {}), outcome: found.outcome,
      notation: found.position.notation, position: found.position, rng: found.rng ?? this.rng };
    if (this.at) {
      this.steps = [...this.steps.slice(0, this.at - 1), step];
      this.#see(this.at, step, { kind: "place", before, outcome: found.outcome });
    } else {
      this.start = { position: found.position, rng: step.rng };
      this.#see(0, this.start, { kind: "place", before, outcome: found.outcome });
    }
  }

  /** Steps that an agent made: a frame of the socket. */
  follow(frame) {
    const before = this.position;
    const steps = frame.steps.map(([move, outcome, reward, notation]) => ({ move, outcome, reward, notation }));
    if (!steps.length) return;
    if (steps[0].move === null && this.at) { // only a tile appeared: it belongs to the move before
      const { move, reward } = this.steps[this.at - 1];
      Object.assign(steps[0], { move, reward });
      this.steps = this.steps.slice(0, --this.at);
    } else if (steps[0].move === null) {
      this.start = steps.shift();
      if (!steps.length) {
        Object.assign(this.start, { position: frame.position, rng: frame.rng });
        this.#see(0, this.start, { kind: "jump" });
        return;
      }
    }
    Object.assign(steps.at(-1), { position: frame.position, rng: frame.rng });
    this.#add(steps);
    this.#see(this.steps.length, steps.at(-1), { kind: "follow", before, motion: frame.motion,
      outcome: steps.at(-1).outcome, many: steps.length > 1 });
  }

  undo() { return this.at > 0 ? this.go(this.at - 1) : undefined; }
  redo() { return this.at < this.steps.length ? this.go(this.at + 1) : undefined; }

  /** See the position after so many steps. */
  async go(at, loading = false) {
    const epoch = this.#jump();
    const here = at === 0 ? this.start : this.steps[at - 1];
    if (!here.position || !here.rng) {
      const found = await post("/api/position", { game: this.game, position: here.notation ?? here.position.notation });
      if (epoch !== this.#epoch) return;
      Object.assign(here, found);
    }
    this.#see(at, here, { kind: loading ? "jump" : "turn" });
  }

  #jump() {
    this.#waiting = [];
    return ++this.#epoch;
  }

  #add(steps) {
    if (this.at < this.steps.length) this.steps = this.steps.slice(0, this.at); // another future
    this.steps.push(...steps);
  }

  #see(at, { position, rng }, change) {
    [this.at, this.position, this.rng] = [at, position, rng];
    this.onChange(change);
  }
}

/** The text of a board's tiles, row by row, in the game's notation. */
export function notationOf(game, tiles, columns, score) {
  const rows = [];
  for (let at = 0; at < tiles.length; at += columns) rows.push(tiles.slice(at, at + columns).join(","));
  return `${game} ${rows.join("/")} ${score}`;
}

/** Whether a game is one of this page. */
export const isOurs = (game) => /^2048(:|$)/.test(game);

/** "2048:board=3x3,spawn4=0.2" -> {board: "3x3", spawn4: "0.2"}, and back. */
export function rulesOf(game) {
  const given = Object.fromEntries((game.split(":")[1] ?? "").split(",").filter(Boolean).map((part) => part.split("=")));
  return { board: given.board ?? "4x4", spawn4: given.spawn4 ?? "0.1" };
}

export function gameOf({ board, spawn4 }) {
  const settings = [board === "4x4" ? "" : `board=${board}`, Number(spawn4) === 0.1 ? "" : `spawn4=${Number(spawn4)}`].filter(Boolean);
  return settings.length ? `2048:${settings.join(",")}` : "2048";
}

/** Keep a game beyond a reload, under the name of an entry of the browser's history; and have it back. */
export function store(name, { game, start, steps, at }) {
  const bare = steps.map(({ move, outcome, reward, notation }) => ({ move, outcome, reward, notation }));
  try {
    sessionStorage.setItem(`tuplet-${name}`, JSON.stringify({ game, start, steps: bare, at }));
  } catch { /* too long, or not allowed: the address has the position */ }
}

export function stored(name) {
  try {
    return name ? JSON.parse(sessionStorage.getItem(`tuplet-${name}`)) : null;
  } catch {
    return null;
  }
}
