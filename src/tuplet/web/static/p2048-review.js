// The review of a game: what each move cost, what was luck, and where the mistakes are.
import { choice, count, counted, make, points, signed } from "./dom.js";
import { graph } from "./p2048-graph.js";
import { compiling, toast } from "./shell.js";

const BANDS = { best: "best", good: "good", inaccurate: "inaccurate", bad: "bad" };
const MEANS = { best: "as good as the best", good: "gave up less than 1 % of the expected remaining score", inaccurate: "1 % to 5 %", bad: "more than 5 %" };
const REVIEW = "Review the whole game";
const ROW = 36; // px
const AHEAD = { 1: "1 move ahead", 2: "2 moves ahead", 3: "3 moves ahead" };

export class Review {
  #job = null;

  /** `asks()` gives {record, whole, agent, learned, cells} of the game that is seen; `onJump(whole, k)` shows the
   * position after k moves of a reviewed game. */
  constructor(element, live, asks, onJump) {
    Object.assign(this, { element, live, asks, onJump });
    this.review = null;
    this.depth = make("select", { id: "review-depth" }, Object.entries(AHEAD).map(([value, text]) => make("option", { value }, text)));
    this.begin = make("button", { id: "review-start", class: "primary", type: "button", onclick: () => this.start() }, REVIEW);
    this.says = make("p", { class: "small muted", id: "review-says", role: "status" });
    this.found = make("div", { class: "stack", id: "review-found", hidden: true });
    element.append(
      make("p", { class: "small muted" }, "The agent judges the game: it compares each move with the best one, and each new tile with the average over all tiles that might have come. Agents without learned values are replaced by the built-in player; the smallest boards are judged by the exact solution."),
      make("div", { class: "row" }, this.begin, make("label", { class: "row" }, make("span", { class: "small muted" }, "looking"), this.depth)),
      this.says, this.found,
    );
  }

  async start() {
    if (this.#job) {
      this.#job.stop();
      this.#ended("Stopped.");
      return;
    }
    this.begin.textContent = "Stop";
    this.says.textContent = "Writing the game down…";
    const writing = (this.#job = { stop() {} }); // until there is a real one
    try {
      const { record, whole, agent, learned, cells } = await this.asks();
      if (this.#job !== writing) return;
      const depth = this.depth.value; // as it is now: it may be changed meanwhile
      // Who has no learned values leaves it to the usual judge, where there is one.
      const usual = !learned && (cells === 16 || cells <= 6);
      const request = {
        type: "review", record, ...(usual ? {} : { agent }), ...(learned || cells === 16 ? { depth: Number(depth) } : {}),
      };
      this.#job = this.live.start(request, (frame) => {
        compiling(Boolean(frame.compiling) && !frame.done);
        if (frame.error) this.#ended(frame.error);
        else if (frame.done && frame.review) {
          this.#ended("");
          const { judge, depth: looked } = frame.review;
          this.show(frame.review, whole, `${judge}${AHEAD[looked] ? `, ${AHEAD[looked]}` : ""}`);
        } else if (frame.done) this.#ended("Stopped.");
        else if (frame.moves) this.says.textContent = `${count(frame.done_moves)} of ${counted(frame.moves, "move")}…`;
      });
    } catch (error) {
      if (this.#job === writing) this.#ended(error.message + (this.review ? " Below is the game that was reviewed last." : ""));
    }
  }

  #ended(text) {
    this.#job = null;
    compiling(false);
    this.begin.textContent = REVIEW;
    this.says.textContent = text;
  }

