// A network of 2048 that learns: the loops of learn/training.py around the kernels that play and learn. In a worker of
// its own (wasm-learn-worker.js), and in Node.

const CHUNK = 25; // games of a call (learn/self_play.py): the same games are learned from in the same order
const DIVERGED = 1; // the place in `tally` (learn/td.py)
const MOVES = ["up", "right", "down", "left"];

/** Numbers of a network's weights and its learner's memory, in bytes. */
export const bytesOf = ({ nets, learners, ewn }, { game, net, learner }) =>
  4 * (game === "ewn" ? ewn : nets[net]).weights * (1 + learners[learner].memory_per_weight);

/** The place of the largest value, the first of equals; -1 if all are NaN: there is no legal move. */
const bestOf = (values) => values.reduce((best, value, i) => (value > (values[best] ?? -Infinity) ? i : best), -1);

export class Learner {
  games = 0;
  kernels; facts; settings; slide; spawn; opening; view; draw; stream;
  #run;
  #value;
  #tables;

  /** `facts` are those of the build (web/site.py), `settings` whole: net, learner, target, alpha, lambda, order, spawn4
   * and seed. */
  constructor(kernels, facts, settings) {
    Object.assign(this, { kernels, facts, settings });
    this.rules = kernels.value("rules");
    kernels.bind("fill_table", { table: this.rules.across })({ length: 4 });
    this.rules.down = this.rules.across;
    this.work = kernels.value("learning");
    this.results = kernels.value("results");
    this.rewards = kernels.array("uint64", 4);
    this.values = kernels.array("float32", 4);
    for (const name of ["slide", "spawn", "opening", "view", "draw", "stream"]) this[name] = kernels.bind(name, {});
    this.#open();
    this.#bind();
  }

  #open() {
    const { kernels, facts, settings: { net, learner } } = this, { weights } = facts.nets[net];
    const memory = facts.learners[learner].memory_per_weight * weights;
    this.#tables = { ...kernels.value(`net ${net}`), weights: kernels.array("float32", weights),
      memory: kernels.array("float32", Math.max(memory, 1)) };
  }

  #bind() {
    const { kernels, rules, work, results, settings: { learner, target } } = this;
    const name = target === "state" ? `learn_${learner}_states` : `learn_${learner}`;
    this.#run = kernels.bind(name, { rules, tables: this.#tables, work, results, at: 0 });
    this.#value = kernels.bind("move_values", { tables: this.#tables, states: target === "state", gamma: 1,
      rewards: this.rewards, values: this.values });
  }

  #call(first, games, changed = {}) {
    const { alpha, lambda, order, spawn4, seed } = { ...this.settings, ...changed };
    this.rules.fours = BigInt(Math.round(spawn4 * 2 ** 32));
    const hyper = { rule: {}, alpha, gamma: 1, forward: order === "forward", lam: lambda, steps: 1, restart: false };
    this.#run({ rules: this.rules, hyper, seed: BigInt(seed), first, games });
  }

  /** Learn from the next games, up to a multiple of CHUNK: {scores, tiles (exponents), lengths, diverged}. */
  play(most = Infinity) {
    const games = Math.min(CHUNK - this.games % CHUNK, most - this.games), { kernels, results, work } = this;
    kernels.items(work.tally).fill(0n);
    this.#call(this.games, games);
    this.games += games;
    const first = (array, kind) => kind.from(kernels.items(array).subarray(0, games), Number);
    return { scores: first(results.scores, Float64Array), tiles: first(results.tiles, Uint8Array),
      lengths: first(results.lengths, Float64Array), diverged: kernels.items(work.tally)[DIVERGED] > 0n };
  }

  /** Go on with another alpha, share of fours, or more tuples, whose weights are 0: no board's value changes. */
  change(settings) {
    const { net } = this.settings, before = this.#tables, { kernels, facts } = this;
    this.settings = { ...this.settings, ...settings };
    if (this.settings.net !== net) {
      this.#open();
      for (const [tuple, from] of Object.entries(facts.nets[net].tables)) {
        const to = facts.nets[this.settings.net].tables[tuple], count = 16 ** tuple.length;
        for (const part of ["weights", "memory"]) {
          const per = part === "weights" ? 1 : facts.learners[this.settings.learner].memory_per_weight;
          const old = kernels.items(before[part]).subarray(per * from, per * (from + count));
          kernels.items(this.#tables[part]).set(old, per * to);
        }
      }
      kernels.forget(before);
      this.#bind();
    }
  }

  /** A game of the player as it is now: the first board, the moves with the tiles that appeared, score and tile. */
  game(seed) {
    const { kernels, rules } = this, random = BigInt(seed);
    this.rules.fours = BigInt(Math.round(this.settings.spawn4 * 2 ** 32));
    let [rng, board] = this.opening({ rules, state: this.stream({ seed: random, number: 0n }) }), high = 0n, score = 0;
    const start = board, steps = [];
    for (;;) {
      this.#value({ rules, board, high });
      const values = kernels.items(this.values), best = bestOf(values);
      if (best < 0) break;
      const [low, top, reward] = this.slide({ rules, board, high, move: best });
      const [next, bits] = this.draw({ state: rng });
      const spawned = this.spawn({ rules, board: low, high: top, bits }), added = BigInt(spawned) ^ BigInt(low);
      const cell = Array.from({ length: 16 }, (_, i) => i).find((i) => (added >> BigInt(4 * i)) & 15n);
      steps.push([MOVES[best], `${1n << (added >> BigInt(4 * cell))}@${cell}`]);
      [rng, board, high, score] = [next, spawned, top, score + Number(reward)];
    }
    const tiles = Array.from({ length: 16 }, (_, i) => (start >> BigInt(4 * i)) & 15n)
      .map((exponent) => (exponent ? String(1n << exponent) : "0"));
    const rows = [0, 4, 8, 12].map((first) => tiles.slice(first, first + 4).join(","));
    const tile = Math.max(...Array.from({ length: 16 }, (_, i) => BigInt(4 * i)).map((shift) =>
      Number((board >> shift) & 15n) + 16 * Number((high >> shift) & 1n)));
    return { start: `${rows.join("/")} 0`, steps, score, tile: 2 ** tile };
  }
}
