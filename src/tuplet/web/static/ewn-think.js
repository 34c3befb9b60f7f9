// The panel of the analysis: a search of the position on the board, as it grows.
import { agentsOf, chooser } from "./agents.js";
import { count, icon, make, proofOf } from "./dom.js";
import { Growth } from "./ewn-growth.js";
import { squaresOf, walk } from "./ewn-line.js";
import { Moves, bandit, meaning } from "./ewn-moves.js";
import { Tree } from "./ewn-tree.js";
import { Why } from "./ewn-why.js";
import { chip, sidesOf } from "./ewn-words.js";
import { copy, fail } from "./shell.js";
import { parseSpec } from "./spec.js";

const DEPTH = 4, MAX_DEPTH = 12; // moves of the tree that is requested at first, and at most
const MAX_LINE = 8;

/** The first moves of a line, as chips. */
function chips(line, position, flip) {
  const sides = sidesOf(line, position.turn);
  return line.slice(0, MAX_LINE).map((move, i) => chip(sides[i], move, flip));
}

export class Think {
  constructor(host, page, state) {
    this.page = page;
    this.state = state;
    this.job = null;
    this.deep = DEPTH;
    this.chooser = make("div", { class: "ewn-agent few" });
    this.go = make("button", { type: "button", class: "primary", onclick: () => this.toggle() });
    this.along = make("input", { type: "checkbox", onchange: () => {
      this.state.along = this.along.checked ? "" : "no";
      page.changed();
      if (this.along.checked) this.start();
    } });
    this.note = make("p", { class: "small muted ewn-note", role: "status" });
    this.line = make("p", { class: "row ewn-line" });
    this.depths = make("div", { class: "ewn-depths" });
    const moves = make("div"), growth = make("div"), tree = make("div"), why = make("div");
    this.why = new Why(why);
    this.moves = new Moves(moves, (move) => this.#pointed(move));
    this.growth = new Growth(growth);
    this.tree = new Tree(tree, {
      onSelect: (path, go) => this.#selected(path, go), onMissing: (depth) => this.#deeper(depth) });
    this.means = make("p", { class: "tiny muted" });
    this.bandit = make("p", { class: "tiny muted" });
    this.command = make("code", { class: "tiny" });
    this.counted = make("span", { class: "tiny muted" });
    const section = (title, inside, more = null, name = "panel") =>
      make("section", { class: name, "aria-label": title },
        make("header", {}, make("h2", { text: title }), more), inside);
    this.parts = {
      growth: section("How it grew", [growth, this.bandit]),
      depths: section("Depth by depth", [this.depths, make("p", { class: "tiny muted", text: "Iterative deepening: the "
        + "search is repeated, one move deeper each time. Values: 0 (lost) to 1 (won) for the side to move." })]),
      why: section("What the values are made of", [why]),
      tree: section("The tree", [tree], this.counted, "panel ewn-tree"),
    };
    host.append(
      make("section", { class: "panel", "aria-label": "Search" },
        make("header", {}, make("h2", { text: "The search" }),
          make("label", { class: "check small" }, this.along, "follow the game"), this.go),
        this.chooser, this.note, moves, this.means, this.line,
        make("details", { class: "ewn-command" }, make("summary", { class: "tiny", text: "The same in a terminal" }),
          make("p", { class: "row" }, this.command, make("button", { type: "button", class: "link tiny", text: "copy",
            onclick: () => copy(this.command.textContent, "the command") })))),
      this.parts.growth, this.parts.depths, this.parts.why, this.parts.tree);
    this.#button();
    this.clear();
  }

  /** Follow the address: the agent, and whether to follow the game. */
  async set() {
    this.along.checked = this.state.along !== "no";
    const { game } = this.state;
    if (this.made === game && this.choice) this.choice.set(this.state.agent);
    else {
      this.made = game;
      this.choice = await chooser(this.chooser, game, this.state.agent, (text) => {
        if (parseSpec(text)[0] !== parseSpec(this.state.agent)[0]) this.clear(); // another agent's tree and arrows
        this.state.agent = text;
        this.page.changed(true);
        this.#prominent();
        this.start();
      }, "Agent");
    }
    this.#prominent();
  }

  /** Show the most important settings at once. */
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

  /** The position has changed; `waits`: it stays until a person acts. */
  moved(waits = true) {
    this.stop();
    this.clear();
    if (this.along.checked && waits) this.start();
  }

  /** The board was turned: draw again. */
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
    this.page.board.arrows([]);
    this.command.textContent = "";
    this.command.closest("details").hidden = true;
    if (this.position?.over) this.note.textContent = "The game is over.";
  }

  get position() {
    return this.page.position();
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

  /** Start the search; `again`: for more of its tree, which is shown when the search is done. */
  async start(again = false) {
    this.stop();
    this.again = again;
    const { position } = this;
    if (!position || position.over) return;
    if (!this.page.ready()) {
      this.note.textContent = position.is_chance || this.page.isHidden() ? "Roll the die first." : "";
      return;
    }
    const agent = this.state.agent;
    const mark = (this.begun = (this.begun ?? 0) + 1);
    const { agents } = await agentsOf(this.state.game);
    if (mark !== this.begun) return; // another search was started meanwhile
    const grows = agents.find((each) => each.agent === parseSpec(agent)[0])?.grows_tree;
    const request = { type: "analyze", game: position.game, position: position.notation, agent, seed: 0,
      ...(grows ? { growth: true, tree: this.deep } : {}) };
    this.snapshots = { simulations: [], moves: {} };
    this.note.textContent = "Thinking…";
    this.note.dataset.done = "false";
    this.command.textContent = `tuplet analyze ${position.game} "${position.notation}" --agent ${agent}`
      + (grows ? ` --tree ${this.deep}` : "");
    this.command.closest("details").hidden = false;
    this.job = this.page.live.start(request, (frame) => this.#frame(frame, position));
    this.#button();
  }

  #frame(frame, position) {
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
      const value = analysis.settings[field.dataset.setting]; // the value of a setting that is left empty
      field.placeholder = typeof value === "number" ? Number(value.toPrecision(4)) : "";
    }
    this.last = [frame, position];
    this.moves.show(analysis, position, flip);
    this.means.textContent = meaning(analysis, position.turn);
    this.note.textContent = `${analysis.note}${frame.stopped ? " (stopped)" : frame.done ? "" : " so far"}`;
    this.note.dataset.done = String(Boolean(frame.done));
    const growth = analysis.growth ?? this.#growthSoFar(analysis);
    this.growth.show(growth, position, flip);
    this.parts.growth.hidden = !growth || growth.simulations.length < 2;
    this.bandit.textContent = bandit(analysis.settings);
    this.tree.show(analysis.tree, position, flip);
    this.parts.tree.hidden = !analysis.tree;
    const { shown, nodes } = analysis.tree ?? {};
    if (analysis.tree) this.counted.textContent = `${count(shown)} of ${count(nodes)} nodes`;
    this.#deepened(analysis, position);
    this.parts.why.hidden = !Object.keys(analysis.why ?? {}).length;
    if (!this.parts.why.hidden) this.why.show(analysis, position, flip);
    this.#mainLine(analysis, position);
  }

  /** How the search grew up to now, a point for each frame; the last frame has the search's own points. */
  #growthSoFar(analysis) {
    if (!analysis.moves.some((move) => move.visits !== null)) return null;
    const simulations = analysis.tree?.visits ?? analysis.moves.reduce((sum, move) => sum + move.visits, 0);
    if (simulations <= (this.snapshots.simulations.at(-1) ?? 0)) return this.snapshots;
    this.snapshots.simulations.push(simulations);
    for (const each of analysis.moves) {
      const grown = (this.snapshots.moves[each.move] ??= { visits: [], value: [], ci95: [], proven: [] });
      for (const name of Object.keys(grown)) grown[name].push(each[name]);
    }
    return this.snapshots;
  }

  /** Alpha-beta, depth by depth: a row for each. */
  #deepened(analysis, position) {
    const { depth, moves, line, best } = analysis, value = moves.find((move) => move.move === best);
    this.parts.depths.hidden = depth === undefined || moves.some((move) => move.visits !== null);
    if (this.parts.depths.hidden || !value) return;
    const last = { ...value, depth, line: line.length ? line : [best] };
    const depths = [...(analysis.depths ?? []).filter((each) => each.depth < depth), last];
    const flip = this.state.flip === "yes";
    const rows = depths.slice(-14).reverse().map((each) => make("tr", { "data-depth": each.depth },
      make("td", { text: each.depth }),
      make("td", { class: "number", "data-value": each.value,
        text: each.value === null ? "–" : `${each.value.toFixed(3)} ${proofOf(each)}`.trim() }),
      make("td", { class: "text" }, make("span", { class: "row" }, ...chips(each.line, position, flip)))));
    const head = make("tr", {}, make("th", { text: "depth" }), make("th", { text: "value" }),
      make("th", { class: "text", text: "best line" }));
    this.depths.replaceChildren(make("div", { class: "scroll" },
      make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows))));
  }

  /** What both sides are expected to play, as chips and as arrows. */
  async #mainLine(analysis, position) {
    const line = (analysis.line?.length ? analysis.line : [analysis.best]).filter(Boolean);
    const key = `${position.notation} ${line.join(" ")}`;
    if (this.lineKey === key && this.line.childElementCount) return;
    this.lineKey = key;
    const flip = this.state.flip === "yes", rest = line.length - MAX_LINE;
    const then = rest > 0 ? `and ${rest} more` : position.die_rule === "rolled" ? "then the die decides" : "";
    this.line.replaceChildren(make("span", { class: "small muted", text: "Main line:" }),
      ...chips(line, position, flip), make("span", { class: "tiny muted", text: then }));
    let steps;
    try {
      steps = await walk(position, line.slice(0, MAX_LINE));
    } catch {
      return; // the line is written, but not drawn
    }
    if (this.lineKey !== key || this.position.notation !== position.notation) return;
    this.main = steps;
    if (!this.tree.selected) this.page.board.arrows(steps);
  }

  #pointed(move) {
    const { position } = this;
    if (!this.shown || this.shown.position.notation !== position.notation) return;
    const isMove = move !== null && position.targets[move];
    this.page.board.arrows(isMove ? [squaresOf(position, move)] : this.main ?? []);
  }

  /** A node of the tree is selected: draw the way to it, or go there. */
  async #selected(path, go) {
    const { position } = this;
    try {
      const steps = await walk(position, path);
      if (go) this.page.openPosition(steps.at(-1).position).catch(fail);
      else if (this.position.notation === position.notation) {
        this.page.board.arrows(path.length ? steps.filter((step) => step.to) : this.main ?? []);
      }
    } catch (error) {
      fail(error);
    }
  }

  /** Request a tree that ends just below a node of this depth: the server sends a limited number of nodes. */
  #deeper(depth) {
    const wanted = Math.min(depth + 1, MAX_DEPTH);
    if (wanted === this.deep || this.job) return;
    this.deep = wanted;
    this.start(true);
  }
}
