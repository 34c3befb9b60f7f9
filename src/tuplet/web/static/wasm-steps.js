// One game of 2048 and what is learned from it, step by step, without a server (learn/steps.py). The game is played and
// learned from by kernels, which write every number into a recording; here it becomes JSON.
import { Position2048 } from "./wasm-2048.js";
import { MOVES, Problem, grouped, quoted } from "./wasm-text.js";

const MOST_KEPT = 8; // networks that have learned

const reprOf = (text) => (typeof text === "string" ? quoted(text) : String(text));

/** The answers to /api/learning-steps. */
export class LearningSteps {
  rules; work; results; stream; opening;
  #parts;
  #kernels;
  #facts;
  #nets = new Map(); // by net and learner: tables, recording, kernels
  #learned = new Map(); // copies of weights and memory

  static async open(parts) {
    const steps = new LearningSteps();
    steps.#parts = parts;
    steps.#kernels = await parts.modules.kernels("learn");
    steps.#facts = parts.facts.steps;
    const kernels = steps.#kernels, table = kernels.array("uint64", 1 << 16);
    [steps.stream, steps.opening] = ["stream", "opening"].map((name) => kernels.bind(name, {}));
    kernels.bind("fill_table", { table })({ length: 4 });
    steps.rules = { across: table, down: table, rows: 4, columns: 4, cells: BigInt(parts.facts.cells["4x4"]), fours: 0n,
      start: 0n };
    steps.work = kernels.value("learning");
    steps.results = kernels.value("results");
    return steps;
  }

