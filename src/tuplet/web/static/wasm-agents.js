// Agents without a server, and what they say of a position: the loops of agents/learned.py and agents/searchers.py
// around the kernels that value and search.
import { Tree } from "./wasm-tree.js";
import { MOVES, Problem, decimal, grouped, quoted, splitSettings, splitSpec } from "./wasm-text.js";

const SLICE = 0.03; // seconds of a search until messages are read
const FOREVER = 1e9;
const NEVER = 2n ** 63n - 1n; // in place of a number of simulations
const NO_MOVE = 255, SIMS = 20_000, STEP = 1.12;
const FINAL = ["rate", "visits", "lower"];
const GOOD = 0.01, BAD = 0.05, EQUAL = 1e-9; // shares of a value: games/analysis.py
const LIMITS = { time: 60, depth: 6, sims: 10_000_000, nodes: 1_000_000, batch: 10_000 }; // web/limits.py

export const now = () => performance.now() / 1000;

/** The legal move of the highest value, the first of equals; null if none has a value. */
function bestOf(moves) {
  let best = null;
  for (const each of moves) if (each.value !== null && (best === null || each.value > best.value)) best = each;
  return best?.move ?? null;
}

/** Add how much each move gives up, in a game that counts points. */
function withLosses(moves) {
  const valued = moves.filter((each) => each.value !== null);
  const top = valued.length ? Math.max(...valued.map((each) => each.value)) : 0;
  for (const each of valued) {
    each.loss = top - each.value;
    const share = each.loss <= EQUAL * Math.abs(top) ? 0 : top ? Math.min(1, each.loss / Math.abs(top)) : 1;
    each.band = !share ? "best" : share < GOOD ? "good" : share > BAD ? "bad" : "inaccurate";
  }
  return moves;
}

const check = (name, value) => {
  if (value !== null && value > LIMITS[name]) {
    const text = name === "time" ? decimal : grouped;
    throw new Problem(`${name} must be at most ${text(LIMITS[name])} over the network (got ${text(value)})`);
  }
};

/** A setting's value from its text, by its type (system/settings.py). */
function valueOf({ name, type, choices }, text, spec) {
  const either = (all) => `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`;
  if (type === "choice" && name !== "ucb") {
    if (choices.includes(text)) return text;
    throw new Problem(`${spec}: ${name} must be ${either(choices)} (got ${quoted(text)})`);
  }
  if (type === "bool") {
    if (["yes", "no"].includes(text)) return text === "yes";
    throw new Problem(`${spec}: ${name} must be yes or no (got ${quoted(text)})`);
  }
  if (type !== "int" && type !== "float") return text;
  const what = type === "float" ? "a number" : "a whole number";
  const number = type === "int" && !/^[+-]?\d+$/.test(text) ? NaN : text === "" ? NaN : Number(text);
  if (Number.isNaN(number)) throw new Problem(`${spec}: ${name} must be ${what} (got ${quoted(text)})`);
  if (!(number >= 0 && number <= 1e18)) throw new Problem(`${spec}: ${name} must be ${what}, 0 or more (got ${text})`);
  return number;
}

/** A random legal move. */
class RandomAgent {
  parts; name; settings; chosen;

  constructor(parts, name) {
    Object.assign(this, { parts, name, settings: {}, interrupted: false, chosen: null });
  }

  open(state) {
    this.state = state;
  }

  async choose(position) {
    const moves = position.legalMoves, [state, bits] = this.parts.draw({ state: this.state });
    this.state = state;
    this.chosen = moves[Number(((bits >> 32n) * BigInt(moves.length)) >> 32n)];
    return this.chosen;
  }

  analysis(position) {
    const { chosen } = this, legal = position.legalMoves, others = legal.filter((move) => move !== chosen);
    if (position.game.players === 1) {
      const moves = MOVES.map((move) => (legal.includes(move)
        ? { move, legal: true, reward: Number(position.afterStates[move][2]), value: null }
        : { move, legal: false, reward: 0, value: null }));
      return { best: chosen, moves };
    }
    const moves = [chosen, ...others].map((move) => ({ move, value: null, visits: null, ci95: null, proven: false }));
    return { best: chosen, moves, line: [], note: `${this.name} says only what it would play.` };
  }
}

/** A network's values, and how far it looks ahead. */
class LearnedAgent {
  parts; name; network; depth; time; spawn4; exponent;

