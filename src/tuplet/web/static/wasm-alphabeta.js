// Alpha-beta of EWN without a server, expectimax where the die is rolled: the loops of agents/searchers.py and
// agents/best.py around kernels of the module "ewn", and the networks whose values they take.
import { check, readSettings } from "./wasm-settings.js";
import { Problem, grouped, now } from "./wasm-text.js";

const NODES = 0, STOPPED = 1, PROVEN = 4; // counters of a search
const MOST_NODES = 1, REDUCES = 2; // its limits
const DEEPEST = 100, UPDATE = 0.03, DEFAULT_TIME = 1, PROOF_NODES = 1_000_000;
const OTHERS_BITS = 12, PROOF_BITS = 18; // tables for the values of all moves, and for proofs
const UNLIMITED = 2 ** 62;
// A search blocks the worker. So it is stopped after this many positions, messages are read, and it goes on with what
// its table holds.
const FIRST_SLICE = 200_000, SLICE = 50_000, GROWTH = 1.25;

/** The kernels of the module "ewn", and networks by name. */
export class EwnSearches {
  parts; kernels;
  #networks = new Map();

  constructor(parts, kernels) {
    Object.assign(this, { parts, kernels });
    this.codes = kernels.array("uint8", 128);
    this.values = kernels.array("float64", 128);
    this.proven = kernels.array("bool", 128);
  }

  /** The memory of a search, with a table of 2^bits entries. */
  workspace(bits, reduces = false) {
    const listed = this.parts.facts.table_entries;
    const work = this.kernels.value("work", (length) => (length === listed ? 2 ** bits : length));
    this.kernels.items(work.limits)[REDUCES] = Number(reduces);
    return work;
  }

  /** The network whose values a game's players take. */
  network(name, game) {
    const known = this.parts.facts.networks[name];
    if (!known?.game) throw new Problem(`values=${name} needs tuplet serve: this page has no other values`);
    if (known.game !== game.name) throw new Problem(`${name} holds values of ${known.game}, not of ${game.name}`);
    if (!this.#networks.has(name)) {
      const loading = this.#open(name, known);
      loading.catch(() => this.#networks.delete(name));
      this.#networks.set(name, loading);
    }
    return this.#networks.get(name);
  }

  async #open(name, facts) {
    const { kernels } = this, { tables, scratch } = kernels.value(`values ${name}`);
    await this.parts.modules.fillWeights(name, facts, kernels, tables.weights);
    return new EwnNetwork(kernels, facts, { tables, scratch });
  }
}

class EwnNetwork {
  kernels; facts; valued;

  constructor(kernels, facts, valued) {
    Object.assign(this, { kernels, facts, valued });
  }

  /** What each tuple and feature adds to each move's log-odds of winning: part -> move -> value. */
  explainMoves(position, rules) {
    const why = {}, { kernels, facts: { parts }, valued: { tables, scratch } } = this;
    const locate = kernels.bind("value", { rules, tables, scratch });
    for (const move of position.legalMoves) {
      const after = position.play(move);
      if (after.over) continue;
      locate({ position: after.words });
      const indices = kernels.items(scratch.indices), weights = kernels.items(tables.weights);
      let at = 0;
      for (const [name, count] of parts) {
        let sum = 0;
        for (const end = at + count; at < end; at++) sum += weights[indices[at]];
        (why[name] ??= {})[move] = after.turn === position.turn ? sum : -sum;
      }
    }
    return why;
  }
}

/** `alphabeta` and `best`. */
export class AlphaBeta {
  parts; searches; network; name; kernels; deepest;
  rules = null;
  root = null; // the words of the position that was searched
  depths = []; // of a search that is watched
  found = { move: 0, value: 0, depth: 0, proven: false };
  nodes = 0;
  seconds = 0;
  interrupted = false;
  /** @type {any} */
  all;

  constructor(parts, name, declared, spec, text, searches, network) {
    Object.assign(this, { parts, searches, network, name: spec, kernels: searches.kernels });
    const given = readSettings(declared, spec, text);
    this.all = { ...Object.fromEntries(declared.map((each) => [each.name, each.default])), ...given };
    const { depth, time, nodes, table } = this.all;
    if (depth !== null && !(depth >= 1 && depth < DEEPEST)) {
      throw new Problem(`${spec}: depth must be 1 to ${DEEPEST - 1} (got ${depth})`);
    }
    if (time === 0) throw new Problem(`${spec}: time must be more than 0 seconds (got 0)`);
    if (nodes !== null && nodes < 1) throw new Problem(`${spec}: nodes must be 1 or more (got ${nodes})`);
    if (!(table >= 2 && table <= 28)) {
      throw new Problem(`${spec}: table must be 2 to 28, for 2^table entries (got ${table})`);
    }
    for (const key of ["time", "depth", "table"]) check(key, this.all[key]);
    if (network) this.all.values ||= network.facts.game;
    this.unlimited = depth === null && time === null && nodes === null;
    this.limit = name === "best" && this.unlimited ? DEFAULT_TIME : time;
  }

