// A network of EWN that learns by self-play: the loops of learn/training.py and learn/game_play.py around its kernels.

import { GameEwn } from "./wasm-ewn.js";

const CHUNK = 100; // games of a call (learn/game_play.py)

export class LearnerEwn {
  games = 0;
  kernels; facts; settings; stream; board;
  #run; #match; #points; #results;
  #evaluated = 0; // games that were learned from at the last evaluation
  #played = null; // points of the evaluation under way

  /** `facts` are those of the build (web/site.py), `settings` whole: learner, alpha, lambda, seed. */
  constructor(kernels, facts, settings) {
    Object.assign(this, { kernels, facts: facts.ewn, settings });
    const { weights } = this.facts, memory = facts.learners[settings.learner].memory_per_weight * weights;
    const tables = { ...kernels.value("tables"), weights: kernels.array("float32", weights),
      memory: kernels.array("float32", Math.max(memory, 1)) };
    this.board = new GameEwn({ kernels, draw: kernels.bind("draw", {}) }, { ...this.facts.game, value: "rules" });
    const shared = { rules: this.board.rulesFor().rules, tables, rewarded: false, work: kernels.value("work"),
      scratch: kernels.value("scratch") };
    this.#results = kernels.value("results");
    this.#points = kernels.array("float64", CHUNK);
    this.stream = kernels.bind("stream", {});
    this.#run = kernels.bind(`learn_${settings.learner}`, { ...shared, seed: BigInt(settings.seed),
      results: this.#results, at: 0 });
    this.#match = kernels.bind("play_match", { ...shared, gamma: 1, playouts: this.facts.playouts,
      points: this.#points });
  }

  get #due() {
    return Math.floor(this.games / this.facts.every) > Math.floor(this.#evaluated / this.facts.every);
  }

  /** Learn from the next games, or play some of an evaluation that is due: {lengths, diverged, evaluation}. */
  play(most = Infinity) {
    if (this.#due || this.#played) return { lengths: [], diverged: false, evaluation: this.#evaluate() };
    const { kernels, settings: { alpha, lambda }, facts: { ahead, explore, opening } } = this;
    const games = Math.min(CHUNK - this.games % CHUNK, most - this.games), results = this.#results;
    const hyper = { rule: {}, alpha, gamma: 1, lam: lambda, ahead, explore, opening };
    this.#run({ hyper, start: this.#start(this.#unlike(), this.games), first: this.games, games });
    this.games += games;
    const first = (array) => Float64Array.from(kernels.items(array).subarray(0, games), Number);
    return { lengths: first(results.lengths), evaluation: null,
      diverged: !first(results.errors).every((error) => Number.isFinite(error)) };
  }

  /** A seed that is not that of the games. */
  #unlike() {
    return BigInt.asUintN(64, ~BigInt(this.settings.seed));
  }

  /** The position that a chunk of games starts from; kernels vary it further. */
  #start(seed, first) {
    const [, position] = this.board.initial(this.stream({ seed, number: BigInt(first) }));
    return position.words;
  }

  /** Games of an evaluation; its result after the last. The seed is that of learn/self_play.py. */
  #evaluate() {
    const { kernels, facts, games: learned } = this;
    this.#played ??= [];
    const own = this.stream({ seed: this.#unlike(), number: BigInt(learned) }), first = this.#played.length;
    this.#match({ seed: own, start: this.#start(own, first), first, games: CHUNK });
    this.#played.push(...kernels.items(this.#points));
    if (this.#played.length < facts.games) return null;
    const points = this.#played;
    this.#played = null;
    this.#evaluated = learned;
    return { learned, points };
  }

  change(settings) {
    this.settings = { ...this.settings, ...settings };
  }

  game() {
    throw new Error("games of EWN are shown with tuplet serve only");
  }
}
