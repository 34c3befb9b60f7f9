// The worker of one learner (wasm-learn.js): it learns in slices, between which messages are read.
import { Learner } from "./wasm-learner.js";
import { LearnerEwn } from "./wasm-learner-ewn.js";
import { Modules } from "./wasm-modules.js";

const SLICE = 30; // milliseconds of learning until messages are read
let learner = null, most = Infinity, running = false, games = [], seconds = 0;
const { port1: wake, port2: next } = new MessageChannel(); // a timer would wait some milliseconds each time

const post = (...what) => postMessage(Object.assign({}, ...what));

/** Send what was learned from since the last time. */
function report(more = {}) {
  const all = (part, kind) => kind.from(games.flatMap((each) => [...each[part] ?? []]));
  post({ scores: all("scores", Float64Array), tiles: all("tiles", Uint8Array), lengths: all("lengths", Float64Array),
    evaluations: games.flatMap((each) => each.evaluation ?? []), seconds, running }, more);
  games = [];
}

function slice() {
  if (!running) return;
  const began = performance.now();
  let diverged = false;
  while (learner.games < most && performance.now() - began < SLICE && !diverged) {
    const played = learner.play(most);
    games.push(played);
    ({ diverged } = played);
  }
  seconds += (performance.now() - began) / 1000;
  running = learner.games < most && !diverged;
  const learned = learner.games.toLocaleString("en-GB");
  report(diverged ? { error: `the weights diverged (inf or NaN) after ${learned} games: use a smaller alpha` }
    : running ? {} : { finished: true });
  if (running) next.postMessage(null);
}
wake.onmessage = slice;

const calls = {
  async open({ settings, facts }) {
    const ewn = settings.game === "ewn", kernels = await new Modules().kernels(ewn ? "learn-ewn" : "learn");
    learner = ewn ? new LearnerEwn(kernels, facts, settings) : new Learner(kernels, facts, settings);
  },
  run({ games: until }) {
    most = until ?? Infinity;
    if (running) return;
    running = true;
    next.postMessage(null);
  },
  stop() {
    running = false;
  },
  change({ settings }) {
    learner.change(settings);
  },
  game: ({ seed }) => learner.game(seed),
};

addEventListener("message", async ({ data: { id, call, ...given } }) => {
  try {
    post({ id, answer: await calls[call](given) ?? null, at: learner.games });
  } catch (error) {
    const large = error instanceof RangeError; // WebAssembly.Memory.grow
    post({ id, error: large ? "this browser does not give a page that much memory: use a smaller network"
      : error.message });
  }
});