  /** Show a review; `whole` is the game it is of. */
  show(review, whole, judge) {
    Object.assign(this, { review, whole });
    this.graph?.end();
    const figure = make("figure", { class: "graph" });
    this.moveSays = make("div", { class: "move-says small", id: "move-says" });
    this.mistakes = review.moves.filter((move) => move.band === "inaccurate" || move.band === "bad");
    this.shown = choice("which", { mistakes: `Mistakes (${count(this.mistakes.length)})`, all: `All (${count(review.moves.length)})` },
      this.mistakes.length ? "mistakes" : "all", () => this.#fill(), "Which moves");
    this.list = make("div", { class: "moves-list", role: "group", "aria-label": "Moves and what they cost", onscroll: () => this.#rows() });
    const jump = (way, text, key) => make("button", { type: "button", title: `${text} (${key})`, disabled: !this.mistakes.length, onclick: () => this.mistake(way) }, text);
    this.found.replaceChildren(
      this.#verdict(review, judge), this.#sum(review), figure, this.moveSays,
      make("div", { class: "row apart" }, this.shown, make("div", { class: "jumps" }, jump(-1, "Previous mistake", "["), jump(1, "Next mistake", "]"))),
      this.list,
    );
    this.found.hidden = false;
    this.graph = graph(figure, review, { onPick: (k) => this.onJump(this.whole, k), onPoint: (k) => this.#tell(k ?? this.at) });
    this.#fill();
    this.now(whole.at);
  }

  #verdict(review, judge) {
    const counts = review.counts;
    return make("div", { class: "verdict" },
      make("dl", { class: "figures" },
        make("div", {}, make("dt", {}, "Accuracy"), make("dd", { id: "accuracy", "data-value": review.accuracy }, `${review.accuracy.toFixed(1)} %`)),
        make("div", {}, make("dt", {}, "Points"), make("dd", {}, count(review.score))),
        make("div", {}, make("dt", {}, "Moves"), make("dd", {}, count(review.moves.length))),
        make("div", {}, make("dt", {}, "Lost a move"), make("dd", {}, points(review.mean_loss)))),
      make("div", { class: "bands", "aria-hidden": "true" }, Object.keys(BANDS).map((band) => make("i", { "data-band": band, vars: { "--n": counts[band] } }))),
      make("ul", { class: "band-key" }, Object.entries(BANDS).map(([band, name]) =>
        make("li", { "data-band": band, title: MEANS[band] }, make("i", { class: "dot" }), make("span", {}, make("b", { "data-count": band }, count(counts[band])), ` ${name}`)))),
      make("p", { class: "tiny muted" }, `Judged by ${judge}. ${review.accuracy_means} `
        + "Best: no move is better; good: gave up less than 1 % of the expected remaining score; inaccurate: up to 5 %; bad: more."));
  }

  #sum(review) {
    const part = (name, text) => make("b", { class: name, "data-part": name, "data-value": review[name] }, text);
    const left = Math.abs(review.left ?? 0) > 0.05;
    return make("p", { class: "sum", id: "sum" },
      "Expected at the start: ", part("first_value", points(review.first_value)),
      ". Luck: ", part("luck", signed(review.luck)),
      ". Mistakes: ", part("losses", signed(-review.losses)),
      ". Re-estimates: ", part("drift", signed(review.drift)),
      left ? [". Still to come when the game was left: ", part("left", signed(-review.left))] : null,
      ". Final score: ", make("b", { "data-part": "score", "data-value": review.score }, count(review.score)), ". ",
      make("span", { class: "tiny muted" }, "These add up. A re-estimate is the judge valuing a board differently once the move is made: "
        + "large in games unlike those it has learned from."));
  }

  /** The position after k moves of the game is seen; -1: one of another game. */
  now(k) {
    if (!this.review) return;
    this.at = k;
    this.graph.now(k < 0 ? 0 : k);
    this.#tell(k);
    const row = this.rows?.findIndex((move) => move.number === k + 1) ?? -1;
    const top = row * ROW;
    if (row >= 0 && (top < this.list.scrollTop || top + ROW > this.list.scrollTop + this.list.clientHeight)) {
      this.list.scrollTop = top - this.list.clientHeight / 2;
    }
    for (const each of this.list.children) each.setAttribute("aria-current", String(Number(each.dataset.number) === k + 1));
  }

  #tell(k) {
    const move = this.review.moves[k];
    if (k < 0 || !move) {
      this.moveSays.replaceChildren(k < 0 ? "This is not a position of the game that was reviewed. " : "The last position of the game.");
      return;
    }
    const to = (value) => make("b", {}, value);
    const best = move.band === "best";
    const verdict = best ? "as good as it gets" : [to(points(move.loss)), ` points worse than `, to(move.best)];
    this.moveSays.replaceChildren(
      make("span", { "data-band": move.band }, make("i", { class: "dot" })), ` Move ${count(move.number)}: `, to(move.played), ` was played, ${best ? "" : "which is "}`, ...[verdict].flat(),
      ` (${move.band}). Expected final score before it: `, to(points(move.expected)), "; then luck with the tile: ", to(signed(move.luck)), ", re-estimate: ", to(signed(move.drift)), ".");
  }

  /** To the next mistake (1) or the previous (-1), from what is seen. */
  mistake(way) {
    if (!this.review) { toast("Review the game first (R)."); return true; }
    const here = this.at + 1; // the number of the move to be made here
    const next = way > 0 ? this.mistakes.find((move) => move.number > here) : this.mistakes.findLast((move) => move.number < here);
    if (next) this.onJump(this.whole, next.number - 1);
    else toast(way > 0 ? "No mistake comes after this." : "No mistake came before this.");
    return true;
  }

  #fill() {
    this.rows = this.shown.value === "all" ? this.review.moves : this.mistakes;
    this.list.replaceChildren(make("div", { class: "tall", vars: { height: `${this.rows.length * ROW}px` } }));
    this.list.scrollTop = 0;
    this.#rows();
  }

  /** Only what can be seen of a list of any length. */
  #rows() {
    const first = Math.max(0, Math.floor(this.list.scrollTop / ROW) - 4);
    const shown = this.rows.slice(first, first + Math.ceil(this.list.clientHeight / ROW || 9) + 8);
    const kept = this.list.firstElementChild;
    const focused = document.activeElement?.dataset?.number;
    this.list.replaceChildren(kept, ...shown.map((move, i) => {
      const row = make("button", { type: "button", class: "row-of", "data-number": move.number, "data-band": move.band, "aria-current": String(move.number === this.at + 1),
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
