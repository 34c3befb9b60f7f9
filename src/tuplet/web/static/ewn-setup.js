// The panel of the game itself: which one, who plays, where cubes stand, and games as text.

import { chooser } from "./agents.js";
import { get, isOwn, post } from "./api.js";
import { choice, icon, make } from "./dom.js";
import { chip, sidesOf } from "./ewn-words.js";
import { copy, fail } from "./shell.js";

const DICE = {
  rolled: "rolled: a fair die before each move",
  chosen: "chosen: whoever moved chooses the other's number",
  free: "free: any cube may move",
  cycle: "known: a sequence of 21 numbers that both see",
};

const TITLES = {
  ewn: "EinStein würfelt nicht! (5×5)",
  "ewn-6x7": "6×7, with a known die",
  "ewn:board=4x4,cubes=3": "Small: 4×4, three cubes",
  "ewn:die=chosen": "The opponent chooses the die",
  "ewn:die=free": "No die: any cube may move",
};

const RULES = [
  "The die names the cube that moves. If that cube is gone, the next lower or the next higher one that is left may move: whoever moves chooses.",
  "Red goes right, down or diagonally, towards the corner at the bottom right; blue the other way. Where there are four directions, a cube may also go diagonally back.",
  "Whatever stands where a cube goes is taken, cubes of one's own too: fewer cubes are moved more often.",
  "You win by reaching the far corner or capturing your opponent's last cube. There is no draw.",
];

