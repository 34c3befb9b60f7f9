// Agents play: a job that plays moves of a game at a pace, until another side is to move or it is stopped.
import { count } from "./dom.js";

const FASTEST = 100; // of the slider: no limit

/** Seconds per move at least, by the place of the slider from 0 to 100: two seconds to some milliseconds, then 0. */
export const paceOf = (place) => (place >= FASTEST ? 0 : 2 * 10 ** (-place / 40));

/** The place of the slider for a pace. */
export const placeOf = (pace) => (
  pace <= 0 ? FASTEST : Math.round(Math.min(FASTEST - 1, Math.max(0, -40 * Math.log10(pace / 2)))));

/** A place of the slider in words; `rate` is the moves per second that were measured. */
export function paceText(place, rate = null) {
  if (place >= FASTEST) return `as fast as possible${rate ? `: ${count(rate)} moves a second` : ""}`;
  const moves = 1 / paceOf(place);
  return `${moves < 10 ? moves.toFixed(1).replace(".0", "") : count(moves)} moves a second`;
}

export class AgentGame {
  #job = null;

  constructor(live, game) {
    this.live = live;
    this.game = game;
  }

  get running() {
    return this.#job !== null;
  }

  /** Play: {agents, pace, moves, analysis, depth, time} as the job `play` takes them. `onFrame(frame)` is called after
   * the game has followed a frame. */
  start(request, onFrame) {
    this.stop();
    const { name, position, rng } = this.game;
    const job = this.live.start({ type: "play", game: name, position: position.notation, rng, ...request }, (frame) => {
      if (job !== this.#job) return;
      if (frame.done) this.#job = null;
      if (frame.steps?.length) this.game.follow(frame);
      onFrame(frame);
    });
    this.#job = job;
  }

  /** Stop it; true if it was running. */
  stop() {
    const job = this.#job;
    this.#job = null;
    job?.stop();
    return job !== null;
  }

  setPace(pace) {
    this.#job?.send({ type: "pace", pace });
  }
}
