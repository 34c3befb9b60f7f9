// The agent plays: a move, or on and on at a speed that can be changed, until somebody takes over.
import { count, spaced } from "./dom.js";
import { compiling } from "./shell.js";

const FASTEST = 100; // of the slider: as fast as it goes

/** Seconds a move at least, from the slider: one a second to two hundred, then no limit. */
export const paceOf = (speed) => (speed >= FASTEST ? 0 : 10 ** (-2.3 * speed / (FASTEST - 1)));

export class AgentPlays {
  #job = null;

  /** Calls: onState(playing) when it begins and ends, onThought(analysis, position) at times, onError(text). */
  constructor(live, session, { onState, onThought, onError }) {
    Object.assign(this, { live, session, onState, onError });
    this.thought = spaced(onThought, 90);
    this.speed = 40;
    this.rate = null;
  }

  get playing() {
    return this.#job !== null;
  }

  /** Seconds a move at least. */
  get pace() {
    return paceOf(this.speed);
  }

  /** Play `moves` moves (null: to the end). `asks` are agent, depth, time, thoughts. */
  start({ agent, looks, thoughts }, moves = null) {
    if (this.playing) return;
    this.rate = null;
    this.single = moves === 1;
    const { game, position, rng } = this.session;
    const request = { type: "play", game, position: position.notation, rng, agents: { player: agent }, ...looks,
      pace: this.single ? 0 : this.pace, moves, analysis: thoughts };
    const job = this.live.start(request, (frame) => {
      if (job !== this.#job) return;
      compiling(Boolean(frame.compiling) && !frame.done);
      if (frame.done) this.#job = null;
      if (frame.error) this.onError(frame.error);
      if (frame.moves_per_s) this.rate = frame.moves_per_s;
      if (frame.steps?.length) this.session.follow(frame);
      if (frame.analysis && !frame.done) this.thought(frame.analysis, frame.position);
      this.onState(!frame.done);
    });
    this.#job = job;
    this.onState(true);
  }

  /** Let it play no more: what is seen is where somebody else goes on. */
  stop() {
    if (!this.#job) return;
    this.#job.stop();
    this.#job = null;
    compiling(false);
    this.onState(false);
  }

  /** Change the speed, also while it plays. */
  at(speed) {
    this.speed = speed;
    this.#job?.send({ type: "pace", pace: this.pace });
  }

  get says() {
    const now = this.playing && this.rate ? `: ${count(this.rate)} moves a second` : "";
    if (this.speed >= FASTEST) return `as fast as it goes${now}`;
    const rate = 1 / this.pace;
    return rate < 1.05 ? "one move a second" : `${rate < 10 ? rate.toFixed(1).replace(".0", "") : count(rate)} moves a second`;
  }
}
