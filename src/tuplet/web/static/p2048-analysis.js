// The agent's analysis: the value of each move, and the tuples that add up to it.
import { post } from "./api.js";
import { chooser } from "./agents.js";
import { choice, count, counted, icon, make, mini, points } from "./dom.js";
import { HUES } from "./p2048-board.js";
import { parseSpec } from "./spec.js";

const MOVES = ["up", "right", "down", "left"];
const LOOKAHEAD = ["d1", "d2", "d3", "d4", "d5", "t0.01", "t0.05", "t0.2", "t1", "t3"]; // moves or seconds
export const SHOW = { shown: "Shown", after: "After my move", hidden: "Hidden" };

const hex = (cells) => cells.map((cell) => cell.toString(16)).join("");
const cellsOf = (tuple) => [...tuple].map((digit) => parseInt(digit, 16));
const isTuple = (part) => /^[0-9a-f]{1,16}$/.test(part);

const lookaheadText = (value) => (value[0] === "d" ? counted(Number(value.slice(1)), "move")
  : `for ${value.slice(1)} second${value === "t1" ? "" : "s"} per move`);

/** The settings of the analysis in an address; what is not valid there is the default. */
export function settingsFromAddress(params) {
  const time = Number(params.time) > 0 ? params.time : null;
  const depth = time ? null : Number(params.depth) >= 1 ? params.depth : "1";
  const show = Object.hasOwn(SHOW, params.show) ? params.show : "shown";
  return { game: params.game ?? "2048", agent: params.agent ?? "", depth, time, show };
}

export class Analysis {
  #job = null;
  #wanted = null;
  #explained = new Map(); // move -> promise of its tuples and of the board after it
  #request = 0;
  #pinned = null;

