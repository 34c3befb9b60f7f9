// A search step by step, without a server: what search/steps.py does around the kernels of the search.
import { Problem, grouped, quoted } from "./wasm-text.js";

const COMPARED = ["ucb1", "tuned", "puct"], MOST_STEPS = 1000, NODES = 100_000, MOST_MOVES = 48, PLAYED = 512;
const MEAN = 0, VARIANCE = 1, PRIOR = 2, SHARE = 3, EXPLORATION = 4, WORTH = 5, COLUMNS = 6; // of a bandit's terms
const CHANCE = 2, UNPROVEN = 2, DRAWN = 3, NO_NODE = -1, NO_STEP = -1, ROOT = 0;
const USED = 0, SIMULATIONS = 1, FULL = 2; // counters
const NEVER = 2n ** 63n - 1n;

/** The trees of searches, one after the other, in the same memory. */
export class SearchSteps {
  parts; kernels; tree; terms; moves; played; game; root; options; ucb; bandits;

  constructor(parts) {
    const { kernels, facts } = parts;
    const tree = kernels.value("tree", (length) => (length === facts.tree_nodes ? NODES : length));
    Object.assign(this, { parts, kernels, tree, terms: kernels.array("float64", MOST_MOVES, COLUMNS),
      moves: kernels.array("uint8", 128), played: kernels.array("int32", PLAYED, 2) });
    const given = { tree, terms: this.terms, moves: this.moves, played: this.played };
    this.calls = Object.fromEntries(["reset", "record_playout", "set_priors", "spread", "probability",
      ...COMPARED.flatMap((name) => [`search_${name}`, `descend_${name}`, `terms_${name}`])]
      .map((name) => [name, kernels.bind(name, given)]));
  }

