// A game as it is played: its steps, undo and redo. Every position comes from the server.
import * as address from "./address.js";
import { post } from "./api.js";

const MAX_QUEUE = 16; // moves that wait for an answer

/**
 * A position of a game, and the move and the outcome of chance that led to it. A pasted game has notations only.
 * @typedef {{move?: string|null, outcome?: string|null, reward?: number, notation: string, turn?: string,
 *   position?: any, rng?: string|null}} Step
 * @typedef {{name: string, start: Step, steps: Step[], at: number}} Whole
 */

const stepOf = ([move, outcome, reward, notation]) => ({ move: move || null, outcome, reward, notation });

/** A game: its start, its steps, and `at`, how many of them are made in the position that is shown. */
export class Game {
  #queue = [];
  #running = null;

  /** `onChange({kind, motion, outcome, before})` is called when another position is shown. */
  constructor(onChange = (_) => {}) {
    this.onChange = onChange;
    this.name = "";
    /** @type {Step|null} */
    this.start = null;
    /** @type {Step[]} */
    this.steps = [];
    this.at = 0;
    this.position = null;
    this.rng = null;
    this.manualChance = false; // chance acts by `roll` only, not with a move
    this.epoch = 0; // an answer to a request of an earlier epoch is ignored
  }

  /** Drop the moves that wait, and the answer that is under way. */
  interrupt() {
    this.#queue = [];
    return ++this.epoch;
  }

  /** Show a position as the first of a game: {game, position?, red?, blue?, die?} as /api/position takes it. False if
   * something else was shown meanwhile. */
  async open(request, kind = "jump") {
    const epoch = this.interrupt();
    const { position, rng } = await post("/api/position", request);
    if (epoch !== this.epoch) return false;
    this.begin(position, rng, kind);
    return true;
  }

  begin(position, rng, kind = "jump") {
    this.name = position.game;
    this.start = { notation: position.notation, turn: position.turn, position, rng };
    this.steps = [];
    this.#show(0, this.start, { kind });
  }

  /** Show a whole game, at step `at`; its start may be a notation. */
  async load({ name, start, steps, at = steps.length }) {
    const epoch = this.interrupt();
    if (typeof start === "string") {
      const { position, rng } = await post("/api/position", { game: name, position: start });
      if (epoch !== this.epoch) return;
      start = { notation: position.notation, turn: position.turn, position, rng };
    }
    Object.assign(this, { name, start, steps });
    await this.go(at, "jump");
  }

  /** Show what /api/read made of a text. */
  async loadText({ kind, game, position, start, steps }) {
    if (kind === "position") return this.open({ game, position: position.notation });
    const made = steps.map(stepOf);
    const first = made[0]?.move === null ? made.shift().notation : start; // chance acts before the first move
    return this.load({ name: game, start: first, steps: made });
  }

  /** @returns {Whole} all of it, for `load` */
  get whole() {
    return { name: this.name, start: this.start, steps: this.steps, at: this.at };
  }

  get legal() {
    return this.position?.legal_moves ?? [];
  }

  /** Play a move. If an answer is under way it waits, except a repetition by a held key: that must not go on
   * after the key is released. */
  play(move, repeats = false) {
    return repeats && this.#running ? this.#running : this.#enqueue(() => this.#play(move));
  }

  /** Apply chance: an outcome, or a random one. */
  roll(outcome = null) {
    return this.#enqueue(() => this.#roll(outcome));
  }

  #enqueue(action) {
    if (this.#queue.length < MAX_QUEUE) this.#queue.push(action);
    this.#running ??= this.#drain().finally(() => { this.#running = null; });
    return this.#running;
  }

  async #drain() {
    try {
      while (this.#queue.length) await this.#queue.shift()();
    } catch (error) {
      this.#queue = [];
      throw error;
    }
  }