  /** The tables and the recording of a network, in the kernels' memory. */
  #network(net, learner) {
    const key = `${net} ${learner}`;
    if (!this.#nets.has(key)) {
      const kernels = this.#kernels, { weights } = this.#facts.nets[net];
      const memory = weights * this.#facts.learners[learner].memory_per_weight;
      const tables = { ...kernels.value(`tables ${net}`), weights: kernels.array("float32", weights),
        memory: kernels.array("float32", Math.max(memory, 1)) };
      this.#nets.set(key, { tables, record: kernels.value(`recording ${net}`),
        afterstate: kernels.bind(`learn_${learner}`, { tables, work: this.work, results: this.results, at: 0 }),
        state: kernels.bind(`learn_${learner}_states`, { tables, work: this.work, results: this.results, at: 0 }),
        play: kernels.bind(`steps_${learner}`, { tables }) });
    }
    return this.#nets.get(key);
  }

  /** Let a network have learned from some games: those of before are remembered. */
  #prepare(network, { net, learner, target, spawn4, games }) {
    const kernels = this.#kernels, { tables } = network;
    const key = JSON.stringify([net, learner, target, spawn4, games]);
    const parts = () => [kernels.items(tables.weights), kernels.items(tables.memory)];
    const known = this.#learned.get(key);
    if (known) {
      parts().forEach((part, i) => part.set(known[i]));
      return;
    }
    parts().forEach((part) => part.fill(0));
    const { alpha, lam } = this.#facts.learners[learner], { chunk } = this.#facts;
    const hyper = { rule: {}, alpha, gamma: 1, forward: false, lam, steps: 1, restart: false };
    for (let first = 0; first < games; first += chunk) {
      network[target]({ rules: this.rules, hyper, seed: 0n, first, games: Math.min(chunk, games - first) });
    }
    this.#learned.set(key, parts().map((part) => part.slice()));
    if (this.#learned.size > MOST_KEPT) this.#learned.delete(this.#learned.keys().next().value);
  }

  answer({ net = "5x4", board = null, moves = "", last = this.#facts.last, at = -1, games = 0, seed = 0,
    learner = "td", target = "afterstate", order = "backward", alpha = null, lam = null, spawn4 = 0.1 }) {
    const asked = { net, last, games, seed, learner, target, order, alpha, lam, spawn4 };
    this.#check(asked);
    const facts = this.#facts.learners[learner];
    const rate = alpha ?? facts.alpha, lambda = lam ?? (order === "backward" ? facts.lam : 0);
    this.rules.fours = BigInt(Math.round(spawn4 * 2 ** 32));
    const game = this.#parts.sized(4, 4, spawn4);
    let state = this.stream({ seed: BigInt(seed), number: BigInt(games) }), start;
    if (board !== null) start = this.#parts.game("2048").parse(board);
    else {
      const [next, low] = this.opening({ rules: this.rules, state });
      [state, start] = [next, new Position2048(game, low, 0n)];
    }
    if (!start.tiles.some(Boolean)) throw new Problem("the board is empty: a game begins with two tiles");
    if (!Object.keys(start.afterStates).length) {
      throw new Problem("no move is legal on this board: the game is over");
    }
    const given = [...moves].map((letter) => {
      const move = MOVES.findIndex((each) => each.startsWith(letter.toLowerCase()));
      if (move < 0) throw new Problem(`${quoted(letter)} is not a move: up, right, down or left (or 0, 1, 2, 3)`);
      return move;
    });
    const network = this.#network(net, learner), kernels = this.#kernels, shown = Math.max(last, 2);
    this.#prepare(network, asked);
    const record = Object.fromEntries(Object.entries(network.record).map(([name, array]) => {
      const [length, ...rest] = array.shape;
      return [name, length === this.#facts.most.last ? { ...array, shape: [shown, ...rest] } : array];
    }));
    kernels.items(record.moves).set(given);
    const hyper = { rule: {}, alpha: rate, gamma: 1, forward: order === "forward", lam: lambda, steps: 1,
      restart: false };
    const count = network.play({ rules: this.rules, hyper, states: target === "state",
      per_weight: facts.memory_per_weight, board: start.low, high: start.high, state, given: given.length, record });
    if (count < 0) throw new Problem(`move ${-count} (${MOVES[given[-1 - count]]}) changes nothing on its board`);
    const read = new Reader(kernels, record, game, this.#facts.nets[net].tuples, learner, target);
    const first = Math.max(count - shown, 0), detail = at < 0 ? Math.max(at + count, first) : at;
    if (detail < first || detail >= count) {
      throw new Problem(`at must be the number of a move that is shown, ${first} to ${count - 1} (got ${at})`);
    }
    const steps = Array.from({ length: count - first }, (_, i) => ({ ...read.step(first + i),
      ...(first + i === detail ? read.detail(detail) : {}) }));
    return { net, tuples: this.#facts.nets[net].tuples, learner, target, order, alpha: rate, lam: lambda, spawn4, games,
      seed, start: start.tiles, end: read.end, score: read.score(count), played: read.played(count), steps };
  }

  #check({ net, last, games, seed, learner, target, order, alpha, lam, spawn4 }) {
    const { most, nets } = this.#facts;
    const range = (name, value, low, high, text) => {
      if (!(value >= low && value <= high)) throw new Problem(`${name} must be ${text} (got ${value})`);
    };
    for (const [name, value] of Object.entries({ games, last })) {
      if (value > most[name]) {
        throw new Problem(`${name} must be at most ${grouped(most[name])} over the network (got ${grouped(value)})`);
      }
    }
    if (!(net in nets)) {
      throw new Problem(`${quoted(net)} needs tuplet serve: without a server the networks are `
        + Object.keys(nets).join(", "));
    }
    if (!(learner in this.#facts.learners)) throw new Problem(`learner must be td or tc (got ${reprOf(learner)})`);
    range("last", last, 1, Infinity, "1 to 1,000 moves");
    range("games", games, 0, Infinity, "0 to 100,000");
    range("seed", seed, 0, Infinity, "0 to 2^63 - 1");
    if (!["afterstate", "state"].includes(target)) {
      throw new Problem(`target must be afterstate or state (got ${reprOf(target)})`);
    }
    if (alpha !== null && !(alpha > 0 && alpha <= 1)) {
      throw new Problem(`alpha must be a number above 0, at most 1 (got ${alpha})`);
    }
    if (lam !== null) range("lam", lam, 0, 1, "a number from 0 to 1");
    if (!["backward", "forward"].includes(order)) {
      throw new Problem(`order must be backward or forward (got ${reprOf(order)})`);
    }
    range("spawn4", spawn4, 0, 1, "0 to 1");
    if (order === "forward" && lam) {
      throw new Problem("--lambda needs backward updates: leave out --order forward, or use --steps");
    }
  }
}

/** A recording (learn/step_kernels.py) as plain values. */
class Reader {
  #arrays;
  #game;
  #tuples;
  #learner;
  #target;
  #n;

  constructor(kernels, record, game, tuples, learner, target) {
    this.#arrays = Object.fromEntries(Object.entries(record).map(([name, array]) =>
      [name, [kernels.items(array), array.shape]]));
    [this.#game, this.#tuples, this.#learner, this.#target] = [game, tuples, learner, target];
    this.#n = record.boards.shape[0];
  }

  /** An item of an array, or the items from there on: at("entries", slot, j, 0, 1). */
  #at(name, ...where) {
    const [items, shape] = this.#arrays[name];
    return items[shape.reduce((place, length, i) => place * length + (where[i] ?? 0), 0)];
  }

  #position(name, ...where) {
    return new Position2048(this.#game, this.#at(name, ...where, 0), this.#at(name, ...where, 1), 0, true);
  }

  get end() {
    return this.#position("last").tiles;
  }

  played(count) {
    return Array.from(this.#arrays.moves[0].subarray(0, count), (move) => MOVES[move][0]).join("");
  }

  score(count) {
    return this.#arrays.rewards[0].subarray(0, count).reduce((sum, each) => sum + each, 0);
  }

  step(number) {
    const slot = number % this.#n, move = this.#at("moves", number);
    const [before, target, following, updated] = [0, 1, 2, 3].map((part) => this.#at("changes", slot, part));
    const tiles = new Position2048(this.#game, this.#at("spawned", slot), 0n).tiles, cell = tiles.findIndex(Boolean);
    return { number, tiles: this.#position("boards", slot).tiles, move: MOVES[move],
      reward: this.#at("gains", slot, move), after: this.#position("after", slot, move).tiles,
      outcome: `${tiles[cell]}@${cell}`, before, target, following, error: Math.fround(target - before), updated };
  }

  detail(number) {
    const slot = number % this.#n, learned = this.#target === "state" ? this.#position("boards", slot)
      : this.#position("after", slot, this.#at("moves", number));
    return { best: MOVES[Number(this.#at("best", slot))], choices: MOVES.map((move, i) => this.#choice(slot, move, i)),
      look_ups: this.#lookUps(slot, learned.tiles) };
  }

  #choice(slot, move, i) {
    const after = this.#position("after", slot, i), value = this.#at("values", slot, i), legal = !Number.isNaN(value);
    const outcomes = legal && this.#target === "state" ? Object.entries(after.outcomes) : [];
    return { move, legal, reward: this.#at("gains", slot, i), tiles: after.tiles, value: legal ? value : null,
      sum: legal ? this.#at("sums", slot, i) : null,
      outcomes: outcomes.map(([outcome, probability]) => {
        const [tile, cell] = outcome.split("@").map(Number);
        return { outcome, probability, value: this.#at("next_values", slot, i, cell, tile === 4 ? 1 : 0) };
      }) };
  }

  #lookUps(slot, tiles) {
    const all = this.#tuples.flatMap((placed, tuple) =>
      placed.map((cells, placement) => ({ tuple, placement, cells })));
    const indices = all.map((_, j) => this.#at("indices", slot, j));
    return all.map(({ tuple, placement, cells }, j) => {
      const entry = (when, part) => this.#at("entries", slot, j, when, part);
      return { tuple, placement, tiles: cells.map((cell) => tiles[cell]), index: Number(this.#at("numbers", slot, j)),
        times: indices.filter((each) => each === indices[j]).length, before: entry(0, 0), after: entry(1, 0),
        rate: this.#at("rates", slot, j),
        ...(this.#learner === "tc" ? { sums: [entry(0, 1), entry(0, 2), entry(1, 1), entry(1, 2)] } : {}) };
    });
  }
}
