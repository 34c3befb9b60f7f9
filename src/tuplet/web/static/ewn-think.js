// The panel that thinks: a search of the position on the board, as it grows.

import { agentsOf, chooser, parts } from "./agents.js";
import { count, icon, make } from "./dom.js";
import { Growth } from "./ewn-growth.js";
import { bandit, meaning, Moves } from "./ewn-moves.js";
import { walk } from "./ewn-sitting.js";
import { Tree } from "./ewn-tree.js";
import { chip, sidesOf } from "./ewn-words.js";
import { compiling, copy, fail } from "./shell.js";

const DEPTH = 4, DEEPEST = 12; // moves of the tree that is asked for at first, and at most
const MOST_LINE = 8;

/** The first moves of a line, as chips. */
function chips(line, position, flip) {
  const sides = sidesOf(line, position.turn);
  return line.slice(0, MOST_LINE).map((move, i) => chip(sides[i], move, flip));
}

export class Think {
  /** `table`: what the panel needs of the page: live, board, position(), ready(), changed(), jump(). */
  constructor(host, table, state) {
    Object.assign(this, { table, state });
    this.job = null;
    this.deep = DEPTH;
    this.chooser = make("div", { class: "ewn-agent few" });
    this.go = make("button", { type: "button", class: "primary", onclick: () => this.toggle() });
    this.along = make("input", { type: "checkbox", onchange: () => { this.state.along = this.along.checked ? "" : "no"; table.changed(); if (this.along.checked) this.start(); } });
    this.note = make("p", { class: "small muted ewn-note", role: "status" });
    this.line = make("p", { class: "row ewn-line" });
    this.depths = make("div", { class: "ewn-depths" });
    const moves = make("div"), growth = make("div"), tree = make("div");
    this.moves = new Moves(moves, (move) => this.#pointed(move));
    this.growth = new Growth(growth);
    this.tree = new Tree(tree, { onSelect: (path, node, go) => this.#selected(path, go), onMissing: (moves) => this.#deeper(moves) });
    this.means = make("p", { class: "tiny muted" });
    this.bandit = make("p", { class: "tiny muted" });
    this.command = make("code", { class: "tiny" });
    this.parts = {
      growth: make("section", { class: "panel", "aria-label": "How it grew" }, make("header", {}, make("h2", { text: "As it grew" })), growth, this.bandit),
      depths: make("section", { class: "panel", "aria-label": "Depth by depth" }, make("header", {}, make("h2", { text: "Depth by depth" })), this.depths,
        make("p", { class: "tiny muted", text: "Iterative deepening: the whole search again, one move deeper each time. Value: 0 lost, 1 won, to the side that moves now." })),
      tree: make("section", { class: "panel ewn-tree", "aria-label": "The tree" }, make("header", {}, make("h2", { text: "The tree" }), this.counted = make("span", { class: "tiny muted" })), tree),
    };
    host.append(
      make("section", { class: "panel", "aria-label": "Search" },
        make("header", {}, make("h2", { text: "The search" }), make("label", { class: "check small" }, this.along, "think along"), this.go),
        this.chooser, this.note, moves, this.means, this.line,
        make("details", { class: "ewn-command" }, make("summary", { class: "tiny", text: "The same in a terminal" }), make("p", { class: "row" }, this.command,
          make("button", { type: "button", class: "link tiny", text: "copy", onclick: () => copy(this.command.textContent, "the command") })))),
      this.parts.growth, this.parts.depths, this.parts.tree);
    this.#button();
    this.clear();
  }

  /** Follow what the address says: the agent, and whether to think along. */
  async set() {
    this.along.checked = this.state.along !== "no";
    const { game } = this.state;
    if (this.made === game && this.choice) this.choice.set(this.state.agent);
    else {
      this.made = game;
      this.choice = await chooser(this.chooser, game, this.state.agent, (text) => {
        if (parts(text)[0] !== parts(this.state.agent)[0]) this.clear(); // what another has found, its tree and its arrows
        this.state.agent = text;
        this.table.changed(true);
        this.#prominent();
        this.start();
      }, "Who thinks");
    }
    this.#prominent();
  }

  /** Settings that everybody wants stand in the open. */
  #prominent() {
    const details = this.chooser.querySelector("details");
    if (!details || details.dataset.known) return;
    details.dataset.known = "yes";
    details.open = true;
    const all = make("button", { type: "button", class: "link tiny", onclick: () => {
      const few = this.chooser.classList.toggle("few");
      all.textContent = few ? "all settings" : "fewer settings";
    }, text: "all settings" });
    this.chooser.classList.add("few");
    details.append(all);
  }

  toggle() {
    if (this.job) this.stop(true);
    else this.start();
  }

  /** The position has changed; `waits`: it is there until a person acts. */
  moved(waits = true) {
    this.stop();
    this.clear();
    if (this.along.checked && waits) this.start();
  }

  /** The board was turned: the same again, as it looks now. */
  turned() {
    this.lineKey = "";
    if (this.last) this.#show(...this.last);
  }

  clear() {
    this.moves.clear();
    this.growth.clear();
    this.tree.reset();
    this.deep = DEPTH;
    this.shown = this.last = null;
    this.line.replaceChildren();
    this.lineKey = "";
    this.main = [];
    this.means.textContent = this.bandit.textContent = this.note.textContent = "";
    for (const part of Object.values(this.parts)) part.hidden = true;
    this.table.board.arrows([]);
    const { position } = this;
    this.command.textContent = "";
    this.command.closest("details").hidden = true;
    if (position?.over) this.note.textContent = "The game is over: there is nothing to think about.";
  }

  get position() {
    return this.table.position();
  }

  stop(hear = false) {
    this.job?.stop(hear);
    if (!hear) this.#ended();
  }

  #ended() {
    this.job = null;
    this.#button();
  }

  #button() {
    this.go.replaceChildren(icon(this.job ? "pause" : "play"), this.job ? "Stop" : "Think");
    this.go.title = this.job ? "Stop (T)" : "Think about this position (T)";
  }

