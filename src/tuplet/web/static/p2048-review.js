// The review of a game: what each move cost, what was luck, and where the mistakes are.
import { choice, count, counted, make, points, signed } from "./dom.js";
import { graph } from "./p2048-graph.js";
import { toast } from "./shell.js";

const BANDS = {
  best: "as good as the best",
  good: "gives up less than 1 % of the expected remaining score",
  inaccurate: "1 % to 5 %",
  bad: "more than 5 %",
};
const REVIEW = "Review the whole game";
const ROW = 36; // px
const ahead = (depth) => `${counted(depth, "move")} ahead`;

export class Review {
  #job = null;

  /** `current()` gives {record, whole, agent, learned, cells} of the game on the board; `onJump(whole, k)` shows the
   * position after k moves of a reviewed game. */
  constructor(element, live, current, onJump) {
    this.element = element;
    this.live = live;
    this.current = current;
    this.onJump = onJump;
    this.review = null;
    this.whole = null; // the game that was reviewed
    const depths = [1, 2, 3].map((value) => make("option", { value }, ahead(value)));
    this.depth = make("select", { id: "review-depth" }, depths);
    this.begin = make("button", { id: "review-start", class: "primary", type: "button", onclick: () => this.start() },
      REVIEW);
    this.says = make("p", { class: "small muted", id: "review-says", role: "status" });
    this.results = make("div", { class: "stack", id: "review-results", hidden: true });
    element.append(
      make("p", { class: "small muted" }, "The agent judges the game: it compares each move with the best one, and "
        + "each new tile with the average over all tiles that could have appeared. If the agent has no learned values, "
        + "the built-in player judges; the smallest boards are judged by the exact solution."),
      make("div", { class: "row" }, this.begin,
        make("label", { class: "row" }, make("span", { class: "small muted" }, "looking"), this.depth)),
      this.says, this.results,
    );
  }

  async start() {
    if (this.#job) {
      this.#job.stop();
      this.#ended("Stopped.");
      return;
    }
    this.begin.textContent = "Stop";
    this.says.textContent = "Preparing the game…";
    const writing = (this.#job = { stop() {} }); // until there is a real one
    try {
      const { record, whole, agent, learned, cells } = await this.current();
      if (this.#job !== writing) return;
      // Without learned values, the default judge is asked, where there is one.
      const byDefault = !learned && (cells === 16 || cells <= 6);
      const request = { type: "review", record, ...(byDefault ? {} : { agent }),
        ...(learned || cells === 16 ? { depth: Number(this.depth.value) } : {}) };
      this.#job = this.live.start(request, (frame) => {
        if (frame.error) this.#ended(frame.error);
        else if (frame.done && frame.review) {
          this.#ended("");
          const { judge, depth } = frame.review;
          this.show(frame.review, whole, `${judge}${depth ? `, ${ahead(depth)}` : ""}`);
        } else if (frame.done) this.#ended("Stopped.");
        else if (frame.moves) {
          this.says.textContent = `${count(frame.done_moves)} of ${counted(frame.moves, "move")}…`;
        }
      });
    } catch (error) {
      const below = this.review ? " Below is the last review." : "";
      if (this.#job === writing) this.#ended(error.message + below);
    }
  }

  #ended(text) {
    this.#job = null;
    this.begin.textContent = REVIEW;
    this.says.textContent = text;
  }