  /** Every setting, including defaults; the depth depends on the position. */
  settingsAt(position) {
    const usual = () => (this.limit === null ? { depth: this.#usualDepth(position) } : { time: this.limit });
    const limits = this.unlimited ? usual() : {};
    return Object.fromEntries(Object.entries({ ...this.all, ...limits })
      .filter(([, value]) => value !== null && value !== ""));
  }

  get settings() {
    return this.all;
  }

  open() { // a game: forget the last one
    if (!this.work) return;
    this.kernels.items(this.work.table).fill(0);
    this.kernels.items(this.work.history).fill(0n);
    this.root = null;
  }

  close() {
    this.kernels.forget(this.work);
    this.work = null;
  }

  #usualDepth(position) {
    const game = position.game.rulesIn(this.kernels, position.ruled);
    return this.kernels.bind("meets_chance", { game })({ position: position.words }) ? 4 : 10;
  }

  #bind(rules) {
    const { kernels, network, searches, all } = this, { codes, values, proven } = searches;
    this.work ??= searches.workspace(all.table, all.reduce);
    if (this.rules && this.rules !== rules) this.open(); // the table holds values of other rules
    this.rules = rules;
    const game = network ? { rules, ...network.valued } : rules, kind = network ? "_valued" : "";
    this.deepen = kernels.bind(`deepen${kind}`, { game, work: this.work });
    this.moveValues = (work) => kernels.bind(`move_values${kind}`, { game, work, moves: codes, values, proven });
  }