  constructor(parts, name, network, { depth = null, time = null, downgrade = null, spawn4 = null }) {
    depth ??= time === null ? 1 : 63;
    if (!(depth >= 1 && depth <= 63)) throw new Problem(`depth must be 1 to 63 (got ${depth})`);
    if (time !== null && !(time > 0)) throw new Problem(`time must be more than 0 seconds (got ${time})`);
    if (time === null) check("depth", depth);
    check("time", time);
    const exponent = downgrade === null ? 0 : Math.log2(downgrade);
    if (downgrade !== null && !(Number.isInteger(exponent) && exponent >= 3 && exponent <= 17)) {
      throw new Problem(`downgrade must be a tile from 8 to 131072 (got ${downgrade})`);
    }
    Object.assign(this, { parts, name, network, depth, time, spawn4: spawn4 ?? network.spawn4, exponent });
    this.learned = true;
    this.interrupted = false;
    const settings = { depth, time, downgrade, spawn4: this.spawn4 };
    this.settings = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
  }

  open() { /* nothing is random */ }

  #search(position, depth, seconds) {
    const { kernels } = this.parts, { rows, columns } = position.game;
    if (rows !== 4 || columns !== 4) throw new Problem(`this network is for 4x4 boards (got ${rows}x${columns})`);
    const { rules } = this.parts.sized(4, 4, this.spawn4), { work } = this.network;
    if (depth > 1) for (const table of [work.nodes, work.leaves]) kernels.items(table).fill(0);
    const values = { ...this.network.leaves, limit: BigInt(this.exponent),
      margin: this.time === null ? Infinity : this.parts.facts.margin };
    const reached = this.network.search({ rules, leaf_values: values, board: position.low, high: position.high,
      depth, seconds });
    const rewards = kernels.items(work.root_rewards), found = kernels.items(work.root_values);
    const moves = MOVES.map((move, i) => (Number.isNaN(found[i]) ? { move, legal: false, reward: 0, value: null }
      : { move, legal: true, reward: Number(rewards[i]), value: found[i] }));
    return { reached, moves };
  }

  async choose(position) {
    return bestOf(this.#search(position, this.depth, this.time ?? Infinity).moves);
  }

  /** Watch it look further and further ahead. */
  async watch(position, control) {
    for (let depth = 1; depth < this.depth && this.time === null && !control.stopped(); depth++) {
      control.update(this.analysis(position, depth));
      await control.pause();
    }
    const analysis = this.analysis(position, control.stopped() ? 1 : this.depth);
    if (control.stopped() && analysis.depth < this.depth) analysis.interrupted = true;
    return analysis;
  }

  analysis(position, depth = this.depth) {
    const { reached, moves } = this.#search(position, depth, Math.min(this.time ?? Infinity, FOREVER));
    const why = this.#why(position);
    if (reached > 1) {
      why["looking ahead"] = Object.fromEntries(moves.filter((each) => each.value !== null).map((each) =>
        [each.move, each.value - each.reward - Object.values(why).reduce((sum, part) => sum + part[each.move], 0)]));
    }
    const analysis = { best: bestOf(moves), moves: withLosses(moves), depth: reached };
    if (Object.keys(why).length) analysis.why = why;
    return analysis;
  }

  /** The contribution of each tuple to the value of each legal move. */
  #why(position) {
    const why = {};
    for (const [move, [low, high]] of Object.entries(position.afterStates)) {
      for (const { cells, value } of this.explain(low, high)) (why[cells] ??= {})[move] = this.network.gamma * value;
    }
    return why;
  }

  /** What each tuple says of a board: {cells, value, weights}. */
  explain(low, high) {
    const { network, parts: { kernels } } = this;
    const limit = BigInt(this.exponent);
    const [board, top] = limit ? network.downgrade({ board: low, high, limit }) : [low, high];
    network.locate({ board: network.view({ board, high: top }) });
    const indices = kernels.items(network.indices), weights = kernels.items(network.leaves.tables.weights);
    return network.tuples.map(({ cells }, t) => {
      const own = Array.from({ length: 8 }, (_, i) => weights[Number(indices[8 * t + i])]);
      return { cells, value: own.reduce((sum, weight) => sum + weight, 0), weights: own };
    });
  }
}

/** Monte-Carlo tree search. */
class Mcts {
  growth = null;
  /** @type {any} */
  all;