  /** Show the review of the game `whole`. */
  show(review, whole, judge) {
    Object.assign(this, { review, whole });
    this.graph?.end();
    const figure = make("figure", { class: "graph" });
    this.moveSays = make("div", { class: "move-says small", id: "move-says" });
    this.mistakes = review.moves.filter((move) => move.band === "inaccurate" || move.band === "bad");
    const which = { mistakes: `Mistakes (${count(this.mistakes.length)})`, all: `All (${count(review.moves.length)})` };
    this.shown = choice("which", which, this.mistakes.length ? "mistakes" : "all", () => this.#fill(), "Which moves");
    this.list = make("div", { class: "moves-list", role: "group", "aria-label": "Moves and what they cost",
      onscroll: () => this.#rows() });
    const jump = (way, text, key) => make("button", { type: "button", title: `${text} (${key})`,
      disabled: !this.mistakes.length, onclick: () => this.mistake(way) }, text);
    this.results.replaceChildren(
      this.#verdict(review, judge), this.#sum(review), figure, this.moveSays,
      make("div", { class: "row apart" }, this.shown,
        make("div", { class: "jumps" }, jump(-1, "Previous mistake", "["), jump(1, "Next mistake", "]"))),
      this.list,
    );
    this.results.hidden = false;
    this.graph = graph(figure, review, {
      onPick: (k) => this.onJump(this.whole, k), onPoint: (k) => this.#describe(k ?? this.at) });
    this.#fill();
    this.now(whole.at);
  }

  #verdict(review, judge) {
    const { counts } = review;
    const figure = (name, text, more = {}) =>
      make("div", {}, make("dt", {}, name), make("dd", more, text));
    return make("div", { class: "verdict" },
      make("dl", { class: "figures" },
        figure("Accuracy", `${review.accuracy.toFixed(1)} %`, { id: "accuracy", "data-value": review.accuracy }),
        figure("Points", count(review.score)),
        figure("Moves", count(review.moves.length)),
        figure("Lost per move", points(review.mean_loss))),
      make("div", { class: "bands", "aria-hidden": "true" }, Object.keys(BANDS).map((band) =>
        make("i", { "data-band": band, vars: { "--n": counts[band] } }))),
      make("ul", { class: "band-key" }, Object.entries(BANDS).map(([band, meaning]) =>
        make("li", { "data-band": band, title: meaning }, make("i", { class: "dot" }),
          make("span", {}, make("b", { "data-count": band }, count(counts[band])),
            ` ${band === "bad" ? "blunders" : band}`)))),
      make("p", { class: "tiny muted" }, `Judged by ${judge}. ${review.accuracy_means} Best: no move is better; good: `
        + "gives up less than 1 % of the expected remaining score; inaccurate: up to 5 %; a blunder: more."));
  }

  #sum(review) {
    const part = (name, text) => make("b", { class: name, "data-part": name, "data-value": review[name] }, text);
    const left = Math.abs(review.left ?? 0) > 0.05;
    return make("p", { class: "sum", id: "sum" },
      "Expected at the start: ", part("first_value", points(review.first_value)),
      ". Luck: ", part("luck", signed(review.luck)),
      ". Mistakes: ", part("losses", signed(-review.losses)),
      ". Re-estimates: ", part("drift", signed(review.drift)),
      left ? [". Still expected at the end of the record: ", part("left", signed(-review.left))] : null,
      ". Final score: ", make("b", { "data-part": "score", "data-value": review.score }, count(review.score)), ". ",
      make("span", { class: "tiny muted" }, "These add up. A re-estimate is the judge's change of mind once the move "
        + "is made. It is large in games unlike those that it learned from."));
  }

  /** The board shows the position after k moves of the game; -1: one of another game. */
  now(k) {
    if (!this.review) return;
    this.at = k;
    this.graph.now(k < 0 ? 0 : k);
    this.#describe(k);
    const row = this.rows?.findIndex((move) => move.number === k + 1) ?? -1;
    const top = row * ROW;
    if (row >= 0 && (top < this.list.scrollTop || top + ROW > this.list.scrollTop + this.list.clientHeight)) {
      this.list.scrollTop = top - this.list.clientHeight / 2;
    }
    for (const each of this.list.children) {
      each.setAttribute("aria-current", String(Number(each.dataset.number) === k + 1));
    }
  }

  #describe(k) {
    const move = this.review.moves[k];
    if (k < 0 || !move) {
      this.moveSays.replaceChildren(k < 0 ? "This position is not in the reviewed game."
        : "The last position of the game.");
      return;
    }
    const bold = (value) => make("b", {}, value);
    const verdict = move.band === "best" ? ["as good as the best"]
      : [bold(points(move.loss)), " points worse than ", bold(move.best)];
    this.moveSays.replaceChildren(
      make("span", { "data-band": move.band }, make("i", { class: "dot" })),
      ` Move ${count(move.number)}: `, bold(move.played), " was played, ", ...verdict, ` (${move.band}). `,
      "Expected final score before it: ", bold(points(move.expected)),
      "; luck with the new tile: ", bold(signed(move.luck)), ", re-estimate: ", bold(signed(move.drift)), ".");
  }

  /** Go to the next mistake (1) or the previous one (-1). */
  mistake(way) {
    const here = this.at + 1; // the number of the next move
    const next = !this.review ? null : way > 0 ? this.mistakes.find((move) => move.number > here)
      : this.mistakes.findLast((move) => move.number < here);
    if (next) this.onJump(this.whole, next.number - 1);
    else if (!this.review) toast("Review the game first (R).");
    else toast(way > 0 ? "No mistake comes after this." : "No mistake came before this.");
  }

  #fill() {
    this.rows = this.shown.value === "all" ? this.review.moves : this.mistakes;
    this.list.replaceChildren(make("div", { class: "tall", vars: { height: `${this.rows.length * ROW}px` } }));
    this.list.scrollTop = 0;
    this.#rows();
  }

  /** Draw only the rows that are visible: a game may have thousands. */
  #rows() {
    const first = Math.max(0, Math.floor(this.list.scrollTop / ROW) - 4);
    const shown = this.rows.slice(first, first + Math.ceil(this.list.clientHeight / ROW || 9) + 8);
    const kept = this.list.firstElementChild;
    const focused = /** @type {any} */ (document.activeElement)?.dataset?.number;
    this.list.replaceChildren(kept, ...shown.map((move, i) => {
      const row = make("button", { type: "button", class: "row-of", "data-number": move.number,
        "data-band": move.band, "aria-current": String(move.number === this.at + 1),
        onclick: () => this.onJump(this.whole, move.number - 1) },
      make("span", { class: "number" }, `${count(move.number)}.`),
      make("span", {}, move.band === "best" ? move.played : `${move.played}, not ${move.best}`),
      make("span", { class: "number" }, move.band === "best" ? "" : points(-move.loss)),
      make("span", { class: "band" }, make("i", { class: "dot" }), make("span", {}, move.band)));
      row.style.top = `${(first + i) * ROW}px`;
      if (focused === String(move.number)) queueMicrotask(() => row.focus({ preventScroll: true }));
      return row;
    }));
  }
}
