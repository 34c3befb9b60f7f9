// A game of a learner as it plays now, on a board.
import { paceOf, paceText } from "./agent-game.js";
import { post } from "./api.js";
import { by, count, counted, icon } from "./dom.js";
import { BoardView } from "./p2048-board.js";

const PAUSE = 1500; // milliseconds between two games
const FASTEST = 99;

export class Replay {
  #board; #name = null; #playing = false; #timer = null; #steps = []; #at = 0; #game = "2048"; #epoch = 0; #speed = 55;
  #position = null;

  /** `onError(error)` shows what failed. */
  constructor(onError) {
    this.onError = onError;
    this.#board = new BoardView(by("board"), { onSwipe: () => {}, onCell: () => {} });
    this.#board.blank(4, 4);
    by("play").addEventListener("click", () => (this.#playing ? this.pause() : this.play()));
    by("newest").addEventListener("click", () => this.watch(this.#name));
    by("speed").addEventListener("input", () => {
      this.#speed = Math.min(Number(by("speed").value), FASTEST);
      this.#show();
    });
    by("speed").value = this.#speed;
    this.#show();
  }

  get name() {
    return this.#name;
  }

  /** Show a game of this run, as its player is now; null: of none. */
  async watch(name) {
    const epoch = ++this.#epoch;
    clearTimeout(this.#timer);
    this.#name = name;
    this.#show();
    if (name === null) return;
    try {
      const { record, learned } = await post("/api/run/game", { name });
      const { start, steps, game } = await post("/api/read", { text: record, game: null });
      const { position } = await post("/api/position", { game, position: start });
      if (epoch !== this.#epoch) return;
      [this.#steps, this.#at, this.#game, this.#position] = [steps, 0, game, position];
      this.#board.over();
      this.#board.show(position);
      by("after").textContent = counted(learned, "game");
      this.#playing = true;
      this.#numbers();
      this.#show();
      this.#later();
    } catch (error) {
      if (epoch === this.#epoch) this.#later(PAUSE); // it may have nothing to play with yet
      else this.onError(error);
    }
  }

  play() {
    this.#playing = true;
    this.#show();
    if (this.#at >= this.#steps.length) this.watch(this.#name);
    else this.#step();
  }

  pause() {
    this.#playing = false;
    clearTimeout(this.#timer);
    this.#show();
  }

  #later(wait = 1000 * paceOf(this.#speed)) {
    clearTimeout(this.#timer);
    if (this.#playing && this.#name !== null) this.#timer = setTimeout(() => this.#step(), wait);
  }

  async #step() {
    const epoch = this.#epoch, began = performance.now();
    if (document.hidden) return this.#later(PAUSE);
    if (this.#at >= this.#steps.length) return this.watch(this.#name);
    const [move, outcome] = this.#steps[this.#at];
    try {
      const answer = await post("/api/play", { game: this.#game, position: this.#position.notation, move, outcome });
      if (epoch !== this.#epoch) return undefined;
      const wait = 1000 * paceOf(this.#speed);
      this.#position = answer.position;
      this.#at += 1;
      this.#board.slide(answer.position, answer.motion, outcome, Math.min(100, wait * 0.7));
      this.#numbers();
      if (this.#at < this.#steps.length) this.#later(Math.max(wait - (performance.now() - began), 0));
      else this.#later(PAUSE);
    } catch (error) {
      this.pause();
      this.onError(error);
    }
    return undefined;
  }

  #numbers() {
    by("score").textContent = count(this.#position.score);
    by("move").textContent = count(this.#at);
  }

  #show() {
    const none = this.#name === null, { play } = { play: by("play") };
    play.replaceChildren(icon(this.#playing && !none ? "pause" : "play"));
    play.title = this.#playing ? "Pause" : "Play";
    play.setAttribute("aria-label", play.title);
    play.disabled = by("newest").disabled = none;
    by("speed-says").textContent = paceText(this.#speed);
    by("speed").setAttribute("aria-valuetext", paceText(this.#speed));
  }
}
