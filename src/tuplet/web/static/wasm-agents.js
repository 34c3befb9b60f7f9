// Agents without a server, and what they say of a position: the loops of agents/learned.py and agents/searchers.py
// around the kernels that value and search.
import { Tree } from "./wasm-tree.js";
import { AlphaBeta, Baseline, onlyChoice } from "./wasm-alphabeta.js";
import { bandOf, lostShare } from "./wasm-bands.js";
import { LOOKAHEAD, check, readSettings } from "./wasm-settings.js";
import { MOVES, Problem, grouped, now, quoted, splitSpec } from "./wasm-text.js";

const SLICE = 0.03; // seconds of a search until messages are read
const GROWTH = 1.5, SHORT = 2; // of slices; searches that are short enough without
const STOPPED = 1; // of the clock of a search of 2048, after the deadline
const FOREVER = 1e9;
const NEVER = 2n ** 63n - 1n; // in place of a number of simulations
const NO_MOVE = 255, SIMS = 20_000, STEP = 1.12;
const FINAL = ["rate", "visits", "lower"];

/** The control of a search that nobody watches or stops. */
export const IDLE = { stopped: () => false, pause: () => new Promise((resolve) => { setTimeout(resolve); }) };

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
    each.band = bandOf(lostShare(each.loss, top));
  }
  return moves;
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
    const { chosen } = this, legal = position.legalMoves;
    if (position.game.players === 1) {
      const moves = MOVES.map((move) => (legal.includes(move)
        ? { move, legal: true, reward: Number(position.afterStates[move][2]), value: null }
        : { move, legal: false, reward: 0, value: null }));
      return { best: chosen, moves };
    }
    return onlyChoice(position, chosen, this.name);
  }
}

/** A network's values, and how far it looks ahead. */
class LearnedAgent {
  parts; name; network; depth; time; spawn4; exponent;
  #own = null;
  #last = null; // the values of the position that a move was chosen in

  constructor(parts, name, network, { depth = null, time = null, downgrade = null, spawn4 = null }) {
    depth ??= time === null ? 1 : 63;
    if (!(depth >= 1 && depth <= 63)) throw new Problem(`depth must be 1 to 63 (got ${depth})`);
    if (time !== null && !(time > 0)) throw new Problem(`time must be more than 0 seconds (got ${time})`);
    if (time === null) check("depth", depth, LOOKAHEAD);
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

  close() {
    if (this.#own) this.parts.kernels.forget(this.#own.work);
    this.#own = null;
  }

  /** The search and its memory. One that pauses has memory of its own: others may run meanwhile. */
  #searching(pauses) {
    if (!pauses) return this.network;
    this.#own ??= this.network.another();
    return this.#own;
  }

  /** The values of the moves, `depth` moves ahead, or as far as `seconds` allow: {reached, moves}. A long search runs
   * in slices, between which messages are read; with its tables it goes on about where it was stopped. */
  async #search(position, depth, seconds, control) {
    const pauses = depth > SHORT;
    const { work, search } = this.#searching(pauses), asked = this.#asked(position, work, depth);
    let slice = SLICE, left = seconds;
    /** @type {any} */
    let best = null;
    for (;;) {
      const began = now(), reached = search({ ...asked, depth, seconds: pauses ? Math.min(slice, left) : left });
      left -= now() - began;
      if (!best || reached >= best.reached) best = { reached, moves: this.#moves(work) };
      if (reached >= depth || left <= 0) return best;
      await control.pause();
      if (control.stopped()) return { ...best, interrupted: true };
      slice *= GROWTH;
    }
  }

  /** What a search is called with; its tables are emptied. */
  #asked(position, work, depth) {
    const { kernels } = this.parts, { rows, columns } = position.game;
    if (rows !== 4 || columns !== 4) throw new Problem(`this network is for 4x4 boards (got ${rows}x${columns})`);
    if (depth > 1) for (const table of [work.nodes, work.leaves]) kernels.items(table).fill(0);
    return { rules: this.parts.sized(4, 4, this.spawn4).rules, board: position.low, high: position.high,
      leaf_values: { ...this.network.leaves, limit: BigInt(this.exponent),
        margin: this.time === null ? Infinity : this.parts.facts.margin } };
  }

