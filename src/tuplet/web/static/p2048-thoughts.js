// What the agent thinks: the moves with their values, and which tuples make them.
import { post } from "./api.js";
import { chooser } from "./agents.js";
import { choice, count, counted, draw, icon, make, points } from "./dom.js";
import { HUES } from "./p2048-board.js";
import { compiling } from "./shell.js";

const MOVES = ["up", "right", "down", "left"];
const AHEAD = { d1: "1 move", d2: "2 moves", d3: "3 moves", d4: "4 moves", d5: "5 moves",
  "t0.01": "for 0.01 seconds a move", "t0.05": "for 0.05 seconds a move", "t0.2": "for 0.2 seconds a move",
  t1: "for 1 second a move", t3: "for 3 seconds a move" };
export const SHOW = { shown: "Shown", after: "After my move", hidden: "Hidden" };

/** A small board on which some cells are marked. */
export function mini(cells, rows, columns, colour = "var(--accent)") {
  const on = new Set(cells);
  const svg = draw("svg", { class: "mini", viewBox: `0 0 ${columns * 10} ${rows * 10}`, "aria-hidden": "true" });
  for (let cell = 0; cell < rows * columns; cell++) {
    svg.append(draw("rect", { x: (cell % columns) * 10 + .8, y: Math.floor(cell / columns) * 10 + .8, width: 8.4, height: 8.4, rx: 1.6,
      fill: on.has(cell) ? colour : "var(--line)" }));
  }
  return svg;
}

const hex = (cells) => cells.map((cell) => cell.toString(16)).join("");
const cellsOf = (tuple) => [...tuple].map((digit) => parseInt(digit, 16));
const isTuple = (part) => /^[0-9a-f]{1,16}$/.test(part);

/** How an address wants to think; what makes no sense there is as usual. */
export function looked(given) {
  const time = Number(given.time) > 0 ? given.time : null;
  return { game: given.game ?? "2048", agent: given.agent ?? "", depth: time ? null : Number(given.depth) >= 1 ? given.depth : "1",
    time, show: Object.hasOwn(SHOW, given.show) ? given.show : "shown" };
}

export class Thoughts {
  #job = null;
  #wanted = null;
  #explained = new Map(); // what was asked about tuples of one analysis: move -> promise
  #asked = 0;
  #pinned = null;

