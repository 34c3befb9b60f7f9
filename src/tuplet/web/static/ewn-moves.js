// The moves of a search: bars of their values with intervals, and of their visits.
import { count, make, percent, proofOf } from "./dom.js";
import { chip, inWords } from "./ewn-words.js";

/** The colour of a move in all views, by its place among the legal moves. */
export const colourOf = (move, position) => {
  const place = position.legal_moves.indexOf(move);
  return place >= 0 && place < 8 ? `var(--move-${place})` : "var(--move-rest)";
};

/** What the numbers of an analysis mean, in a sentence or two. */
export function meaning(analysis, side) {
  const { moves, settings = {} } = analysis;
  if (moves.some((move) => move.visits !== null)) {
    const rate = settings.results === "rich"
      ? `Mean result: the average over the simulations through this move. A win of ${side} counts 1 by capturing all `
        + "cubes and 0.9 by reaching the corner; a loss counts 0 and 0.1."
      : `Win rate: the share of the simulations through this move that ${side} won.`;
    return `${rate} The whisker is ± 1.96 standard errors of these simulations: the more visits, the shorter. It is `
      + "not an interval of the move's true value, because the search chooses what to simulate. Visits: the number of "
      + "simulations through this move.";
  }
  if (moves.some((move) => move.value !== null)) {
    return `Value: what this search expects for ${side}, from 0 (lost) to 1 (won). It comes from an estimate at the `
      + "end of each line, so it is not a probability, unless it is proven. Won in 5: the fifth move from here, of "
      + "both sides, ends the game."
      + (analysis.other_depth ? " Only the best move is searched to the full depth. The others are searched less deep, "
        + "so one of them may look better than it is." : "");
  }
  return "This agent does not value moves.";
}

/** How the bandit chooses what to simulate. N are the visits of a position, n those of a move. */
export function bandit(settings = {}) {
  const says = {
    ucb1: "UCB1 simulates the move with the highest win rate + c·√(ln N / n): a good rate, or few visits so far. A "
      + "larger c explores more, a smaller c exploits more.",
    tuned: "UCB1-Tuned simulates the move of highest win rate + c·√(ln N / n · min(c2, variance + c1·√(ln N / n)))"
      + ": moves whose results vary little need fewer visits.",
    report: "The report's bandit is UCB1-Tuned with the minimum outside the root: in effect UCB1 with a quarter of c.",
    kl: "KL-UCB simulates the move with the highest upper bound on its win rate, by the Kullback-Leibler divergence.",
    puct: "PUCT adds c · prior · √N / (1 + n) to the win rate. The prior comes from the game's estimate of each move.",
    thompson: "Thompson sampling draws a rate for each move from its posterior, and simulates the highest draw.",
    softmax: "Softmax simulates each move with probability proportional to exp(k · win rate).",
  };
  const name = String(settings.ucb ?? "").toLowerCase().replace(/[^a-z0-9]/g, "");
  const set = ["c", "c1", "c2", "k"].filter((key) => key in settings)
    .map((key) => `${key} = ${Number(settings[key].toFixed(3))}`);
  return says[name] ? `${says[name]}${set.length ? ` Here ${set.join(", ")}.` : ""}` : "";
}

export class Moves {
  /** `onPoint(move | null)`: the pointer or the focus is on a move. */
  constructor(host, onPoint) {
    this.host = host;
    this.onPoint = onPoint;
    this.rows = new Map();
    this.key = "";
  }

  clear() {
    this.host.replaceChildren();
    this.rows.clear();
    this.key = "";
  }