  constructor(parts, game, name, declared, spec, text) {
    this.parts = parts;
    this.name = spec;
    this.interrupted = false;
    this.growsTree = true;
    const given = splitSettings(text, spec);
    this.given = {};
    for (const [key, value] of Object.entries(given)) {
      const setting = declared.find((each) => each.name === key);
      if (!setting) {
        throw new Problem(`${spec}: '${key}=${value}' is not a setting; there are `
          + `${declared.map((each) => each.name).join(", ")}`);
      }
      this.given[key] = valueOf(setting, value, spec);
    }
    this.all = { ...Object.fromEntries(declared.map((each) => [each.name, each.default])), ...this.given };
    const estimates = this.all.cutoff === 0; // no random games
    this.all.batch ??= estimates ? 1 : 25;
    this.all.final ??= estimates ? "visits" : "rate";
    if (name === "mcs" && !("expand" in given)) this.all.expand = null; // never
    else this.all.expand ??= estimates ? 0 : 200;
    const { ucb, sims, time, batch, nodes, mix } = this.all;
    if (sims === 0) throw new Problem(`${spec}: sims must be 1 or more (got 0)`);
    if (time === 0) throw new Problem(`${spec}: time must be more than 0 seconds (got 0)`);
    if (!(batch >= 1 && batch <= 1_000_000)) {
      throw new Problem(`${spec}: batch must be 1 to 1,000,000 simulations (got ${grouped(batch)})`);
    }
    if (!(mix >= 0 && mix <= 1)) throw new Problem(`${spec}: mix must be 0 to 1 (got ${mix})`);
    if (!(nodes >= 1000 && nodes <= 200_000_000)) {
      throw new Problem(`${spec}: nodes must be 1,000 to 200,000,000 (got ${grouped(nodes)})`);
    }
    const { bandits } = parts.facts;
    if (!(ucb in bandits)) {
      throw new Problem(`${spec}: ucb must be one of ${Object.keys(bandits).join(", ")} without a server `
        + `(got ${quoted(ucb)})`);
    }
    if (this.all.descent_k !== null) throw new Problem(`${spec}: descent_k needs tuplet serve`);
    this.ucb = ucb;
    this.bandit = { ...bandits[ucb] };
    for (const key of ["c", "c1", "c2", "k"]) {
      const value = this.all[key];
      if (value === null || value === undefined) continue;
      if (!(key in bandits[ucb])) {
        const has = Object.keys(bandits[ucb]).join(" and ") || "no settings";
        throw new Problem(`${spec}: ${ucb} has no ${key}: it has ${has}`);
      }
      this.bandit[key] = value;
    }
    for (const key of ["time", "sims", "nodes", "batch"]) check(key, this.all[key]);
    this.most = sims ?? (time === null ? SIMS : null);
    const others = ["ucb", "c", "c1", "c2", "k", "descent_k"];
    const rest = Object.fromEntries(Object.entries(this.all).filter(([key]) => !others.includes(key)));
    if (time === null) rest.sims = this.most;
    const settings = { ucb: this.ucb, ...this.bandit, ...rest };
    this.settings = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null && value !== ""));
  }

  open(state) {
    this.state = state;
    this.rules = null; // of the tree
  }

  close() {
    this.tree?.close();
    this.tree = null;
  }

  #bind(rules) {
    const { all, parts } = this;
    this.tree ??= new Tree(parts, all.nodes);
    const options = { bandit: this.bandit, batch: all.batch, expand: all.expand ?? NEVER, rich: all.results === "rich",
      shortcuts: all.shortcuts, solver: all.solver, unit: 1, stop: parts.never,
      cutoff: all.cutoff ?? NEVER, mix: all.mix };
    this.tree.bind(rules, this.ucb, options);
  }

  /** The move to play; `control.update(analysis)` is called as the search grows, if it is there. */
  async choose(position, control) {
    const { all } = this, { rules } = position.ruled;
    if (this.rules !== rules) this.#bind(rules);
    const { tree } = this;
    if (!(all.reuse && this.rules === rules && tree.reroot(position.words))) tree.reset(position.words);
    this.rules = rules;
    const obvious = all.shortcuts ? tree.obvious(position.words) : NO_MOVE;
    const most = obvious === NO_MOVE ? this.most ?? NEVER : all.batch; // enough for an analysis
    const final = FINAL.indexOf(all.final), limit = all.time ?? Infinity;
    let began = now(), updated = 0;
    for (;;) {
      const used = now() - began, seconds = Math.max(Math.min(limit - used, SLICE), 0);
      const due = this.growth ? Math.min(this.growth.due, Number(most)) : most;
      this.state = tree.search(due === Infinity ? NEVER : due, seconds, this.state);
      const count = tree.simulations;
      let done = count >= most || tree.isProven;
      this.interrupted = control.stopped() && !done;
      done ||= used + seconds >= limit || this.interrupted;
      if (this.growth && (done || count >= due)) this.growth.add(count, tree.rootMoves(0, String));
      if (done) break;
      if (this.growth && now() - updated < SLICE) continue; // a sample was due, not the time
      const before = now();
      if (control.update) {
        this.chosen = tree.choose(final, -1, 0n);
        this.seconds = before - began;
        control.update(this.analysis(position));
      }
      await control.pause();
      updated = now();
      began += updated - before; // the time of others does not count
    }
    const [state, bits] = this.parts.draw({ state: this.state });
    this.state = state;
    this.chosen = tree.choose(final, all.final_k ?? -1, bits);
    if (obvious !== NO_MOVE) this.chosen = tree.children(0).find((node) => tree.move(node) === obvious);
    this.seconds = now() - began;
    return position.moveText(tree.move(this.chosen));
  }

  analysis(position) {
    const { tree } = this, text = (move) => position.moveText(move);
    const line = tree.mainLine(this.chosen, text), { simulations, used, isFull } = tree;
    const planned = this.interrupted && this.most !== null ? ` of ${grouped(this.most)}` : "";
    const analysis = { best: line[0], moves: tree.rootMoves(this.chosen, text), line,
      note: `${grouped(simulations)}${planned} simulations in ${this.seconds.toFixed(2)} s, ${grouped(used)} nodes`
        + `${isFull ? ", tree full" : ""}` };
    if (this.interrupted) analysis.interrupted = true;
    return analysis;
  }
}