  /** Calls: onPlay(move), onExplain({after, placements, ...} or null), onChange(what) of agent, depth or show,
   * onBest(move or null). */
  constructor(element, live, { game, agent, depth, time, show }, { onPlay, onExplain, onChange, onBest }) {
    Object.assign(this, { live, game, agent, depth, time, show, onPlay, onExplain, onChange, onBest });
    this.frozen = false; // an agent plays: what is shown is of a position that is gone
    this.analysis = null;
    this.showChoice = choice("show", SHOW, show, (value) => { this.show = value; onChange("show"); }, "When to show what the agent thinks");
    this.who = make("div", { class: "grow" });
    this.ahead = make("select", { id: "ahead", onchange: () => this.#looked() });
    this.aheadField = make("div", { class: "field" }, make("label", { for: "ahead" }, "Looks ahead"), this.ahead,
      make("span", { class: "says" }, "How many moves it looks ahead. More is stronger but slower."));
    this.values = make("div", { class: "values", id: "values", role: "group", "aria-label": "The four moves" });
    this.buttons = Object.fromEntries(MOVES.map((move) => [move, this.#button(move)]));
    this.values.append(...Object.values(this.buttons).map(({ row }) => row));
    this.legend = make("p", { class: "tiny muted", id: "values-say" });
    this.note = make("p", { class: "small", id: "thinking-says", role: "status", hidden: true });
    this.why = make("section", { class: "why stack close", "aria-label": "Which tuples make the value" });
    element.append(
      make("div", { class: "who" }, this.who, this.aheadField),
      make("div", { class: "row apart" }, make("h2", {}, "Values of the moves"), this.showChoice),
      this.note, this.values, this.legend, this.why,
    );
    this.#ahead();
  }

  /** Ask the server for the agents, and let one be chosen. */
  async ready() {
    this.chooser = await chooser(this.who, this.game, this.agent, (text) => {
      this.agent = text;
      this.#ahead();
      this.onChange("agent");
    });
    this.agent = this.chooser.text;
    this.#ahead();
  }

  /** Be as an address says. */
  async set({ game, agent, depth, time, show }) {
    Object.assign(this, { depth, time, show });
    this.showChoice.choose(show);
    if (this.chooser) {
      if (game !== this.game) await this.chooser.game(game);
      if (agent) this.chooser.set(agent);
      this.agent = this.chooser.text;
    }
    this.game = game;
    this.#ahead();
  }

  /** Depth or time, as the server takes them. */
  get looks() {
    if (this.chooser && !this.chooser.agent?.learned) return {};
    return this.time ? { time: Number(this.time) } : { depth: Number(this.depth || 1) };
  }

  #looked() {
    const [kind, value] = [this.ahead.value[0], this.ahead.value.slice(1)];
    [this.depth, this.time] = kind === "d" ? [value, null] : [null, value];
    this.onChange("depth");
  }

  #ahead() {
    const now = this.time ? `t${Number(this.time)}` : `d${Number(this.depth || 1)}`;
    const options = { ...AHEAD, [now]: AHEAD[now] ?? (this.time ? `for ${Number(this.time)} seconds a move` : counted(Number(this.depth), "move")) };
    this.ahead.replaceChildren(...Object.entries(options).map(([value, text]) => make("option", { value }, text)));
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

  /** Think about a position. `played` is the move that was made there, if it was. */
  think(position, played = null) {
    this.stop();
    this.explain(null);
    this.#explained.clear();
    if (position.over || position.is_chance) {
      const empty = !position.tiles.some(Boolean);
      this.#quiet(empty ? "The board is empty: place some tiles." : position.over ? "No move is legal: the game is over." : "Place the new tile to continue.");
      return;
    }
    this.values.classList.add("stale");
    this.#wanted = { position, played };
    this.#next();
  }

  /** One search at a time: the next begins when the last has ended, and only the newest is wanted. */
  #next() {
    if (this.#job || !this.#wanted) return;
    const { position, played } = this.#wanted;
    this.#wanted = null;
    const request = { type: "analyze", game: position.game, position: position.notation, agent: this.agent, ...this.looks };
    const job = this.#job = this.live.start(request, (frame) => {
      compiling(Boolean(frame.compiling) && !frame.done);
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
    this.#quiet("Hidden, so that you think for yourself. T shows it.");
  }

  wait() {
    this.stop();
    this.explain(null);
    this.#quiet("Make your move: then you see what the agent thinks of it.");
  }

  #quiet(text, wrong = false) {
    this.analysis = null;
    this.note.textContent = text;
    this.note.hidden = false;
    this.note.classList.toggle("wrong", wrong);
    this.values.hidden = this.legend.hidden = this.why.hidden = true;
    this.onBest(null);
  }

  /** Show an analysis of a position. */
  render(analysis, position, played = null) {
    Object.assign(this, { analysis, of: position });
    const values = new Map(analysis.moves.map((each) => [each.move, each]));
    const legal = analysis.moves.filter((each) => each.legal !== false && each.value !== null);
    if (!legal.length) {
      this.#quiet(`This agent gives moves no values. It would play ${analysis.best}.`);
      return;
    }
    const best = Math.max(...legal.map((each) => each.value));
    const worst = Math.min(...legal.map((each) => each.value));
    // From an end of the scale that is said beneath: a twentieth of the value is half a bar.
    const span = Math.max(Math.abs(best) / 10, (best - worst) * 1.15, 1e-9);
    const floor = best > 0 && best - span < 0 && worst >= 0 ? 0 : best - span;
    for (const move of MOVES) {
      const { row, bar, fill, value, behind } = this.buttons[move];
      const each = values.get(move);
      const can = each && each.legal !== false && each.value !== null;
      row.disabled = !can;
      row.classList.toggle("best", move === analysis.best);
      row.classList.toggle("played", move === played);
      if (!can) {
        value.textContent = each && each.legal !== false ? "–" : "not possible";
        behind.textContent = "";
        delete row.dataset.value;
        row.setAttribute("aria-label", `${move}: not possible`);
        continue;
      }
      const loss = best - each.value;
      const share = best === floor ? 1 : (each.value - floor) / (best - floor);
      const band = move === analysis.best || loss === 0 ? "best" : loss > Math.abs(best) * .05 ? "bad" : loss >= Math.abs(best) * .01 ? "fair" : "good";
      bar.className = `bar ${band}`;
      fill.style.setProperty("--share", Math.max(share, .012));
      row.dataset.value = each.value;
      value.textContent = points(each.value);
      behind.textContent = move === analysis.best ? "best" : loss === 0 ? "as good" : points(-loss);
      if (move === played && move !== analysis.best) behind.textContent += " ◂";
      row.setAttribute("aria-label", `${move}: ${points(each.value)} points, ${move === analysis.best ? "the best" : `${points(loss)} behind the best`}${move === played ? ", your move" : ""}`);
    }
    const depth = analysis.depth ? `, looking ${counted(analysis.depth, "move")} ahead` : "";
    const budget = analysis.settings?.sims;
    const sims = budget ? `, with ${count(budget)} simulations a move` : "";
    this.legend.textContent = `Points that ${this.agent.split(":")[0]} expects from here to the end of the game: what the move `
      + `earns at once and what comes after${depth}${sims}. Bars begin at ${points(floor)}; on the right, what a move gives away.`;
    const mine = played && values.get(played)?.value;
    this.note.hidden = !played || mine === undefined || mine === null;
    if (!this.note.hidden) {
      const lost = best - mine;
      this.note.textContent = lost === 0 ? `You played ${played}: as good as it gets.` : `You played ${played}; ${analysis.best} is ${points(lost)} points better.`;
    }
    this.note.classList.remove("wrong");
    this.values.hidden = this.legend.hidden = false;
    this.values.classList.remove("stale");
    this.#why(analysis, position, legal);
    this.onBest(played ? null : analysis.best);
  }

  #why(analysis, position, legal) {
    const parts = Object.entries(analysis.why ?? {});
    this.why.hidden = parts.length === 0;
    if (!parts.length) return;
    const moves = legal.map((each) => each.move);
    const [rows, columns] = [position.cells.length, position.cells[0].length];
    const shape = `${parts.map(([part]) => part)} ${moves} ${analysis.best} ${rows}x${columns}`;
    if (this.shape !== shape) {
      this.shape = shape;
      this.shownMove = analysis.best;
      this.heads = new Map(moves.map((move) => [move, make("button", { type: "button", class: "link", title: `Show placements after ${move}`,
        onclick: () => { this.shownMove = move; this.#mark(); if (this.#pinned) this.#point(this.#pinned, true); } }, move)]));
      this.cellsAt = new Map();
      const body = [...parts.map(([part]) => part), "reward", "value"].map((part) => {
        const head = isTuple(part)
          ? make("button", { type: "button", class: "quiet", "data-tuple": part, "aria-pressed": "false" }, mini(cellsOf(part), rows, columns), make("span", { class: "mono" }, part))
          : { reward: "earned at once", value: "value" }[part] ?? part;
        const tds = moves.map((move) => {
          const td = make("td", { class: `number${move === analysis.best ? " strong" : ""}`, "data-move": move });
          this.cellsAt.set(`${part} ${move}`, td);
          return td;
        });
        const row = make("tr", { class: isTuple(part) ? "tuple" : part === "value" ? "total" : "", "data-part": part }, make("th", { scope: "row" }, head), tds);
        if (isTuple(part)) this.#pointable(row, part);
        return row;
      });
      this.placements = make("div", { class: "placements", role: "group", "aria-label": "The eight placements" });
      this.placementsSay = make("p", { class: "small muted after-says" });
      this.why.replaceChildren(
        make("h2", {}, "Which tuples make the value"),
        make("p", { class: "tiny muted" }, "A tuple is a few cells with a table of weights, looked up at its eight placements (turned and mirrored) on the board "
          + "as the move leaves it. Point at one, or tap it, to see them."),
        make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Values by tuple" },
          make("table", { id: "why" }, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "tuple"), moves.map((move) => make("th", { scope: "col" }, this.heads.get(move))))), make("tbody", {}, body))),
        this.placementsSay, this.placements,
      );
      this.#mark();
    }
    for (const [part, worth] of parts) {
      for (const move of moves) this.cellsAt.get(`${part} ${move}`).textContent = worth[move] === undefined ? "–" : points(worth[move]);
    }
    for (const each of legal) {
      this.cellsAt.get(`reward ${each.move}`).textContent = points(each.reward ?? 0);
      this.cellsAt.get(`value ${each.move}`).textContent = points(each.value);
    }
  }

  #mark() {
    for (const [move, head] of this.heads) head.setAttribute("aria-pressed", String(move === this.shownMove));
  }

  #pointable(row, tuple) {
    const button = row.querySelector("button");
    row.addEventListener("pointerover", (event) => {
      if (event.pointerType === "touch" || this.#pinned) return;
      const move = event.target.closest("td")?.dataset.move ?? this.analysis?.best;
      this.#point({ tuple, row, move });
    });
    row.addEventListener("pointerleave", () => { if (!this.#pinned) this.explain(null); });
    button.addEventListener("focus", () => { if (!this.#pinned && button.matches(":focus-visible")) this.#point({ tuple, row, move: this.shownMove }); });
    button.addEventListener("blur", () => { if (!this.#pinned) this.explain(null); });
    row.addEventListener("click", (event) => {
      const move = event.target.closest("td")?.dataset.move ?? this.shownMove;
      if (this.#pinned?.tuple === tuple && this.#pinned.move === move) this.explain(null);
      else this.#point({ tuple, row, move }, true);
    });
  }

  /** Take the placements away (Escape, a move). */
  explain(nothing) {
    this.#asked++;
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
    const asked = ++this.#asked;
    const of = this.of;
    if (pin) this.#pinned = { tuple, row, move }; // at once: leaving the row while it is asked for changes nothing
    if (!this.#explained.has(move)) {
      this.#explained.set(move, Promise.all([
        post("/api/explain", { game: of.game, position: of.notation, agent: this.agent, move }),
        post("/api/play", { game: of.game, position: of.notation, move }),
      ]));
    }
    let found;
    try {
      found = await this.#explained.get(move);
    } catch (error) {
      this.#explained.delete(move);
      if (asked === this.#asked) this.#pinned = null;
      this.placementsSay.textContent = error.message;
      return;
    }
    if (asked !== this.#asked) return;
    this.explain(null);
    this.#asked = asked;
    if (pin) this.#pinned = { tuple, row, move };
    const [explained, played] = found;
    const one = explained.tuples.find((each) => hex(each.cells) === tuple);
    if (!one) return;
    row.classList.add("shown");
    row.querySelector("button").setAttribute("aria-pressed", String(pin));
    const after = played.after ?? played.position;
    const [rows, columns] = [of.cells.length, of.cells[0].length];
    const show = (only) => this.onExplain({ after, placements: one.placements, only, move });
    this.placementsSay.textContent = `The board after ${move}, before a tile appears: ${one.placements.map(({ weight }) => points(weight)).join(" + ").replaceAll("+ −", "− ")} = ${points(one.value)} points from ${tuple}.`;
    this.placements.replaceChildren(...one.placements.map(({ cells, weight }, i) => make("button", {
      type: "button", class: "placement", "data-weight": weight,
      onclick: () => { show(i); document.getElementById("board").scrollIntoView({ block: "nearest", behavior: "smooth" }); },
      onpointerenter: () => show(i), onpointerleave: () => show(null), onfocus: () => show(i), onblur: () => show(null),
    }, mini(cells, rows, columns, HUES[i % 8]), make("span", { class: "number" }, points(weight)))));
    show(null);
  }
}
