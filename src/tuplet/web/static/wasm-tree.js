// The tree of a search: calls of its kernels (search/mcts.py), and what it says (agents/tree_report.py).

const UNPROVEN = 2, DRAWN = 3, CHANCE = 2, NO_NODE = -1, ROOT = 0;
const USED = 0, SIMULATIONS = 1, FULL = 2; // counters
const MOST_NODES = 400; // of a view

export class Tree {
  /** A tree of so many nodes; the empty one beside the module has `listed`. */
  constructor(kernels, nodes, listed) {
    this.kernels = kernels;
    this.arrays = kernels.value("tree", (length) => (length === listed ? nodes : length));
  }

  close() {
    this.kernels.forget(this.arrays);
  }

  /** Use the rules of a game, these with learned values or once more the rules, a bandit with its options, and the
   * calls of a position. */
  bind(game, valued, ucb, options, { probability }) {
    const { kernels, arrays: tree } = this, bound = (name) => kernels.bind(name, { game, tree, options });
    this.calls = { reset: bound("reset"), reroot: bound("reroot"), choose: bound(`choose_${ucb}`),
      search: kernels.bind(`search_${ucb}`, { game: valued, tree, options }), obvious: bound("obvious_move"),
      probability };
  }

  #items(name) {
    return this.kernels.items(this.arrays[name]);
  }

  reset(position) {
    this.calls.reset({ position });
  }

  reroot(position) {
    return this.calls.reroot({ position });
  }

  search(simulations, seconds, state) {
    return this.calls.search({ simulations, seconds, state });
  }

  choose(final, k, bits) {
    return this.calls.choose({ final, k, bits });
  }

  obvious(position) {
    return this.calls.obvious({ position });
  }

  get simulations() {
    return Number(this.#items("counters")[SIMULATIONS]);
  }

  get used() {
    return Number(this.#items("counters")[USED]);
  }

  get isFull() {
    return this.#items("counters")[FULL] !== 0n;
  }

  get isProven() {
    return this.#items("proven")[ROOT] !== UNPROVEN;
  }

  move(node) {
    return this.#items("moves")[node];
  }

  children(node) {
    const first = this.#items("first")[node];
    if (first === NO_NODE) return [];
    return Array.from({ length: this.#items("children")[node] }, (_, i) => first + i);
  }

  /** The moves of the root: the chosen one first, the others by visits. */
  rootMoves(chosen, text) {
    const visits = this.#items("visits");
    const nodes = this.children(ROOT).sort((a, b) =>
      Number(a !== chosen) - Number(b !== chosen) || Number(visits[b] - visits[a]));
    return nodes.map((node) => ({ move: text(this.move(node)), ...this.worth(node) }));
  }

  /** A node's value to the side that moves at the root: {value, visits, ci95, proven}. */
  worth(node) {
    const mover = this.#items("sides")[ROOT];
    const visits = Number(this.#items("visits")[node]), proven = this.#items("proven")[node];
    if (proven !== UNPROVEN) {
      return { value: proven === DRAWN ? 0.5 : Number(proven === mover), visits, ci95: null, proven: true };
    }
    if (!visits) return { value: 0.5, visits: 0, ci95: null, proven: false };
    const mean = this.#items("totals")[node] / visits;
    const variance = Math.max(this.#items("squares")[node] / visits - mean * mean, 0);
    const half = 1.96 * Math.sqrt(variance) / Math.sqrt(visits), value = mover === 0 ? mean : 1 - mean;
    return { value, visits, ci95: [Math.max(value - half, 0), Math.min(value + half, 1)], proven: false };
  }

  /** The most visited moves from a node on, up to a chance node. */
  mainLine(node, text) {
    const line = [], visits = this.#items("visits");
    for (;;) {
      line.push(text(this.move(node)));
      if (this.#items("first")[node] === NO_NODE || this.#items("sides")[node] === CHANCE) return line;
      node = this.children(node).reduce((best, child) => (visits[child] > visits[best] ? child : best));
    }
  }

  /** The part of the tree down to a depth, of nodes with at least a share of the visits; at most 400 nodes. */
  view(position, depth, share) {
    const visits = this.#items("visits"), sides = this.#items("sides"), least = share * Number(visits[ROOT]);
    const chosen = new Set();
    const queue = [[0, ROOT, 0]]; // visits, node and depth; the next is the most visited one
    const before = (one, other) => one[0] - other[0] || one[1] - other[1];
    while (queue.length && chosen.size < MOST_NODES) {
      let next = 0;
      for (let i = 1; i < queue.length; i++) if (before(queue[i], queue[next]) < 0) next = i;
      const [, node, deep] = queue[next];
      queue[next] = queue.at(-1);
      queue.pop();
      chosen.add(node);
      if (deep >= depth) continue;
      for (const child of this.children(node)) {
        const ahead = deep + Number(sides[node] !== CHANCE);
        if (Number(visits[child]) >= least) queue.push([-Number(visits[child]), child, ahead]);
      }
    }
    const root = this.#node(ROOT, "", null, position, chosen);
    const values = `Values are what ${root.side}, to move at the root, may expect: 0 lost, 1 won.`;
    return { values, nodes: this.used, shown: chosen.size, ...root };
  }

  #node(number, move, probability, root, chosen) {
    const words = [this.#items("word0")[number], this.#items("word1")[number]], position = root.at(words);
    const natural = this.#items("sides")[number] === CHANCE, over = this.#items("endings")[number] !== 0;
    const { value, visits, ci95, proven } = this.worth(number);
    const all = this.#items("visits"), own = this.children(number);
    const below = own.filter((child) => chosen.has(child)).sort((a, b) => Number(all[b] - all[a])).map((child) => {
      const code = this.move(child);
      return this.#node(child, natural ? position.outcomeText(code) : position.moveText(code),
        natural ? this.calls.probability({ position: words, outcome: code }) : null, root, chosen);
    });
    return { move, visits, value: visits || proven ? value : null, ci95, proven,
      side: natural ? "chance" : over ? "" : position.turn, chance: probability, left_out: own.length - below.length,
      children: below };
  }
}