  #moves(work) {
    const { kernels } = this.parts;
    const rewards = kernels.items(work.root_rewards), found = kernels.items(work.root_values);
    return MOVES.map((move, i) => (Number.isNaN(found[i]) ? { move, legal: false, reward: 0, value: null }
      : { move, legal: true, reward: Number(rewards[i]), value: found[i] }));
  }

  async choose(position, control = IDLE) {
    this.#last = { position, ...await this.#search(position, this.depth, this.time ?? FOREVER, control) };
    return bestOf(this.#last.moves);
  }

  /** Each move with its value, which includes its reward: {reached, moves}. */
  values(position, control, depth = null) {
    return this.#search(position, depth ?? this.depth, depth === null ? this.time ?? FOREVER : FOREVER, control);
  }

  /** The expected value of an after-state over all tiles, and the depth it was searched to. */
  async expected(after, control) {
    const { work, expect } = this.#searching(true), asked = this.#asked(after, work, 2);
    const clock = () => this.parts.kernels.items(work.clock), until = now() + (this.time ?? Infinity);
    let value = 0, reached = 0;
    for (let depth = this.time === null ? this.depth : 1; depth <= this.depth; depth++) {
      for (let slice = SLICE; ; slice *= GROWTH) {
        clock().set([Math.min(until, now() + slice), 0]); // the deadline, and whether it has stopped
        const found = expect({ ...asked, left: depth });
        if (!clock()[STOPPED]) {
          [value, reached] = [found, depth];
          break;
        }
        await control.pause();
        if (now() > until || control.stopped()) return [value, reached];
      }
    }
    return [value, reached];
  }

  /** Watch it look further and further ahead. */
  async watch(position, control) {
    for (let depth = 1; depth < this.depth && this.time === null && !control.stopped(); depth++) {
      control.update(await this.analysis(position, depth, control));
      await control.pause();
    }
    return this.analysis(position, control.stopped() ? 1 : this.depth, control);
  }

  async analysis(position, depth = this.depth, control = IDLE) {
    const known = this.#last?.position === position && depth === this.depth;
    const { reached, moves } = known ? this.#last : await this.#search(position, depth, this.time ?? FOREVER, control);
    const why = this.#why(position);
    if (reached > 1) {
      why["looking ahead"] = Object.fromEntries(moves.filter((each) => each.value !== null).map((each) =>
        [each.move, each.value - each.reward - Object.values(why).reduce((sum, part) => sum + part[each.move], 0)]));
    }
    const analysis = { best: bestOf(moves), moves: withLosses(moves), depth: reached };
    if (Object.keys(why).length) analysis.why = why;
    if (control.stopped() && reached < this.depth) analysis.interrupted = true;
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
  parts; network; kernels;
  never = null;
  growth = null;
  /** @type {any} */
  all;

  constructor(parts, name, declared, spec, text, searches, network) {
    Object.assign(this, { parts, network, kernels: network ? searches.kernels : parts.kernels });
    this.name = spec;
    this.interrupted = false;
    this.growsTree = true;
    const given = readSettings(declared, spec, text);
    this.all = { ...Object.fromEntries(declared.map((each) => [each.name, each.default])), ...given };
    if (this.all.values) this.all.cutoff ??= 0;
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
    const [first] = Object.keys(bandits);
    if (network && ucb !== first) {
      throw new Problem(`${spec}: with learned values ucb must be ${first} without a server (got ${quoted(ucb)})`);
    }
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

  #bind(position, rules) {
    const { all, kernels, network, parts } = this;
    this.tree ??= new Tree(kernels, all.nodes, parts.facts.tree_nodes);
    this.never ??= kernels === parts.kernels ? parts.never : kernels.array("bool", 1);
    const options = { bandit: this.bandit, batch: all.batch, expand: all.expand ?? NEVER, rich: all.results === "rich",
      shortcuts: all.shortcuts, solver: all.solver, unit: 1, stop: this.never,
      cutoff: all.cutoff ?? NEVER, mix: all.mix };
    this.tree.bind(rules, network ? { rules, ...network.valued } : rules, this.ucb, options, position.calls);
  }

  /** The move to play; `control.update(analysis)` is called as the search grows, if it is there. */
  async choose(position, control) {
    const { all } = this, { ruled, game } = position;
    const rules = this.network ? game.rulesIn(this.kernels, ruled) : ruled.rules;
    if (this.rules !== rules) this.#bind(position, rules);
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
  if (declared.settings.length) {
    const given = readSettings(declared.settings, spec || list.default, text);
    const usual = name === "best" && parts.facts.networks[game.name] ? game.name : "";
    const values = given.values || usual, needed = !declared.grows_tree || values;
    const searches = needed ? await parts.ewn() : null, network = values ? await searches.network(values, game) : null;
    const Search = declared.grows_tree ? Mcts : AlphaBeta;
    return new Search(parts, name, declared.settings, spec || list.default, text, searches, network);
  }
  if (text) throw new Problem(`${name} has no settings`);
  if (name in (game.baselines ?? {})) return new Baseline(await parts.ewn(), name);
  return new RandomAgent(parts, name);
}