  /** The answer to /api/search-steps. */
  answer({ game, position, ucb = "tuned", c = null, c1 = null, c2 = null, k = null, batch = 1, expand = 4,
    solver = true, shortcuts = true, first = 0, last = 100, seed = 0 }) {
    const played = this.parts.game(game), root = played.parse(position);
    if (played.players !== 2) {
      throw new Problem(`a search is shown step by step in games for two (got ${played.name})`);
    }
    if (root.over) throw new Problem("the game is over");
    if (root.isChance) throw new Problem("the die must be rolled first");
    if (!COMPARED.includes(ucb)) throw new Problem(`ucb must be ucb1, tuned or puct (got ${quoted(ucb)})`);
    for (const [name, [value, most]] of Object.entries({ batch: [batch, 100], expand: [expand, 10_000] })) {
      if (!(value >= 1 && value <= most)) {
        throw new Problem(`${name} must be 1 to ${grouped(most)} (got ${grouped(value)})`);
      }
    }
    if (!(first >= 0 && first < last)) {
      throw new Problem(`first must be 0 or more, and less than last (got ${first} and ${last})`);
    }
    if (last > MOST_STEPS) throw new Problem(`last must be at most ${grouped(MOST_STEPS)} (got ${grouped(last)})`);
    const bandit = this.#bandit(ucb, { c, c1, c2, k });
    this.#begin(root, { bandit, batch, expand, rich: false, shortcuts, solver, unit: 1, stop: this.parts.never,
      cutoff: NEVER, mix: 0 }, ucb, seed);
    let before = first === 0 ? this.#nodes(0, 1) : [];
    const steps = [];
    for (let number = 0; number < last; number++) {
      if (number === first && first > 0) before = this.#nodes(0, this.used);
      if (this.done) break;
      const step = this.#step(number);
      if (number >= first) steps.push(step);
    }
    const settings = { ucb, ...bandit, batch, expand, solver, shortcuts };
    return { game: played.name, position: root.notation, side: root.turn, settings, seed, first, tree: before, steps,
      done: this.done };
  }

  #bandit(ucb, constants) {
    const bandit = { ...this.parts.facts.bandits[ucb] };
    for (const [name, value] of Object.entries(constants)) {
      if (value === null) continue;
      if (!(name in bandit)) throw new Problem(`${ucb} has no ${name}: it has ${Object.keys(bandit).join(" and ")}`);
      if (!(value >= 0 && value <= 1e6)) throw new Problem(`${name} must be 0 to 1,000,000 (got ${value})`);
      bandit[name] = value;
    }
    return bandit;
  }

  #begin(root, options, ucb, seed) {
    const { facts } = this.parts;
    Object.assign(this, { root, options, ucb, game: root.ruled.rules });
    this.calls.reset({ game: this.game, position: root.words });
    this.state = this.parts.stream({ seed: BigInt(seed), number: 0n });
    this.rootSide = this.#items("sides")[ROOT];
    this.bandits = Object.fromEntries(COMPARED.map((name) => [name, { ...options, bandit: facts.bandits[name] }]));
    this.bandits[ucb] = options;
  }

  #items(name) {
    return this.kernels.items(this.tree[name]);
  }

  get used() {
    return Number(this.#items("counters")[USED]);
  }

  get done() {
    return this.#items("proven")[ROOT] !== UNPROVEN || this.#items("counters")[FULL] !== 0n;
  }

  #at(node) {
    return this.root.at([this.#items("word0")[node], this.#items("word1")[node]]);
  }

  #children(node) {
    const start = this.#items("first")[node];
    return start === NO_NODE ? [] : Array.from({ length: this.#items("children")[node] }, (_, i) => start + i);
  }

  #isOver(node) {
    return this.#items("endings")[node] !== 0;
  }

  #isChance(node) {
    return this.#items("sides")[node] === CHANCE;
  }

  #side(node) {
    if (this.#isOver(node)) return "";
    return this.#isChance(node) ? "chance" : this.root.game.sides[this.#items("sides")[node]];
  }

  /** The nodes from a number to before another. */
  #nodes(from, to) {
    return Array.from({ length: to - from }, (_, i) => {
      const node = from + i, parent = this.#items("parents")[node], code = this.#items("moves")[node];
      let move = "", chance = null;
      if (parent !== NO_NODE) {
        const before = this.#at(parent);
        if (this.#isChance(parent)) {
          move = before.outcomeText(code);
          chance = this.calls.probability({ game: this.game, position: before.words, outcome: code });
        } else move = before.moveText(code);
      }
      return { node, parent: parent === NO_NODE ? null : parent, move, chance, side: this.#side(node),
        position: this.#at(node).notation, ...this.#figures(node) };
    });
  }

  #figures(node) {
    const visits = Number(this.#items("visits")[node]), total = this.#items("totals")[node];
    const proven = this.#items("proven")[node];
    const value = !visits ? null : this.rootSide === 0 ? total / visits : 1 - total / visits;
    return { visits, value, total,
      proven: proven === UNPROVEN ? null : proven === DRAWN ? 0.5 : Number(proven === this.rootSide) };
  }

  #step(number) {
    const { game, options, calls } = this;
    let { state } = this, leaf = ROOT;
    if (number) [state, leaf] = calls[`descend_${this.ucb}`]({ game, options, state });
    const path = this.#path(leaf);
    const choices = path.slice(1).map((then, i) => this.#choice(path[i], then));
    const { used } = this;
    let known = this.#isOver(leaf) || this.#items("proven")[leaf] !== UNPROVEN;
    const before = new Map(path.map((node) => [node, this.#figures(node)]));
    const simulations = this.#items("counters")[SIMULATIONS] + 1n;
    this.state = calls[`search_${this.ucb}`]({ game, options, simulations, seconds: Infinity, state: this.state });
    const fresh = Array.from({ length: this.used - used }, (_, i) => used + i);
    let simulated = fresh.length ? fresh : [leaf];
    if (fresh.length && this.#isChance(leaf)) { // the descent went on through an outcome, unless all are proven
      const through = fresh.filter((node) => this.#items("visits")[node] > 0n);
      simulated = through.length ? through : [leaf];
      known = !through.length;
      if (!known) {
        [state] = this.parts.draw({ state });
        path.push(simulated[0]);
        choices.push(this.#choice(leaf, simulated[0]));
      }
    }
    if (fresh.length && this.ucb !== "puct" && !this.#isChance(leaf)) {
      calls.set_priors({ game, options: this.bandits.puct, node: leaf }); // for comparison
    }
    const playouts = [];
    for (const node of simulated) {
      const [next, games] = this.#playouts(node, state, known || this.#isOver(node));
      state = next;
      playouts.push(games);
    }
    const nothing = { visits: 0, value: null, total: 0, proven: null };
    const backup = [...new Set([...path, ...fresh])].map((node) => {
      const was = before.get(node) ?? nothing, is = this.#figures(node);
      return { node, visits: [was.visits, is.visits], value: [was.value, is.value], total: [was.total, is.total],
        proven: is.proven };
    });
    return { number, simulations: Number(this.#items("counters")[SIMULATIONS]), path, choices,
      expanded: this.#nodes(used, this.used), playouts, backup };
  }

  #path(node) {
    const found = [];
    for (let at = node; at !== NO_NODE; at = this.#items("parents")[at]) found.unshift(at);
    return found;
  }

  #choice(node, selected) {
    const visits = Number(this.#items("visits")[node]), chosen = { node, side: this.#side(node), visits, selected };
    const count = (child) => Number(this.#items("visits")[child]), below = this.#children(node);
    if (this.#isChance(node)) {
      return { ...chosen, children: below.map((child) => ({ node: child, visits: count(child) })), would: {} };
    }
    const would = { [this.ucb]: selected }, children = [];
    for (const [name, options] of Object.entries(this.bandits)) {
      const best = this.calls[`terms_${name}`]({ options, node });
      would[name] ??= best;
      const terms = this.kernels.items(this.terms).slice(0, below.length * COLUMNS);
      below.forEach((child, i) => {
        const of = (column) => terms[i * COLUMNS + column], seen = count(child);
        children[i] ??= { node: child, visits: seen, mean: seen ? of(MEAN) : null,
          variance: seen ? of(VARIANCE) : null, prior: of(PRIOR), proven: this.#items("proven")[child] !== UNPROVEN,
          bandits: {} };
        const row = { exploration: seen ? of(EXPLORATION) : null, worth: seen ? of(WORTH) : null };
        if (seen && name === "tuned") {
          row.spread = this.calls.spread({ bandit: options.bandit, variance: of(VARIANCE), share: of(SHARE) });
        }
        children[i].bandits[name] = row;
      });
    }
    return { ...chosen, children, would };
  }

  /** The random state after the games that were played from a node, and their results. */
  #playouts(node, state, over) {
    const { options: { batch, shortcuts }, game } = this, { words } = this.#at(node), results = [];
    let steps = [];
    for (let number = 0; number < (over ? 0 : batch); number++) {
      const [next, count, result] = this.calls.record_playout({ game, position: words, state, shortcuts });
      state = next;
      results.push(this.rootSide === 0 ? result : 1 - result);
      if (number === 0) steps = this.#replayed(node, Math.min(count, PLAYED));
    }
    return [state, { node, games: batch, known: over, results, steps }];
  }

  #replayed(node, count) {
    const played = this.kernels.items(this.played).slice(0, 2 * count);
    let now = this.#at(node);
    return Array.from({ length: count }, (_, i) => {
      const [code, action] = [played[2 * i], played[2 * i + 1]];
      const outcome = code === NO_STEP ? null : now.outcomeText(code);
      if (outcome !== null) now = now.applyOutcome(outcome);
      const move = action === NO_STEP ? null : now.moveText(action);
      if (move !== null) now = now.play(move);
      return { outcome, move, position: now.notation };
    });
  }
}
