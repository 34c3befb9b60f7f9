// The panel to watch two agents: they play game after game with sides swapped, and a running score.
import { AgentGame, paceOf, paceText, placeOf } from "./agent-game.js";
import { chooser } from "./agents.js";
import { post } from "./api.js";
import { count, counted, icon, make } from "./dom.js";
import { fail } from "./shell.js";

const PAUSE = 1200; // ms between a game's end and the next one

export class Watch {
  constructor(host, page, state) {
    this.page = page;
    this.state = state;
    this.on = false; // agents play, or a game is about to begin
    this.agents = new AgentGame(page.live, page.game);
    this.boxes = { a: make("div"), b: make("div") };
    this.go = make("button", { type: "button", class: "primary", onclick: () => this.toggle() });
    this.pace = make("input", { type: "range", min: 0, max: 100, "aria-label": "Pace", oninput: () => this.#paced() });
    this.paceSays = make("span", { class: "small muted number" });
    this.score = make("div", { class: "ewn-score", "aria-live": "polite" });
    this.results = make("ol", { class: "ewn-results", "aria-label": "Games, the last one first" });
    host.append(make("section", { class: "panel", "aria-label": "Two agents" },
      make("header", {}, make("h2", { text: "Two agents play each other" }), this.go),
      make("div", { class: "ewn-two" }, this.boxes.a, this.boxes.b),
      make("div", { class: "row ewn-pace" }, make("span", { class: "small", text: "slow" }), this.pace,
        make("span", { class: "small", text: "fast" }), this.paceSays)),
    make("section", { class: "panel", "aria-label": "Running score" },
      make("header", {}, make("h2", { text: "Score" }),
        make("button", { type: "button", class: "quiet", onclick: () => this.reset(), text: "Reset the score" }),
        make("button", { type: "button", onclick: () => this.#playOn(), text: "Play on from here" })),
      this.score, this.results,
      make("p", { class: "tiny muted", text: "Games come in pairs with the same start and the same dice, but with "
        + "sides swapped, so that neither agent is favoured. A few games say little about which agent is stronger: "
        + "tuplet match plays hundreds and gives an interval." })));
    this.reset();
    this.#button();
  }

  async set() {
    const { game } = this.state;
    this.pace.value = placeOf(Number(this.state.pace || 0.4));
    this.#paced(false);
    for (const name of ["a", "b"]) {
      if (this.made === game) this[name]?.set(this.state[name]);
      else {
        this[name] = await chooser(this.boxes[name], game, this.state[name], (text) => {
          this.state[name] = text;
          this.reset();
          this.page.changed(true);
        }, `Agent ${name.toUpperCase()}`);
      }
    }
    this.made = game;
    this.#drawScore();
  }

  reset() {
    this.games = []; // {winner: "a" | "b", side, kind, moves}
    this.#drawScore();
    if (this.on) this.start();
  }

  #playOn() {
    this.stop();
    this.page.keep();
  }

  toggle() {
    if (this.on) this.stop();
    else this.start();
  }

  stop() {
    this.on = false;
    this.agents.stop();
    clearTimeout(this.timer);
    this.#button();
  }

  /** Begin a game: the same start as before with sides swapped, or a new one. */
  async start() {
    this.stop();
    this.on = true;
    this.#button();
    const number = this.games.length, [red, blue] = number % 2 ? ["b", "a"] : ["a", "b"];
    const epoch = this.page.game.interrupt();
    try {
      if (number % 2 === 0 || !this.first) this.first = await post("/api/position", { game: this.state.game });
    } catch (error) {
      this.stop();
      fail(error);
      return;
    }
    if (!this.on || epoch !== this.page.game.epoch) return;
    this.seats = { red, blue };
    this.page.game.begin(this.first.position, this.first.rng);
    this.page.show();
    this.#drawScore();
    const agents = { red: this.state[red], blue: this.state[blue] };
    this.agents.start({ agents, pace: paceOf(Number(this.pace.value)) }, (frame) => this.#frame(frame));
  }

  #frame(frame) {
    if (frame.error) {
      this.stop();
      fail(new Error(frame.error));
      return;
    }
    if (frame.steps) this.page.show({ tumble: frame.steps.length === 1 && Number(this.state.pace) > 0.2 });
    if (!frame.done || frame.stopped) return;
    const { winner, kind } = frame.position;
    if (winner) this.games.push({ winner: this.seats[winner], side: winner, kind, moves: this.page.game.steps.length });
    this.#drawScore();
    const pause = paceOf(Number(this.pace.value)) > 0.05 ? PAUSE : 150;
    this.timer = setTimeout(() => this.start(), pause);
  }

  #paced(tell = true) {
    const pace = paceOf(Number(this.pace.value));
    this.paceSays.textContent = paceText(Number(this.pace.value));
    this.pace.setAttribute("aria-valuetext", this.paceSays.textContent);
    if (!tell) return;
    this.state.pace = pace ? pace.toFixed(3) : "0";
    this.page.changed();
    this.agents.setPace(pace);
  }

  #button() {
    this.go.replaceChildren(icon(this.on ? "pause" : "play"), this.on ? "Stop" : "Watch");
    this.go.title = this.on ? "Stop (T)" : "Let them play (T)";
  }

  #drawScore() {
    const side = (name) => {
      const won = this.games.filter((game) => game.winner === name);
      const red = won.filter((game) => game.side === "red").length;
      const sits = this.seats && this.on ? (this.seats.red === name ? "red" : "blue") : "";
      return make("div", { class: `ewn-player ${sits}` },
        make("span", { class: "small ewn-name", text: this.state[name] || "" }),
        make("b", { class: "ewn-won", "data-score": name, text: count(won.length) }),
        make("span", { class: "tiny muted", text: `won: ${red} as red, ${won.length - red} as blue` }),
        make("span", { class: "tiny ewn-sits", text: sits ? `now ${sits}` : "" }));
    };
    const wins = this.games.filter((game) => game.winner === "a").length;
    const share = this.games.length ? wins / this.games.length : 0.5;
    this.score.replaceChildren(side("a"),
      make("span", { class: "ewn-of muted small", text: counted(this.games.length, "game") }), side("b"),
      make("div", { class: "ewn-share", "aria-hidden": "true" }, make("i", { vars: { "--share": share } })));
    this.results.replaceChildren(...this.games.slice(-30).reverse().map((game, i) =>
      make("li", { class: game.side, title: `game ${this.games.length - i}` },
        make("b", { text: game.winner.toUpperCase() }), ` ${game.side}, ${game.kind}, ${game.moves} moves`)));
  }
}