  show(analysis, position, flip) {
    const side = position.turn;
    const simulated = analysis.moves.some((move) => move.visits !== null);
    const key = [position.notation, flip, simulated].join();
    if (key !== this.key) this.#build(position, side, simulated, flip, analysis);
    this.key = key;
    const most = Math.max(1, ...analysis.moves.map((move) => move.visits ?? 0));
    const all = Math.max(1, analysis.moves.reduce((sum, move) => sum + (move.visits ?? 0), 0));
    const { depth, other_depth: otherDepth = depth } = analysis;
    for (const move of analysis.moves) {
      const row = this.rows.get(move.move);
      if (!row) continue;
      const known = move.value !== null && (!simulated || move.visits > 0 || move.proven);
      row.line.classList.toggle("best", move.move === analysis.best);
      row.mark.textContent = move.move === analysis.best ? "best" : "";
      row.bar.style.setProperty("--share", known ? move.value : 0);
      row.value.textContent = known ? (simulated ? percent(move.value) : move.value.toFixed(3)) : "–";
      row.value.dataset.value = move.value ?? "";
      const [low, high] = move.ci95 ?? [move.value, move.value];
      row.whisker.hidden = !known || !move.ci95;
      row.whisker.style.setProperty("--low", low ?? 0);
      row.whisker.style.setProperty("--high", high ?? 0);
      const searched = move.move === analysis.best ? depth : otherDepth;
      row.interval.textContent = move.proven ? proofOf(move)
        : move.ci95 ? `${(100 * low).toFixed(1)} – ${(100 * high).toFixed(1)}`
          : !simulated && searched ? `depth ${searched}` : "";
      row.line.classList.toggle("glance", !simulated && move.move !== analysis.best);
      if (simulated) {
        row.visits.textContent = count(move.visits);
        row.visits.dataset.visits = move.visits;
        row.visited.style.setProperty("--share", move.visits / most);
        row.share.textContent = percent(move.visits / all, move.visits / all < 0.001 ? 2 : 1);
      }
    }
  }

  #build(position, side, simulated, flip, analysis) {
    this.rows.clear();
    const body = make("tbody");
    for (const move of position.legal_moves) {
      const row = {
        bar: make("i"),
        whisker: make("i", { class: "whisker" }),
        value: make("b", { class: "number", "data-part": "value" }),
        interval: make("span", { class: "tiny muted number" }),
        visits: make("b", { class: "number", "data-part": "visits" }),
        visited: make("i"),
        share: make("span", { class: "tiny muted number" }),
        mark: make("span", { class: "ewn-best tiny" }),
      };
      row.line = make("tr", { "data-move": move, vars: { "--colour": colourOf(move, position) },
        onpointerenter: () => this.onPoint(move), onpointerleave: () => this.onPoint(null) },
      make("th", { scope: "row" }, make("span", { class: "row ewn-move" }, make("i", { class: "ewn-swatch" }),
        chip(side, move, flip), make("span", { class: "visually-hidden", text: inWords(side, move) }), row.mark)),
      make("td", { class: "ewn-track" },
        make("div", { class: "ewn-bar", "aria-hidden": "true" }, row.bar, row.whisker)),
      make("td", {}, row.value, row.interval),
      simulated ? make("td", { class: "ewn-visits" }, row.visits, row.share,
        make("div", { class: "ewn-bar thin", "aria-hidden": "true" }, row.visited)) : null);
      this.rows.set(move, row);
      body.append(row.line);
    }
    const rate = simulated ? (analysis.settings?.results === "rich" ? "mean result" : "win rate") : "value";
    this.host.replaceChildren(make("table", { class: "ewn-moves" },
      make("caption", { class: "visually-hidden", text: `The moves of ${side}` }),
      make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "move" }),
        make("th", { scope: "col", class: "ewn-scale" },
          make("span", { class: "visually-hidden", text: `${rate} as a bar` }),
          ...["0", "½", "1"].map((text) => make("span", { "aria-hidden": "true", text }))),
        make("th", { scope: "col", text: simulated ? `${rate}, ± 1.96 s.e.` : rate }),
        simulated ? make("th", { scope: "col", text: "visits, share" }) : null)),
      body));
  }
}
