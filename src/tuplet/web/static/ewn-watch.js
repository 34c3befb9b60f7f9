// The panel that watches: two agents play game after game, sides swapped, with a running score.

import { chooser } from "./agents.js";
import { post } from "./api.js";
import { count, icon, make } from "./dom.js";
import { compiling, fail } from "./shell.js";

const PAUSE = 1200; // ms between a game's end and the next one

/** From the slider's place, 0 to 100, to seconds a move: 2 s on the left, as fast as it goes on the right. */
export const paceOf = (place) => (place >= 100 ? 0 : 2 * 10 ** (-place / 40));
const placeOf = (pace) => (pace <= 0 ? 100 : Math.round(Math.min(99, Math.max(0, -40 * Math.log10(pace / 2)))));

export class Watch {
  /** `table`: live, begin(position, rng), follow(frame), changed(), keep(). */
  constructor(host, table, state) {
    Object.assign(this, { table, state });
    this.job = null;
    this.boxes = { a: make("div"), b: make("div") };
    this.go = make("button", { type: "button", class: "primary", onclick: () => this.toggle() });
    this.pace = make("input", { type: "range", min: 0, max: 100, "aria-label": "Pace", oninput: () => this.#paced() });
    this.paceSays = make("span", { class: "small muted number" });
    this.score = make("div", { class: "ewn-score", "aria-live": "polite" });
    this.results = make("ol", { class: "ewn-results", "aria-label": "Games, the last one first" });
    host.append(make("section", { class: "panel", "aria-label": "Two agents" },
      make("header", {}, make("h2", { text: "Two agents play each other" }), this.go),
      make("div", { class: "ewn-two" }, this.boxes.a, this.boxes.b),
      make("div", { class: "row ewn-pace" }, make("span", { class: "small", text: "slow" }), this.pace, make("span", { class: "small", text: "fast" }), this.paceSays)),
    make("section", { class: "panel", "aria-label": "Running score" },
      make("header", {}, make("h2", { text: "Score" }), make("button", { type: "button", class: "quiet", onclick: () => this.reset(), text: "Start again at 0" }),
        make("button", { type: "button", onclick: () => { this.stop(); this.table.keep(); }, text: "Play on from here" })),
      this.score, this.results,
      make("p", { class: "tiny muted", text: "Games come in pairs: the same placement and the same rng, with sides swapped, so that neither agent is favoured. The score counts games won; a few games say little about who is stronger: tuplet match plays hundreds and gives an interval." })));
    this.reset();
    this.#button();
  }

  async set() {
    const { game } = this.state;
    this.pace.value = placeOf(Number(this.state.pace || 0.4));
    this.#paced(false);
    for (const name of ["a", "b"]) {
      if (this.made === game) this[name]?.set(this.state[name]);
      else this[name] = await chooser(this.boxes[name], game, this.state[name], (text) => { this.state[name] = text; this.reset(); this.table.changed(true); }, `Agent ${name.toUpperCase()}`);
    }
    this.made = game;
    this.#drawScore();
  }

  reset() {
    this.games = []; // {red: "a" | "b", winner: "a" | "b", kind, moves}
    this.#drawScore();
    if (this.job) this.start();
  }

  toggle() {
    if (this.job) this.stop();
    else this.start();
  }

  stop() {
    this.job?.stop();
    this.job = null;
    clearTimeout(this.timer);
    this.#button();
  }

  /** Begin a game: the same start as before with sides swapped, or a new one. */
  async start() {
    this.stop();
    const job = (this.job = { stop() {} }); // until there is a real one
    this.#button();
    const number = this.games.length, red = number % 2 ? "b" : "a", blue = number % 2 ? "a" : "b";
    try {
      if (number % 2 === 0 || !this.first) this.first = await post("/api/position", { game: this.state.game });
    } catch (error) {
      this.stop();
      fail(error);
      return;
    }
    if (this.job !== job) return;
    const { position, rng } = this.first;
    this.seats = { red, blue };
    this.moves = 0;
    this.table.begin(position, rng);
    this.#drawScore();
    this.job = this.table.live.start({
      type: "play", game: position.game, position: position.notation, rng, agents: { red: this.state[red], blue: this.state[blue] },
      pace: paceOf(Number(this.pace.value)), moves: null,
    }, (frame) => this.#frame(frame));
  }

  #frame(frame) {
    compiling(Boolean(frame.compiling));
    if (frame.error) {
      this.stop();
      fail(new Error(frame.error));
      return;
    }
    if (frame.steps) {
      this.moves += frame.steps.filter(([move]) => move).length;
      this.table.follow(frame);
    }
    if (!frame.done || frame.stopped) return;
    const { winner, kind } = frame.position;
    if (winner) this.games.push({ red: this.seats.red, winner: this.seats[winner], side: winner, kind, moves: this.moves });
    this.#drawScore();
    const pause = paceOf(Number(this.pace.value)) > 0.05 ? PAUSE : 150;
    this.timer = setTimeout(() => this.start(), pause);
  }

  #paced(tell = true) {
    const pace = paceOf(Number(this.pace.value));
    this.paceSays.textContent = pace ? `${pace < 0.1 ? pace.toFixed(2) : pace.toFixed(1)} s a move at least` : "as fast as it goes";
    this.pace.setAttribute("aria-valuetext", this.paceSays.textContent);
    if (!tell) return;
    this.state.pace = pace ? pace.toFixed(3) : "0";
    this.table.changed();
    if (this.job?.send) this.job.send({ type: "pace", pace });
  }

  #button() {
    this.go.replaceChildren(icon(this.job ? "pause" : "play"), this.job ? "Stop" : "Watch");
    this.go.title = this.job ? "Stop (T)" : "Let them play (T)";
  }

  #drawScore() {
    const side = (name) => {
      const won = this.games.filter((game) => game.winner === name);
      const red = won.filter((game) => game.side === "red").length;
      const sits = this.seats && this.job ? (this.seats.red === name ? "red" : "blue") : "";
      return make("div", { class: `ewn-player ${sits}` },
        make("span", { class: "small ewn-name", text: this.state[name] || "" }),
        make("b", { class: "ewn-won", "data-score": name, text: count(won.length) }),
        make("span", { class: "tiny muted", text: `won: ${red} as red, ${won.length - red} as blue` }),
        make("span", { class: "tiny ewn-sits", text: sits ? `now ${sits}` : "" }));
    };
    const share = this.games.length ? this.games.filter((game) => game.winner === "a").length / this.games.length : 0.5;
    this.score.replaceChildren(side("a"), make("span", { class: "ewn-of muted small", text: `${count(this.games.length)} ${this.games.length === 1 ? "game" : "games"}` }), side("b"),
      make("div", { class: "ewn-share", "aria-hidden": "true" }, make("i", { vars: { "--share": share } })));
    this.results.replaceChildren(...this.games.slice(-30).reverse().map((game, i) => make("li", { class: game.side, title: `game ${this.games.length - i}` },
      make("b", { text: game.winner.toUpperCase() }), ` ${game.side}, ${game.kind}, ${game.moves} moves`)));
  }
}
