// The panel of the game: which one, who plays, how cubes are placed, and games as text.
import { chooser } from "./agents.js";
import { get, isUserGame, post } from "./api.js";
import { choice, icon, make } from "./dom.js";
import { OPPONENT, chip, sidesOf } from "./ewn-words.js";
import { copy, fail, readText } from "./shell.js";
import { formatSpec, parseSpec } from "./spec.js";
import { isStatic } from "./wasm-client.js";

const DICE = {
  rolled: "rolled: a fair die before each move",
  chosen: "chosen: each side chooses the other's number",
  free: "free: any cube may move",
  cycle: "known: both sides see a sequence of 21 numbers",
};

const TITLES = {
  ewn: "EinStein würfelt nicht! (5×5)",
  "ewn-6x7": "6×7, with a known die",
  "ewn:board=4x4,cubes=3": "Small: 4×4, three cubes",
  "ewn:die=chosen": "The opponent chooses the die",
  "ewn:die=free": "No die: any cube may move",
};

const DEFAULTS = { board: "5x5", cubes: "6", die: "rolled", directions: "3", own: "yes" };

const RULES = [
  "The die names the cube that moves. If that cube is gone, you choose between the next lower and the next higher one.",
  "Red moves right, down or diagonally, towards the bottom right corner; blue moves the other way. In games with four "
    + "directions a cube may also move diagonally back.",
  "A cube captures whatever stands on its target square, also your own cubes. That can help: with fewer cubes, each "
    + "moves more often.",
  "You win by reaching the far corner or capturing your opponent's last cube. There is no draw.",
];