  /** `again`: the same search for more of its tree, which is not shown before it is there. */
  async start(again = false) {
    this.stop();
    this.again = again;
    const { position } = this;
    if (!position || position.over) return;
    if (!this.table.ready()) {
      this.note.textContent = position.is_chance || this.table.hidden() ? "Roll the die first: a search begins where somebody moves." : "";
      return;
    }
    const agent = this.state.agent;
    const mark = (this.begun = (this.begun ?? 0) + 1);
    const list = await agentsOf(this.state.game).catch((error) => { fail(error); return { agents: [] }; });
    if (mark !== this.begun) return; // somebody was faster
    const known = list.agents.find((each) => each.agent === parts(agent)[0]);
    const grows = known?.grows_tree ?? /^mct?s\b/.test(agent);
    const request = { type: "analyze", game: position.game, position: position.notation, agent, seed: 0, ...(grows ? { growth: true, tree: this.deep } : {}) };
    this.looks = { simulations: [], moves: {} };
    this.note.textContent = "Thinking…";
    this.note.dataset.done = "false";
    this.command.textContent = `tuplet analyze ${position.game} "${position.notation}" --agent ${agent}${grows ? ` --tree ${this.deep}` : ""}`;
    this.command.closest("details").hidden = false;
    this.job = this.table.live.start(request, (frame) => this.#frame(frame, position));
    this.#button();
  }

  #frame(frame, position) {
    compiling(Boolean(frame.compiling));
    if (frame.error) {
      fail(new Error(frame.error));
      this.note.textContent = frame.error;
    }
    if (frame.analysis?.moves?.length && (frame.done || !this.again)) this.#show(frame, position);
    if (frame.done) this.#ended();
  }