  /** The move to play; `control.update(analysis)` is called after each depth, if it is there. */
  async choose(position, control) {
    const rules = position.game.rulesIn(this.kernels, position.ruled);
    if (this.rules !== rules) this.#bind(rules);
    const { words } = position, usual = this.unlimited && this.limit === null;
    this.deepest = usual ? this.#usualDepth(position) : this.all.depth ?? DEEPEST - 1;
    if (!this.root || this.root.some((word, i) => word !== words[i])) {
      Object.assign(this, { nodes: 0, seconds: 0, depths: [] });
      this.found = { ...this.found, depth: 0 };
    }
    this.root = words;
    this.spent = 0;
    this.left = this.limit ?? Infinity;
    let updated = 0;
    for (let depth = 1; depth < this.deepest && control.update; depth++) {
      if (!await this.#search(words, depth, control, true)) return position.moveText(this.found.move);
      const { value, proven } = this.found;
      this.depths.push({ depth, value, proven, line: this.#line() });
      if (now() - updated < UPDATE) continue;
      control.update(this.analysis(position));
      await control.pause();
      updated = now();
    }
    await this.#search(words, this.deepest, control, Boolean(control.update));
    return position.moveText(this.found.move);
  }

  /** Search up to a depth, in slices; false if a deeper search makes no sense. */
  async #search(position, deepest, control, watched) {
    const { kernels, work } = this, most = this.all.nodes ?? UNLIMITED;
    for (let slice = FIRST_SLICE; ; slice = Math.max(SLICE, slice * GROWTH)) {
      const began = now(), size = Math.max(Math.min(most - this.spent, Math.round(slice)), 0);
      const seconds = Math.max(this.left, 0);
      const [move, value, depth] = this.deepen({ position, deepest, seconds, most_nodes: size });
      const used = now() - began, counters = kernels.items(work.counters), nodes = Number(counters[NODES]);
      const stopped = counters[STOPPED] !== 0n;
      this.nodes += nodes;
      this.spent += nodes;
      this.seconds += used;
      this.left -= used;
      // A slice may end, and a search be stopped, before it has reached the depth of the one before.
      const worse = stopped && depth < this.found.depth && (watched || slice !== FIRST_SLICE);
      if (!worse) this.found = { move: Number(move), value, depth, proven: counters[PROVEN] !== 0n };
      if (!stopped || this.left <= 0 || this.spent >= most) {
        this.interrupted = false;
        return !(stopped || this.found.proven);
      }
      await control.pause();
      this.interrupted = control.stopped();
      if (this.interrupted) return false;
    }
  }

  /** The principal variation, from the move that is played. */
  #line() {
    const { kernels, work, searches: { codes }, found: { move, depth } } = this;
    const line = { ...codes, shape: [Math.max(depth, 1)] };
    const length = kernels.bind("main_line", { game: this.rules, table: work.table, line })(
      { position: this.root, move });
    return [...kernels.items(codes).subarray(0, Number(length))];
  }

  analysis(position) {
    const { found, network, searches } = this, [low, high] = position.game.range;
    const text = (code) => position.moveText(code);
    const shallow = Math.max(Math.min(found.depth, this.#usualDepth(position)), 1);
    const work = searches.workspace(OTHERS_BITS);
    const count = this.moveValues(work)({ position: this.root, depth: shallow });
    const codes = [...this.kernels.items(searches.codes).subarray(0, Number(count))];
    const all = this.kernels.items(searches.values), proofs = this.kernels.items(searches.proven);
    const values = new Map(codes.map((code, i) => [code, [all[i], proofs[i] !== 0]]));
    this.kernels.forget(work);
    values.set(found.move, [found.value, found.proven]);
    if (found.proven) { // no other move is better, whatever its value at less depth
      for (const [code, [value, proven]] of values) {
        values.set(code, [Math.min(value, found.value), proven || found.value === low]);
      }
    }
    const scaled = (value) => (value - low) / (high - low);
    const ordered = [...values].sort(([one, [a]], [other, [b]]) =>
      Number(one !== found.move) - Number(other !== found.move) || b - a);
    const decided = ordered.filter(([, [value, proven]]) => proven && (value === low || value === high));
    const lengths = this.#movesLeft(position, decided.map(([code, [value]]) => [code, value === high]));
    const moves = ordered.map(([code, [value, proven]]) => ({ move: text(code), value: scaled(value), visits: null,
      ci95: null, proven, ...lengths.has(code) ? { ends_in: lengths.get(code) } : {} }));
    const planned = this.interrupted && this.limit === null ? ` of ${this.deepest}` : "";
    const others = codes.length > 1 ? `; other moves at depth ${shallow}` : "", line = this.#line().map(text);
    const why = network ? network.explainMoves(position, this.rules) : {};
    /** @type {any} */
    const analysis = { best: line[0], moves, depth: found.depth, line,
      note: `depth ${found.depth}${planned}, ${grouped(this.nodes)} nodes in ${this.seconds.toFixed(2)} s${others}` };
    if (codes.length > 1 && shallow < found.depth) analysis.other_depth = shallow;
    if (Object.keys(why).length) analysis.why = why;
    if (this.interrupted) analysis.interrupted = true;
    if (this.depths.length) {
      analysis.depths = this.depths.map((each) => ({ ...each, value: scaled(each.value), line: each.line.map(text) }));
    }
    return analysis;
  }

  /** How many moves a game lasts after moves that win or lose, these included, where that is found quickly. */
  #movesLeft(position, decided) {
    const lengths = new Map();
    if (!decided.length) return lengths;
    const { kernels, searches } = this, work = searches.workspace(PROOF_BITS);
    kernels.items(work.limits)[MOST_NODES] = Math.max(this.nodes, PROOF_NODES);
    const count = kernels.bind("moves_to_win", { game: this.rules, work });
    const mover = position.game.sides.indexOf(position.turn);
    for (const [move, wins] of decided) {
      const length = Number(count({ position: this.root, move, of: wins ? mover : 1 - mover }));
      if (!length) break;
      lengths.set(move, length);
    }
    kernels.forget(work);
    return lengths;
  }
}

/** The course's `normal` and `hard` (agents/baselines.py). */
export class Baseline {
  kernels; name; chosen;
  settings = {};
  interrupted = false;

  constructor({ kernels }, name) {
    Object.assign(this, { kernels, name });
  }

  open() { /* nothing is random */ }

  async choose(position) {
    const game = position.game.rulesIn(this.kernels, position.ruled), { words, game: { baselines } } = position;
    const move = this.kernels.bind("baseline_move", { game })({ position: words, depth: baselines[this.name] });
    this.chosen = position.moveText(Number(move));
    return this.chosen;
  }

  analysis(position) {
    return onlyChoice(position, this.chosen, this.name);
  }
}

/** What an agent without values says: what it would play. */
export function onlyChoice(position, chosen, name) {
  const moves = [chosen, ...position.legalMoves.filter((move) => move !== chosen)];
  return { best: chosen, moves: moves.map((move) => ({ move, value: null, visits: null, ci95: null, proven: false })),
    line: [], note: `${name} says only what it would play.` };
}