export class Setup {
  /** `table`: position(), sitting, begin(request), players(), place(), shuffle(), jump(), link(), changed(). */
  constructor(host, table, state) {
    Object.assign(this, { table, state });
    this.variants = make("select", { "aria-label": "Game", onchange: () => this.#picked() });
    this.about = make("p", { class: "tiny muted" });
    this.own = make("div", { class: "fields" });
    this.ownBox = make("details", {}, make("summary", { class: "small", text: "Rules of your own" }), this.own);
    this.players = make("div", { class: "ewn-two" });
    this.roll = make("input", { type: "checkbox", onchange: () => { state.roll = this.roll.checked ? "auto" : ""; table.changed(); table.advance(); } });
    this.placing = make("button", { type: "button", onclick: () => table.place() });
    this.shuffle = make("button", { type: "button", onclick: () => table.shuffle(), text: "Shuffle" });
    this.placeSays = make("p", { class: "tiny muted" });
    this.text = make("textarea", { rows: 3, spellcheck: "false", "aria-label": "A position or a game's record to read", placeholder: "Paste a position or a record here" });
    this.record = make("ol", { class: "ewn-record", "aria-label": "The moves so far" });
    host.append(
      make("section", { class: "panel", "aria-label": "Players" },
        make("header", {}, make("h2", { text: "Players" }), make("button", { type: "button", class: "quiet", text: "Swap sides", onclick: () => this.#swap() })),
        this.players,
        make("label", { class: "check small" }, this.roll, "my die rolls by itself")),
      make("section", { class: "panel", "aria-label": "Game" },
        make("header", {}, make("h2", { text: "Game" }), make("button", { type: "button", class: "primary", title: "New game (N)", onclick: () => table.begin() }, icon("new"), "New game")),
        make("div", { class: "field" }, this.variants, this.about),
        make("details", {}, make("summary", { class: "small", text: "How it is played" }), make("ul", { class: "small ewn-rules" }, ...RULES.map((text) => make("li", { text })))),
        this.ownBox,
        make("div", { class: "row ewn-placing" }, this.placing, this.shuffle), this.placeSays),
      make("section", { class: "panel", "aria-label": "Record" },
        make("header", {}, make("h2", { text: "Position and record" })),
        this.record,
        make("div", { class: "row" },
          make("button", { type: "button", onclick: () => copy(table.position().notation, "the position"), text: "Copy position" }),
          make("button", { type: "button", onclick: () => this.copyRecord(), text: "Copy record" }),
          make("button", { type: "button", onclick: () => copy(table.link(), "the link to what you see") }, icon("link"), "Copy link")),
        make("div", { class: "field" }, this.text, make("button", { type: "button", onclick: () => this.read(this.text.value) }, icon("paste"), "Read"))));
  }

  async set() {
    const { state } = this;
    this.roll.checked = state.roll === "auto";
    this.games ??= (await get("/api/games")).games.filter((each) => each.sides.length === 2 && !isOwn(each.game));
    const known = this.games.some((each) => each.game === state.game);
    this.variants.replaceChildren(...this.games.map((each) => make("option", { value: each.game, text: TITLES[each.game] ?? each.title ?? each.game })), ...(known ? [] : [make("option", { value: state.game, text: state.game })]));
    this.variants.value = state.game;
    this.about.textContent = this.games.find((each) => each.game === state.game)?.about ?? "A member of the family.";
    this.#drawOwn();
    await this.#drawPlayers();
  }

  /** Show the game as it stands. */
  show(sitting, placing) {
    const { steps, start } = sitting, flip = this.state.flip === "yes";
    this.placing.textContent = placing ? "Done" : "Place cubes";
    this.placing.setAttribute("aria-pressed", String(Boolean(placing)));
    this.placing.disabled = !placing && !this.table.canPlace();
    this.shuffle.disabled = !placing;
    this.placeSays.textContent = placing ? "Drag a cube onto another of its colour, or click one and then the other, to swap them." : this.placing.disabled ? "Cubes are placed before the first move of a game." : "Before the first move, cubes can stand on their starting squares in any order.";
    const moves = steps.filter(([move]) => move);
    const sides = sidesOf(moves.map(([move]) => move), start.split(" ")[2] === "blue" ? "blue" : "red");
    const lines = moves.map(([move, outcome], i) => make("li", {}, chip(sides[i], move, flip), outcome === null ? null : make("span", { class: "tiny muted", text: `⚄ ${outcome}` })));
    this.record.replaceChildren(...lines);
    this.record.hidden = !lines.length;
    this.record.scrollTop = this.record.scrollHeight;
  }

  #picked() {
    this.table.begin({ game: this.variants.value });
  }

  /** The family's settings, as the name of the game has them. */
  #drawOwn() {
    const [name, rest = ""] = this.state.game.split(":");
    const now = Object.fromEntries(rest.split(",").filter(Boolean).map((part) => part.split("=")));
    const board = (now.board ?? "5x5").split("x");
    const number = (label, value, low, high) => {
      const input = make("input", { type: "number", min: low, max: high, value, "aria-label": label });
      return [make("div", { class: "field" }, make("span", { text: label }), input), input];
    };
    const pick = (label, options, value) => {
      const input = make("select", { "aria-label": label }, Object.entries(options).map(([key, text]) => make("option", { value: key, text })));
      input.value = value;
      return [make("div", { class: "field" }, make("span", { text: label }), input), input];
    };
    const [rowsBox, rows] = number("Rows", board[0], 3, 9), [columnsBox, columns] = number("Columns", board[1], 3, 9);
    const [cubesBox, cubes] = number("Cubes a side", now.cubes ?? 6, 1, 6);
    const [dieBox, die] = pick("Die", DICE, now.die ?? ("cycle" in now || name === "ewn-6x7" ? "cycle" : "rolled"));
    const [waysBox, ways] = pick("Directions", { 3: "3: sideways, straight on, diagonal", 4: "4: and diagonally back" }, now.directions ?? "3");
    const [takeBox, take] = pick("Own cubes", { yes: "may be taken", no: "may not be taken" }, now.own ?? "yes");
    const begin = make("button", { type: "button", text: "Play by these rules", onclick: () => {
      const set = { board: `${rows.value}x${columns.value}`, cubes: cubes.value, die: die.value, directions: ways.value, own: take.value };
      const usual = { board: "5x5", cubes: "6", die: "rolled", directions: "3", own: "yes" };
      const told = Object.entries(set).filter(([key, value]) => value !== usual[key]).map((pair) => pair.join("="));
      this.table.begin({ game: told.length ? `ewn:${told.join(",")}` : "ewn" });
    } });
    this.own.replaceChildren(rowsBox, columnsBox, cubesBox, dieBox, waysBox, takeBox, begin);
  }

  async #drawPlayers() {
    const { state, table } = this;
    const key = `${state.game} ${state.red} ${state.blue}`;
    if (this.playersKey === key) return;
    this.playersKey = key;
    const boxes = ["red", "blue"].map((side) => {
      const agent = make("div", { class: "ewn-agent", hidden: state[side] === "you" });
      const who = choice(`who-${side}`, { you: "You", agent: "Agent" }, state[side] === "you" ? "you" : "agent", (value) => {
        state[side] = value === "you" ? "you" : "normal";
        table.players();
      }, `Who plays ${side}`);
      const ready = state[side] === "you" ? null : chooser(agent, state.game, state[side], (text) => {
        state[side] = text;
        this.playersKey = `${state.game} ${state.red} ${state.blue}`;
        table.players();
      }, "Agent");
      return { box: make("div", { class: `ewn-seat ${side}` }, make("h3", { text: side === "red" ? "Red" : "Blue" }), who, agent), ready };
    });
    this.players.replaceChildren(...boxes.map(({ box }) => box));
    await Promise.all(boxes.map(({ ready }) => ready));
  }

  #swap() {
    const { state } = this;
    [state.red, state.blue] = [state.blue, state.red];
    this.table.players();
  }

  async copyRecord() {
    const { sitting, state } = this.table;
    const names = ["red", "blue"].map((side) => state[side]);
    try {
      const { text } = await post("/api/write", { game: sitting.game, start: sitting.start, steps: sitting.steps, format: "record", names });
      await copy(text, "the game's record");
    } catch (error) {
      fail(error);
    }
  }

  /** Read what was pasted: a position, or a game whose last position is shown. */
  async read(text) {
    if (!text.trim()) return;
    try {
      const found = await post("/api/read", { text, game: this.state.game });
      await this.table.jump(found.position, found.kind === "game" ? found : null);
      this.text.value = "";
    } catch (error) {
      fail(error);
    }
  }
}