/** Visits and values of each move, sampled during a search (games/search_history.py). */
export class Growth {
  simulations = [];
  moves = new Map();

  get due() {
    return this.simulations.length ? Math.trunc(this.simulations.at(-1) * STEP) + 1 : 1;
  }

  add(simulations, moves) {
    if (this.simulations.length && simulations <= this.simulations.at(-1)) return;
    this.simulations.push(simulations);
    for (const { move, visits, value, ci95, proven } of moves) {
      if (!this.moves.has(move)) this.moves.set(move, { visits: [], value: [], ci95: [], proven: [] });
      const history = this.moves.get(move);
      history.visits.push(visits);
      history.value.push(value);
      history.ci95.push(ci95);
      history.proven.push(proven);
    }
  }

  json(text) {
    const moves = [...this.moves].map(([code, history]) => [text(Number(code)), history]);
    moves.sort((one, other) => other[1].visits.at(-1) - one[1].visits.at(-1));
    return { simulations: this.simulations, moves: Object.fromEntries(moves) };
  }
}

/** The agent that a text names, in a game.
 * @returns {Promise<any>} */
export async function makeAgent(parts, spec, game, options = {}) {
  const list = parts.agents(game), [name, text] = splitSpec(spec || list.default);
  const declared = list.agents.find((each) => each.agent === name);
  if (!declared) {
    const names = list.agents.map((each) => each.agent).join(", ");
    throw new Problem(`${quoted(spec)} needs tuplet serve: without a server the agents of ${game.name} are ${names}`);
  }
  const configured = ["depth", "time", "downgrade"].some((key) => (options[key] ?? null) !== null);
  if (declared.learned) {
    if (text) throw new Problem(`${name} has no settings`);
    return new LearnedAgent(parts, name, await parts.network(name), options);
  }
  if (game.players === 2 && configured) {
    throw new Problem(`depth, time and downgrade are of 2048; for ${game.name} say mcts:time=2`);
  }
  if (configured) throw new Problem(`${name} has no --depth, --time or --downgrade: leave them out`);
  if (declared.grows_tree) return new Mcts(parts, game, name, declared.settings, spec || list.default, text);
  if (text) throw new Problem(`${name} has no settings`);
  return new RandomAgent(parts, name);
}