  /** Calls onPlay(move), onExplain({after, placements, ...} or null), onChange("agent", "depth" or "show"), and
   * onBest(move or null). */
  constructor(element, live, { game, agent, depth, time, show }, { onPlay, onExplain, onChange, onBest }) {
    this.live = live;
    this.game = game;
    this.agent = agent;
    this.depth = depth;
    this.time = time;
    this.show = show;
    this.onPlay = onPlay;
    this.onExplain = onExplain;
    this.onChange = onChange;
    this.onBest = onBest;
    this.frozen = false; // an agent plays: the board shows another position already
    this.result = null; // the analysis that is shown
    this.of = null; // its position
    this.showChoice = choice("show", SHOW, show, (value) => {
      this.show = value;
      onChange("show");
    }, "When to show the analysis");
    this.who = make("div", { class: "grow" });
    this.ahead = make("select", { id: "ahead", onchange: () => this.#lookaheadChanged() });
    this.aheadField = make("div", { class: "field" }, make("label", { for: "ahead" }, "Looks ahead"), this.ahead,
      make("span", { class: "says" }, "How many moves it looks ahead. More is stronger but slower."));
    this.values = make("div", { class: "values", id: "values", role: "group", "aria-label": "The four moves" });
    this.buttons = Object.fromEntries(MOVES.map((move) => [move, this.#button(move)]));
    this.values.append(...Object.values(this.buttons).map(({ row }) => row));
    this.legend = make("p", { class: "tiny muted", id: "values-say" });
    this.note = make("p", { class: "small", id: "analysis-says", role: "status", hidden: true });
    this.why = make("section", { class: "why stack close", "aria-label": "The tuples of the value" });
    element.append(
      make("div", { class: "who" }, this.who, this.aheadField),
      make("div", { class: "row apart" }, make("h2", {}, "Values of the moves"), this.showChoice),
      this.note, this.values, this.legend, this.why,
    );
    this.#showLookahead();
  }

  /** Get the agents from the server, and let one be chosen. */
  async ready() {
    this.chooser = await chooser(this.who, this.game, this.agent, (text) => {
      this.agent = text;
      this.#showLookahead();
      this.onChange("agent");
    });
    this.agent = this.chooser.text;
    this.#showLookahead();
  }

  /** Take over the settings of an address. */
  async set({ game, agent, depth, time, show }) {
    Object.assign(this, { depth, time, show });
    this.showChoice.choose(show);
    if (this.chooser) {
      if (game !== this.game) await this.chooser.game(game);
      if (agent) this.chooser.set(agent);
      this.agent = this.chooser.text;
    }
    this.game = game;
    this.#showLookahead();
  }

  /** Depth or time, as the server takes them. */
  get lookahead() {
    if (this.chooser && !this.chooser.agent?.learned) return {};
    return this.time ? { time: Number(this.time) } : { depth: Number(this.depth || 1) };
  }

  #lookaheadChanged() {
    const [kind, value] = [this.ahead.value[0], this.ahead.value.slice(1)];
    [this.depth, this.time] = kind === "d" ? [value, null] : [null, value];
    this.onChange("depth");
  }

  #showLookahead() {
    const now = this.time ? `t${Number(this.time)}` : `d${Number(this.depth || 1)}`;
    const values = new Set([...LOOKAHEAD, now]);
    this.ahead.replaceChildren(...[...values].map((value) => make("option", { value }, lookaheadText(value))));
    this.ahead.value = now;
    this.aheadField.hidden = Boolean(this.chooser) && !this.chooser.agent?.learned;
  }

  #button(move) {
    const fill = make("i", {});
    const bar = make("span", { class: "bar", "aria-hidden": "true" }, fill);
    const value = make("span", { class: "number" });
    const behind = make("span", { class: "number behind" });
    const row = make("button", { type: "button", class: "value", "data-move": move, onclick: () => this.onPlay(move) },
      icon(move), make("span", {}, move), bar, value, behind);
    return { row, bar, fill, value, behind };
  }

  /** Analyze a position. `played` is the move that was played there, if any. */
  analyze(position, played = null) {
    this.stop();
    this.explain(null);
    this.#explained.clear();
    if (position.over || position.is_chance) {
      const empty = !position.tiles.some(Boolean);
      this.#quiet(empty ? "The board is empty: place some tiles."
        : position.over ? "No move is legal: the game is over." : "Place the new tile to continue.");
      return;
    }
    this.values.classList.add("stale");
    this.#wanted = { position, played };
    this.#next();
  }

  /** One search at a time: the newest position is next when the last search has ended. */
  #next() {
    if (this.#job || !this.#wanted) return;
    const { position, played } = this.#wanted;
    this.#wanted = null;
    const request = { type: "analyze", game: position.game, position: position.notation, agent: this.agent };
    const job = this.#job = this.live.start({ ...request, ...this.lookahead }, (frame) => {
      if (frame.done) this.#job = null;
      if (!job.left) {
        if (frame.error) this.#quiet(frame.error, true);
        else if (frame.analysis?.moves?.length) this.render(frame.analysis, position, played);
        else if (frame.done) this.#quiet("No move is legal: the game is over.");
      }
      this.#next();
    });
  }

  stop() {
    this.#wanted = null;
    if (!this.#job || this.#job.left) return;
    this.#job.left = true;
    this.#job.stop(true);
  }

  hide() {
    this.stop();
    this.explain(null);
    this.#quiet("Hidden. Press T to show it.");
  }

  wait() {
    this.stop();
    this.explain(null);
    this.#quiet("Make your move to see what the agent thinks of it.");
  }

  #quiet(text, wrong = false) {
    this.result = null;
    this.note.textContent = text;
    this.note.hidden = false;
    this.note.classList.toggle("wrong", wrong);
    this.values.hidden = this.legend.hidden = this.why.hidden = true;
    this.onBest(null);
  }

  /** Show an analysis of a position. */
  render(result, position, played = null) {
    Object.assign(this, { result, of: position });
    const values = new Map(result.moves.map((each) => [each.move, each]));
    const legal = result.moves.filter((each) => each.legal !== false && each.value !== null);
    if (!legal.length) {
      this.#quiet(`This agent does not value moves. It would play ${result.best}.`);
      return;
    }
    const best = Math.max(...legal.map((each) => each.value));
    const worst = Math.min(...legal.map((each) => each.value));
    // The bars begin at `floor`, which the legend gives: a twentieth of the value is half a bar.
    const span = Math.max(Math.abs(best) / 10, (best - worst) * 1.15, 1e-9);
    const floor = best > 0 && best - span < 0 && worst >= 0 ? 0 : best - span;
    for (const move of MOVES) this.#showMove(move, values.get(move), { result, best, floor, played });
    const depth = result.depth ? `, looking ${counted(result.depth, "move")} ahead` : "";
    const sims = result.settings?.sims ? `, with ${count(result.settings.sims)} simulations per move` : "";
    this.legend.textContent = `Points that ${parseSpec(this.agent)[0]} expects from here to the end of the game: the `
      + `reward of the move and what comes after${depth}${sims}. Bars start at ${points(floor)}; on the right is what `
      + "a move gives up.";
    const loss = played ? values.get(played)?.loss : undefined;
    this.note.hidden = loss === undefined;
    this.note.textContent = loss === undefined ? "" : loss === 0 ? `You played ${played}, which is as good as the best.`
      : `You played ${played}; ${result.best} is ${points(loss)} points better.`;
    this.note.classList.remove("wrong");
    this.values.hidden = this.legend.hidden = false;
    this.values.classList.remove("stale");
    this.#why(result, position, legal);
    this.onBest(played ? null : result.best);
  }

  #showMove(move, each, { result, best, floor, played }) {
    const { row, bar, fill, value, behind } = this.buttons[move];
    const can = each && each.legal !== false && each.value !== null, isBest = move === result.best;
    row.disabled = !can;
    row.classList.toggle("best", isBest);
    row.classList.toggle("played", move === played);
    if (!can) {
      value.textContent = each && each.legal !== false ? "–" : "not possible";
      behind.textContent = "";
      delete row.dataset.value;
      row.setAttribute("aria-label", `${move}: not possible`);
      return;
    }
    bar.className = `bar ${isBest ? "best" : each.band}`;
    fill.style.setProperty("--share", Math.max(best === floor ? 1 : (each.value - floor) / (best - floor), .012));
    row.dataset.value = each.value;
    value.textContent = points(each.value);
    behind.textContent = isBest ? "best" : each.loss === 0 ? "as good" : points(-each.loss);
    if (move === played && !isBest) behind.textContent += " ◂";
    const compared = isBest ? "the best" : `${points(each.loss)} behind the best`;
    row.setAttribute("aria-label",
      `${move}: ${points(each.value)} points, ${compared}${move === played ? ", your move" : ""}`);
  }

  #why(result, position, legal) {
    const parts = Object.entries(result.why ?? {});
    this.why.hidden = parts.length === 0;
    if (!parts.length) return;
    const moves = legal.map((each) => each.move);
    const [rows, columns] = [position.cells.length, position.cells[0].length];
    const shape = `${parts.map(([part]) => part)} ${moves} ${result.best} ${rows}x${columns}`;
    if (this.shape !== shape) {
      this.shape = shape;
      this.#build([...parts.map(([part]) => part), "reward", "value"], moves, result.best, rows, columns);
    }
    const show = (part, move, value) => { this.cellsAt.get(`${part} ${move}`).textContent = value; };
    for (const [part, worth] of parts) {
      for (const move of moves) show(part, move, worth[move] === undefined ? "–" : points(worth[move]));
    }
    for (const each of legal) {
      show("reward", each.move, points(each.reward ?? 0));
      show("value", each.move, points(each.value));
    }
  }

  /** The table of tuples: a row for each part of the value, a column for each move. */
  #build(parts, moves, best, rows, columns) {
    this.shownMove = best;
    const select = (move) => {
      this.shownMove = move;
      this.#mark();
      if (this.#pinned) this.#point(this.#pinned, true);
    };
    this.heads = new Map(moves.map((move) => [move, make("button", {
      type: "button", class: "link", title: `Show placements after ${move}`, onclick: () => select(move) }, move)]));
    this.cellsAt = new Map();
    const body = parts.map((part) => {
      const head = !isTuple(part) ? { reward: "reward", value: "value" }[part] ?? part
        : make("button", { type: "button", class: "quiet", "data-tuple": part, "aria-pressed": "false" },
          mini(cellsOf(part), rows, columns), make("span", { class: "mono" }, part));
      const cells = moves.map((move) => {
        const cell = make("td", { class: `number${move === best ? " strong" : ""}`, "data-move": move });
        this.cellsAt.set(`${part} ${move}`, cell);
        return cell;
      });
      const row = make("tr", { class: isTuple(part) ? "tuple" : part === "value" ? "total" : "", "data-part": part },
        make("th", { scope: "row" }, head), cells);
      if (isTuple(part)) this.#pointable(row, part);
      return row;
    });
    this.placements = make("div", { class: "placements", role: "group", "aria-label": "The eight placements" });
    this.placementsSay = make("p", { class: "small muted after-says" });
    const columnHeads = moves.map((move) => make("th", { scope: "col" }, this.heads.get(move)));
    this.why.replaceChildren(
      make("h2", {}, "The tuples of the value"),
      make("p", { class: "tiny muted" }, "A tuple is a few cells with a table of weights. It is looked up at its eight "
        + "placements (rotated and mirrored) on the board after the move. Point at a tuple, or tap it, to see them."),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Values by tuple" },
        make("table", { id: "why" },
          make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "tuple"), columnHeads)),
          make("tbody", {}, body))),
      this.placementsSay, this.placements,
    );
    this.#mark();
  }

  #mark() {
    for (const [move, head] of this.heads) head.setAttribute("aria-pressed", String(move === this.shownMove));
  }

  #pointable(row, tuple) {
    const button = row.querySelector("button");
    row.addEventListener("pointerover", (event) => {
      if (event.pointerType === "touch" || this.#pinned) return;
      const move = event.target.closest("td")?.dataset.move ?? this.result?.best;
      this.#point({ tuple, row, move });
    });
    const leave = () => { if (!this.#pinned) this.explain(null); };
    row.addEventListener("pointerleave", leave);
    button.addEventListener("focus", () => {
      if (!this.#pinned && button.matches(":focus-visible")) this.#point({ tuple, row, move: this.shownMove });
    });
    button.addEventListener("blur", leave);
    row.addEventListener("click", (event) => {
      const move = event.target.closest("td")?.dataset.move ?? this.shownMove;
      if (this.#pinned?.tuple === tuple && this.#pinned.move === move) this.explain(null);
      else this.#point({ tuple, row, move }, true);
    });
  }

  /** Hide the placements (Escape, a move). */
  explain(nothing) {
    this.#request++;
    this.#pinned = nothing;
    this.why.querySelector("tr.shown")?.classList.remove("shown");
    this.why.querySelector("[data-tuple][aria-pressed=true]")?.setAttribute("aria-pressed", "false");
    if (this.placements) {
      this.placements.replaceChildren();
      this.placementsSay.textContent = "";
    }
    this.onExplain(null);
  }

  async #point({ tuple, row, move }, pin = false) {
    if (this.frozen) return;
    const request = ++this.#request;
    const of = this.of;
    if (pin) this.#pinned = { tuple, row, move }; // at once: the pointer may leave the row before the answer comes
    if (!this.#explained.has(move)) {
      this.#explained.set(move, Promise.all([
        post("/api/explain", { game: of.game, position: of.notation, agent: this.agent, move }),
        post("/api/play", { game: of.game, position: of.notation, move }),
      ]));
    }
    let answers;
    try {
      answers = await this.#explained.get(move);
    } catch (error) {
      this.#explained.delete(move);
      if (request === this.#request) this.#pinned = null;
      this.placementsSay.textContent = error.message;
      return;
    }
    if (request !== this.#request) return;
    this.explain(null);
    this.#request = request;
    if (pin) this.#pinned = { tuple, row, move };
    const [explained, played] = answers;
    const one = explained.tuples.find((each) => hex(each.cells) === tuple);
    if (!one) return;
    row.classList.add("shown");
    row.querySelector("button").setAttribute("aria-pressed", String(pin));
    const after = played.after ?? played.position;
    const [rows, columns] = [of.cells.length, of.cells[0].length];
    const show = (only) => this.onExplain({ after, placements: one.placements, only, move });
    const sum = one.placements.map(({ weight }) => points(weight)).join(" + ").replaceAll("+ −", "− ");
    this.placementsSay.textContent
      = `The board after ${move}, before a tile appears: ${sum} = ${points(one.value)} points from ${tuple}.`;
    this.placements.replaceChildren(...one.placements.map(({ cells, weight }, i) => make("button", {
      type: "button", class: "placement", "data-weight": weight,
      onclick: () => {
        show(i);
        document.getElementById("board").scrollIntoView({ block: "nearest", behavior: "smooth" });
      },
      onpointerenter: () => show(i), onpointerleave: () => show(null), onfocus: () => show(i), onblur: () => show(null),
    }, mini(cells, rows, columns, HUES[i % 8]), make("span", { class: "number" }, points(weight)))));
    show(null);
  }
}