  async #play(move) {
    if (!this.legal.includes(move)) return;
    const answer = await this.#ask({ move, ...(this.manualChance ? {} : { rng: this.rng }) });
    if (!answer) return;
    const before = this.position;
    this.#add([{ move, outcome: answer.outcome, reward: answer.reward, ...this.#stateOf(answer) }]);
    this.#show(this.steps.length, this.steps.at(-1), { kind: "move", before, ...answer });
  }

  async #roll(outcome) {
    if (!this.position?.is_chance) return;
    const answer = await this.#ask(outcome ? { outcome } : { rng: this.rng });
    if (!answer) return;
    this.#merge({ outcome: answer.outcome, ...this.#stateOf(answer) });
    this.#show(this.at, this.#step(this.at), { kind: "roll", outcome: answer.outcome });
  }

  async #ask(request) {
    const { epoch } = this;
    const answer = await post("/api/play", { game: this.name, position: this.position.notation, ...request });
    return epoch === this.epoch ? answer : null;
  }

  #stateOf({ position, rng }) {
    return { notation: position.notation, position, rng: rng ?? this.rng };
  }

  /** Add the outcome of chance to the step, or the start, that is shown. */
  #merge(change) {
    if (this.at) this.steps = [...this.steps.slice(0, this.at - 1), { ...this.steps[this.at - 1], ...change }];
    else Object.assign(this, { start: { ...this.start, ...change }, steps: [] });
  }

  /** Add the steps that agents made: a frame of a `play` job. */
  follow({ steps, position, rng, motion }) {
    const made = steps.map(stepOf), last = made.at(-1), before = this.position;
    Object.assign(last, { position, rng });
    if (made[0].move === null) { // chance only
      const { move, reward, ...rolled } = made.shift();
      this.#merge(rolled);
    }
    this.#add(made);
    const change = { kind: "follow", before, motion, outcome: last.outcome, many: made.length !== 1 };
    this.#show(this.at + made.length, last, change);
  }

  #add(steps) {
    if (this.at < this.steps.length) this.steps = this.steps.slice(0, this.at); // another future
    this.steps.push(...steps);
  }

  /** The step before (-1) or after (1) the one shown whose position is as wanted; -1: there is none. */
  find(way, wanted = null) {
    for (let at = this.at + way; at >= 0 && at <= this.steps.length; at += way) {
      const { position } = this.#step(at);
      if (!wanted || (position && wanted(position))) return at;
    }
    return -1;
  }

  /** Show the position after `at` steps. */
  async go(at, kind = "turn") {
    const epoch = this.interrupt(), step = this.#step(at);
    if (!step.position || !step.rng) {
      Object.assign(step, await post("/api/position", { game: this.name, position: step.notation }));
      if (epoch !== this.epoch) return;
    }
    this.#show(at, step, { kind });
  }

  #step(at) {
    return at ? this.steps[at - 1] : this.start;
  }

  #show(at, step, change) {
    this.at = at;
    this.position = step.position;
    this.rng = step.rng;
    this.onChange(change);
  }
}

/** Keeps the games of a visit by the entries of the browser's history, so that Back and a reload find them. */
export class Visit {
  #key = null;
  #games = new Map();

  /** `state()` is what the address says of the page. */
  constructor(game, state) {
    this.game = game;
    this.state = state;
    addEventListener("pagehide", () => this.#store());
  }

  /** Let the address say what is shown; `jump`: the back button leads to what was shown before. */
  remember(jump = false) {
    if (!this.game.position) return;
    const first = this.#key === null;
    if (first || jump) this.#key = (first && history.state?.key) || `${Date.now()}-${this.#games.size}`;
    (jump && !first ? address.push : address.replace)(this.state(), { key: this.#key });
    this.#games.set(this.#key, this.game.whole);
  }

  /** The game of an entry of the history, by what `remember` put there; null if there is none. */
  recall(memory) {
    this.#key = memory?.key ?? this.#key;
    if (!memory?.key) return null;
    try {
      return this.#games.get(memory.key) ?? JSON.parse(sessionStorage.getItem(`tuplet-${memory.key}`));
    } catch {
      return null;
    }
  }

  #store() {
    if (!this.game.steps.length) return;
    const { name, start, steps, at } = this.game.whole;
    const bare = steps.map(({ move, outcome, reward, notation }) => ({ move, outcome, reward, notation }));
    try {
      sessionStorage.setItem(`tuplet-${this.#key}`, JSON.stringify({ name, start, steps: bare, at }));
    } catch { /* too long, or not allowed: the address has the position */ }
  }
}