  #show(frame, position) {
    const { analysis } = frame, flip = this.state.flip === "yes";
    this.shown = { analysis, position };
    for (const field of analysis.settings ? this.chooser.querySelectorAll("input[data-setting]") : []) {
      const value = analysis.settings[field.dataset.setting]; // what nobody has set: what it is, then
      field.placeholder = typeof value === "number" ? Number(value.toPrecision(4)) : "";
    }
    this.last = [frame, position];
    this.moves.show(analysis, position, flip);
    this.means.textContent = meaning(analysis, position.turn);
    this.note.textContent = `${analysis.note}${frame.stopped ? " (stopped)" : frame.done ? "" : " so far"}`;
    this.note.dataset.done = String(Boolean(frame.done));
    const growth = analysis.growth ?? this.#looked(analysis);
    this.growth.show(growth, position, flip);
    this.parts.growth.hidden = !growth || growth.simulations.length < 2;
    this.bandit.textContent = bandit(analysis.settings);
    this.tree.show(analysis.tree, position, flip);
    this.parts.tree.hidden = !analysis.tree;
    if (analysis.tree) this.counted.textContent = `${count(analysis.tree.shown)} of ${count(analysis.tree.nodes)} nodes`;
    this.#deepened(analysis, position, frame.done);
    this.#mainLine(analysis, position);
  }

  /** What was told so far, a look for each frame; the last frame has the search's own looks. */
  #looked(analysis) {
    if (!analysis.moves.some((move) => move.visits !== null)) return null;
    const simulations = analysis.tree?.visits ?? analysis.moves.reduce((sum, move) => sum + move.visits, 0);
    if (simulations <= (this.looks.simulations.at(-1) ?? 0)) return this.looks;
    this.looks.simulations.push(simulations);
    for (const { move, visits, value, ci95, proven } of analysis.moves) {
      const grown = (this.looks.moves[move] ??= { visits: [], value: [], ci95: [], proven: [] });
      grown.visits.push(visits);
      grown.value.push(value);
      grown.ci95.push(ci95);
      grown.proven.push(proven);
    }
    return this.looks;
  }

  /** Alpha-beta, depth by depth: a line for each. */
  #deepened(analysis, position, done) {
    const depth = analysis.depth ?? Number(/depth (\d+)/.exec(analysis.note ?? "")?.[1] ?? NaN);
    const best = analysis.moves.find((move) => move.move === analysis.best);
    this.parts.depths.hidden = Number.isNaN(depth) || analysis.moves.some((move) => move.visits !== null);
    if (this.parts.depths.hidden || !best) return;
    const row = { depth, value: best.value, proven: best.proven, line: analysis.line.length ? analysis.line : [analysis.best] };
    this.history = [...(analysis.depths ?? []).filter((each) => each.depth < depth), row];
    const flip = this.state.flip === "yes";
    const rows = this.history.slice(-14).reverse().map(({ depth: at, value, proven, line }) => make("tr", { "data-depth": at },
      make("td", { text: at }), make("td", { class: "number", "data-value": value, text: value === null ? "–" : value.toFixed(3) + (proven ? " proven" : "") }),
      make("td", { class: "text" }, make("span", { class: "row" }, ...chips(line, position, flip)))));
    this.depths.replaceChildren(make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, make("th", { text: "depth" }), make("th", { text: "value" }), make("th", { class: "text", text: "best line" }))), make("tbody", {}, ...rows))));
    if (done) this.note.textContent = analysis.note;
  }

  /** What both sides are expected to do, in words and as arrows. */
  async #mainLine(analysis, position) {
    const line = (analysis.line?.length ? analysis.line : [analysis.best]).filter(Boolean);
    const key = `${position.notation} ${line.join(" ")}`;
    if (this.lineKey === key && this.line.childElementCount) return;
    this.lineKey = key;
    const flip = this.state.flip === "yes", rest = line.length - MOST_LINE;
    this.line.replaceChildren(make("span", { class: "small muted", text: "Main line:" }), ...chips(line, position, flip),
      make("span", { class: "tiny muted", text: rest > 0 ? `and ${rest} more` : /die=(chosen|free|cycle)|6x7/.test(position.game) ? "" : "then the die decides" }));
    let steps;
    try {
      steps = await walk(position, line.slice(0, MOST_LINE));
    } catch {
      return; // the line is told, if not drawn
    }
    if (this.lineKey !== key || this.position.notation !== position.notation) return;
    this.main = steps;
    if (!this.tree.selected) this.table.board.arrows(steps);
  }

  #pointed(move) {
    const { position } = this;
    if (!this.shown || this.shown.position.notation !== position.notation) return;
    if (move === null || !position.targets[move]) this.table.board.arrows(this.main ?? []);
    else this.table.board.arrows([{ side: position.turn, from: position.cubes[position.turn[0] + move.slice(0, -1)], to: position.targets[move] }]);
  }

  /** A node of the tree: its way on the board, or the board there. */
  async #selected(path, go) {
    const { position } = this;
    try {
      const steps = await walk(position, path);
      if (go) this.table.jump(steps.at(-1).position);
      else if (this.position.notation === position.notation) this.table.board.arrows(path.length ? steps.filter((step) => step.to) : this.main ?? []);
    } catch (error) {
      fail(error);
    }
  }

  /** Ask again for a tree that goes just below a node so many moves deep: there is room for it then. */
  #deeper(moves) {
    const wanted = Math.min(moves + 1, DEEPEST);
    if (wanted === this.deep || this.job) return;
    this.deep = wanted;
    this.start(true);
  }
}