export class Setup {
  constructor(host, page, state) {
    this.page = page;
    this.state = state;
    this.games = null;
    this.variants = make("select", { "aria-label": "Game", onchange: () => this.#picked() });
    this.about = make("p", { class: "tiny muted" });
    this.own = make("div", { class: "fields" });
    this.ownBox = make("details", {}, make("summary", { class: "small", text: "Custom rules" }), this.own);
    this.players = make("div", { class: "ewn-two" });
    this.roll = make("input", { type: "checkbox", onchange: () => {
      state.roll = this.roll.checked ? "auto" : "";
      page.changed();
      page.advance();
    } });
    this.placing = make("button", { type: "button", onclick: () => page.place() });
    this.shuffle = make("button", { type: "button", onclick: () => page.shuffle(), text: "Shuffle" });
    this.recommend = make("button", { type: "button", onclick: () => page.recommend(), text: "Recommended",
      title: "An arrangement that does well in games between all of them" });
    this.placeSays = make("p", { class: "tiny muted" });
    this.text = make("textarea", { rows: 3, spellcheck: "false", placeholder: "Paste a position or a record here",
      "aria-label": "A position or a game's record to read" });
    const button = (text, onclick, sign = null, more = {}) =>
      make("button", { type: "button", onclick, ...more }, sign ? icon(sign) : null, text);
    const header = (title, ...more) => make("header", {}, make("h2", { text: title }), ...more);
    this.record = make("ol", { class: "ewn-record", "aria-label": "The moves so far" });
    host.append(
      make("section", { class: "panel", "aria-label": "Players" },
        header("Players", button("Swap sides", () => this.#swap(), null, { class: "quiet" })),
        this.players,
        make("label", { class: "check small" }, this.roll, "my die rolls by itself")),
      make("section", { class: "panel", "aria-label": "Game" },
        header("Game", button("New game", () => page.begin(), "new", { class: "primary", title: "New game (N)" })),
        make("div", { class: "field" }, this.variants, this.about),
        make("details", {}, make("summary", { class: "small", text: "How to play" }),
          make("ul", { class: "small ewn-rules" }, ...RULES.map((text) => make("li", { text })))),
        this.ownBox,
        make("div", { class: "row ewn-placing" }, this.placing, this.shuffle, this.recommend), this.placeSays),
      make("section", { class: "panel", "aria-label": "Record" },
        header("Position and record"),
        this.record,
        make("div", { class: "row" },
          button("Copy position", () => copy(page.position().notation, "the position")),
          button("Copy record", () => this.copyRecord().catch(fail)),
          button("Copy link", () => copy(page.link(), "the link"), "link")),
        make("div", { class: "field" }, this.text,
          button("Read", () => this.read(this.text.value).catch(fail), "paste"))));
  }

  async set() {
    const { state } = this;
    this.roll.checked = state.roll === "auto";
    this.games ??= (await get("/api/games")).games.filter((each) => each.sides.length === 2 && !isUserGame(each.game));
    const known = this.games.some((each) => each.game === state.game);
    const listed = known ? this.games : [...this.games, { game: state.game }];
    this.variants.replaceChildren(...listed.map((each) =>
      make("option", { value: each.game, text: TITLES[each.game] ?? each.title ?? each.game })));
    this.variants.value = state.game;
    this.about.textContent = this.games.find((each) => each.game === state.game)?.about ?? "A game of the EWN family.";
    this.#drawOwn();
    await this.#drawPlayers();
  }

  /** Show the game as it stands. */
  show({ steps, at, start }, placing) {
    const flip = this.state.flip === "yes";
    this.placing.textContent = placing ? "Done" : "Place cubes";
    this.placing.setAttribute("aria-pressed", String(Boolean(placing)));
    this.placing.disabled = !placing && !this.page.canPlace();
    this.shuffle.disabled = this.recommend.disabled = !placing;
    this.recommend.hidden = isStatic || this.state.game !== "ewn";
    this.placeSays.textContent = placing ? "To swap two cubes, drag one onto the other, or click both."
      : this.placing.disabled ? "Cubes can be placed before the first move only."
        : "Before the first move, cubes can stand on their starting squares in any order.";
    const made = steps.slice(0, at), sides = sidesOf(made.map(({ move }) => move), start.turn);
    const lines = made.map(({ move, outcome }, i) => make("li", {}, chip(sides[i], move, flip),
      (outcome ?? null) === null ? null : make("span", { class: "tiny muted", text: `⚄ ${outcome}` })));
    this.record.replaceChildren(...lines);
    this.record.hidden = !lines.length;
    this.record.scrollTop = this.record.scrollHeight;
  }

  #picked() {
    this.page.begin({ game: this.variants.value });
  }

  /** The family's settings, as the name of the game has them. */
  #drawOwn() {
    const [name, now] = parseSpec(this.state.game);
    const board = (now.board ?? DEFAULTS.board).split("x");
    const number = (label, value, low, high) => {
      const input = make("input", { type: "number", min: low, max: high, value, "aria-label": label });
      return [make("div", { class: "field" }, make("span", { text: label }), input), input];
    };
    const pick = (label, options, value) => {
      const input = make("select", { "aria-label": label },
        Object.entries(options).map(([key, text]) => make("option", { value: key, text })));
      input.value = value;
      return [make("div", { class: "field" }, make("span", { text: label }), input), input];
    };
    const [rowsBox, rows] = number("Rows", board[0], 3, 9);
    const [columnsBox, columns] = number("Columns", board[1], 3, 9);
    const [cubesBox, cubes] = number("Cubes per side", now.cubes ?? DEFAULTS.cubes, 1, 6);
    const isKnown = "cycle" in now || name === "ewn-6x7";
    const [dieBox, die] = pick("Die", DICE, now.die ?? (isKnown ? "cycle" : DEFAULTS.die));
    const ways = { 3: "3: sideways, straight on, diagonal", 4: "4: also diagonally back" };
    const [waysBox, directions] = pick("Directions", ways, now.directions ?? DEFAULTS.directions);
    const captures = { yes: "may be captured", no: "may not be captured" };
    const [ownBox, own] = pick("Own cubes", captures, now.own ?? DEFAULTS.own);
    const begin = make("button", { type: "button", text: "Play with these rules", onclick: () => {
      const rules = { board: `${rows.value}x${columns.value}`, cubes: cubes.value, die: die.value,
        directions: directions.value, own: own.value };
      this.page.begin({ game: formatSpec("ewn", rules, DEFAULTS) });
    } });
    this.own.replaceChildren(rowsBox, columnsBox, cubesBox, dieBox, waysBox, ownBox, begin);
  }

  async #drawPlayers() {
    const { state, page } = this;
    const key = `${state.game} ${state.red} ${state.blue}`;
    if (this.playersKey === key) return;
    this.playersKey = key;
    const boxes = ["red", "blue"].map((side) => {
      const agent = make("div", { class: "ewn-agent", hidden: state[side] === "you" });
      const now = state[side] === "you" ? "you" : "agent";
      const who = choice(`who-${side}`, { you: "You", agent: "Agent" }, now, (value) => {
        state[side] = value === "you" ? "you" : OPPONENT;
        page.playersChanged();
      }, `Who plays ${side}`);
      const ready = state[side] === "you" ? null : chooser(agent, state.game, state[side], (text) => {
        state[side] = text;
        this.playersKey = `${state.game} ${state.red} ${state.blue}`;
        page.playersChanged();
      }, "Agent");
      const title = make("h3", { text: side === "red" ? "Red" : "Blue" });
      return { box: make("div", { class: `ewn-seat ${side}` }, title, who, agent), ready };
    });
    this.players.replaceChildren(...boxes.map(({ box }) => box));
    await Promise.all(boxes.map(({ ready }) => ready));
  }

  #swap() {
    const { state } = this;
    [state.red, state.blue] = [state.blue, state.red];
    this.page.playersChanged();
  }

  async copyRecord() {
    const { game, state } = this.page;
    const { text } = await post("/api/write", {
      game: game.name, start: game.start.notation, format: "record", names: [state.red, state.blue],
      steps: game.steps.slice(0, game.at).map(({ move, outcome }) => [move, outcome ?? null]),
    });
    await copy(text, "the game's record");
  }

  /** Read a text: a position, or a game, whose last position is shown. */
  async read(text) {
    if (!text.trim()) return;
    await this.page.showText(await readText(text, this.state.game));
    this.text.value = "";
  }
}
