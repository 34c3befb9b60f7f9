// Runs without a server: what web/runs.py answers of training runs, with a worker for each learner. They end with the
// page.
import { Curve, EvaluationCurve } from "./wasm-curve.js";
import { bytesOf } from "./wasm-learner.js";

const MOST = 4; // learners that are kept
const SETTINGS = ["game", "net", "learner", "target", "alpha", "lambda", "order", "spawn4", "seed", "games"];
const CHANGES = ["alpha", "spawn4", "net"];
const GB = 1e9;

/** What a page may use, in bytes. Browsers do not say how much is free. */
const limit = () => (/** @type {any} */ (navigator).deviceMemory ?? 4) / 2 * GB;

const runs = new Map(); // by name, the newest last
let facts = null; // a promise: what the build knows of networks and learners (web/site.py)

const list = (words) => `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;

async function learningFacts() {
  facts ??= import("./wasm-modules.js").then(({ Modules }) => new Modules().facts()).then(({ learning }) => learning);
  facts.catch(() => { facts = null; });
  return facts;
}

/** Settings with the defaults of `tuplet train`, or an error in one line. */
export function complete({ nets, learners, ewn }, given) {
  for (const name of Object.keys(given)) {
    if (!SETTINGS.includes(name)) {
      throw new Error(`${name} cannot be set without a server: there are ${SETTINGS.join(", ")}`);
    }
  }
  const { game = "2048", net = "4x5", learner = "tc", target = "afterstate", order = "backward", spawn4 = 0.1, seed = 0,
    games = null } = given;
  const oneOf = (name, value, known) => {
    if (!known.includes(value)) throw new Error(`${name} must be ${list(known)} without a server (got '${value}')`);
  };
  oneOf("game", game, ["2048", "ewn"]);
  oneOf("learner", learner, Object.keys(learners));
  const two = game === "ewn";
  if (two) oneOf("net", given.net ?? ewn.net, [ewn.net]);
  else oneOf("net", net, Object.keys(nets));
  oneOf("target", target, ["afterstate", "state"]);
  oneOf("order", order, ["backward", "forward"]);
  const alpha = given.alpha ?? (two ? ewn.alpha[learner] : learners[learner].alpha);
  const lambda = given.lambda ?? (two ? ewn.lam : order === "backward" ? learners[learner].lam : 0);
  const between = (name, value, least, most) => {
    if (typeof value !== "number" || !(value >= least && value <= most)) {
      throw new Error(`${name} must be ${least || 0} to ${most} (got ${value})`);
    }
  };
  if (alpha === 0) throw new Error("alpha must be more than 0 (got 0)");
  between("alpha", alpha, 0, 1);
  between("lambda", lambda, 0, 1);
  between("spawn4", spawn4, 0, 1);
  if (order === "forward" && lambda) throw new Error("lambda needs backward updates: leave out order forward");
  for (const [name, value, least] of [["seed", seed, 0], ["games", games ?? 1, 1]]) {
    if (!(Number.isSafeInteger(value) && value >= least)) {
      throw new Error(`${name} must be a whole number, ${least} or more (got ${value})`);
    }
  }
  if (two && (target !== "afterstate" || order !== "backward" || spawn4 !== 0.1)) {
    throw new Error("target, order and spawn4 are for 2048: leave them out to learn EWN");
  }
  return two ? { game, net: ewn.net, learner, alpha, lambda, seed, games }
    : { game, net, learner, target, alpha, lambda, order, spawn4, seed, games };
}

/** The options of `tuplet train` that make these settings: those that are not its defaults. */
function options({ learners, ewn }, settings) {
  if (settings.game === "ewn") {
    const { learner: rule, alpha: rate, lambda: share, seed: number } = settings;
    return ` ewn --evaluate=${ewn.games}@${ewn.every}${[["learner", rule, "tc"], ["alpha", rate, ewn.alpha[rule]],
      ["lambda", share, ewn.lam], ["seed", number, 0]].filter(([, value, usual]) => value !== usual)
      .map(([name, value]) => ` --${name}=${value}`).join("")}`;
  }
  const { net, learner, target, alpha, lambda, order, spawn4, seed } = settings;
  const usual = learners[learner];
  return [["net", net, "4x6"], ["learner", learner, "tc"], ["target", target, "afterstate"],
    ["alpha", alpha, usual.alpha], ["lambda", lambda, order === "backward" ? usual.lam : 0],
    ["order", order, "backward"], ["spawn4", spawn4, 0.1], ["seed", seed, 0]]
    .filter(([, value, default_]) => value !== default_).map(([name, value]) => ` --${name}=${value}`).join("");
}

class Run {
  /** @type {any} */
  settings;
  /** As they are after all changes. @type {any} */
  now;
  name; known;
  state = "running";
  error = null;
  changes = [];
  curve;
  #calls = 0;
  #waiting = new Map();

  constructor(name, settings, known) {
    Object.assign(this, { name, settings, known, now: settings });
    this.curve = settings.game === "ewn" ? new EvaluationCurve() : new Curve();
    this.worker = new Worker(new URL("./wasm-learn-worker.js", import.meta.url), { type: "module" });
    this.worker.addEventListener("message", ({ data }) => this.#receive(data));
    this.worker.addEventListener("error", () => this.#fail("this browser cannot learn: it needs module workers"));
  }

  /** @param {any} message */
  #receive({ id, answer, error, at, ...played }) {
    if (id !== undefined) {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) resolve({ answer, at });
      else reject(new Error(error));
      return;
    }
    this.curve.add(/** @type {any} */ (played));
    if (error) this.#fail(error);
    else if (played.finished) this.state = "finished";
  }

  #fail(error) {
    this.state = "failed";
    this.error = error;
    for (const { reject } of this.#waiting.values()) reject(new Error(error));
    this.#waiting.clear();
  }

  /** The worker's answer to a call, and after how many games it was given. */
  call(call, given = {}) {
    return new Promise((resolve, reject) => {
      this.#waiting.set(++this.#calls, { resolve, reject });
      this.worker.postMessage({ id: this.#calls, call, ...given });
    });
  }

  get commands() {
    const { known, settings, changes, curve: { games } } = this;
    const steps = changes.map(({ game, ...changed }) =>
      `${game}:${Object.entries(changed).map(([key, value]) => `${key}=${value}`).join()}`);
    return [`tuplet train${options(known, settings)}${steps.length ? ` '--change=${steps.join(" ")}'` : ""}`
      + ` --games=${settings.games ?? games}`];
  }

  describe() {
    const { name, state, settings, changes, commands, error, curve } = this;
    return { name, game: settings.game, state, games: curve.games, seconds: curve.seconds,
      moves_per_second: curve.speed, settings, changes, commands, error };
  }
}

const find = (name) => {
  if (!runs.has(name)) throw new Error(`there is no run '${name}'`);
  return runs.get(name);
};

/** Refuse what does not fit beside the other learners. */
function checkMemory(known, settings, besides = null) {
  const others = [...runs.values()].filter((run) => run !== besides)
    .reduce((sum, run) => sum + bytesOf(known, run.now), 0);
  const wanted = bytesOf(known, settings);
  if (others + wanted > limit()) {
    const gb = (bytes) => `${(bytes / GB).toFixed(2)} GB`;
    throw new Error(`network ${settings.net} needs ${gb(wanted)}, and this page may use ${gb(limit())}`
      + `${others ? `, of which other learners have ${gb(others)}: remove one` : ": use shorter tuples"}`);
  }
}

const calls = {
  runs: () => ({ folder: "", train: true, runs: [...runs.values()].reverse().map((run) => {
    const { now: { game, net, learner, lambda }, curve, state, name } = run, { games, seconds, last } = curve;
    const board = game === "2048" ? "4x4" : null;
    return { run: name, game, net, board, learner: `${learner.toUpperCase()}(${lambda})`, games,
      elapsed_s: seconds, mean_score: last, max_score: null, state };
  }) }),

  run: ({ name, points = 400 }) => {
    const run = find(name);
    return { run: run.describe(), curve: run.curve.json(points), evaluations: [] };
  },

  "run/start": async ({ settings = {}, name = null }) => {
    const known = await learningFacts(), whole = complete(known, settings);
    if (runs.size >= MOST) throw new Error(`this page has ${MOST} learners already: remove one`);
    checkMemory(known, whole);
    let number = 1;
    while (runs.has(`learner-${number}`)) number += 1;
    const own = name ?? `learner-${number}`;
    if (runs.has(own)) throw new Error(`there is a run '${own}' already`);
    const run = new Run(own, whole, known);
    runs.set(own, run);
    try {
      await run.call("open", { settings: whole, facts: known });
      await run.call("run", { games: whole.games });
    } catch (error) {
      run.worker.terminate();
      runs.delete(own);
      throw error;
    }
    return { run: run.describe() };
  },

  "run/stop": async ({ name }) => {
    const run = find(name);
    if (run.state === "running") {
      await run.call("stop");
      run.state = "stopped";
    }
    return { run: run.describe() };
  },

  "run/resume": async ({ name, settings: { games = null, ...rest } = {} }) => {
    const run = find(name), [other] = Object.keys(rest);
    if (other) throw new Error(`${other} cannot be set here: change sets it`);
    if (run.state === "failed") throw new Error(`${name} failed: ${run.error}`);
    const total = games ?? run.settings.games;
    if (total !== null && total <= run.curve.games) {
      throw new Error(`${name} has learned from ${run.curve.games} games already: games must be more (got ${total})`);
    }
    run.settings = { ...run.settings, games: total };
    run.now = { ...run.now, games: total };
    run.state = "running";
    await run.call("run", { games: total });
    return { run: run.describe() };
  },

  "run/change": async ({ name, settings = {} }) => {
    const run = find(name), known = await learningFacts();
    for (const key of Object.keys(settings)) {
      if (!CHANGES.includes(key)) throw new Error(`${key} cannot change during a run: ${list(CHANGES)} can`);
    }
    /** @type {any} */
    const given = { ...settings };
    if (run.settings.game === "ewn" && (given.net || given.spawn4)) throw new Error("of EWN only alpha can change");
    if (given.net) given.net = grown(known, run.now.net, given.net);
    const now = complete(known, { ...run.now, ...given });
    if (now.net !== run.now.net) checkMemory(known, now, run);
    const { at } = await run.call("change", { settings: given });
    run.now = now;
    const last = run.changes.at(-1);
    if (last?.game === at) {
      const nets = [last.net, /** @type {any} */ (settings).net].filter(Boolean).join(" ");
      Object.assign(last, settings, nets ? { net: nets } : {});
    } else run.changes.push({ game: at, ...settings });
    return run.state === "stopped" ? calls["run/resume"]({ name }) : { run: run.describe() };
  },

  "run/delete": ({ name, confirm }) => {
    const run = find(name);
    if (confirm !== name) throw new Error(`confirm must be the run's name, ${name} (got '${confirm}')`);
    run.worker.terminate();
    runs.delete(name);
    return { deleted: name };
  },

  "run/game": async ({ name, seed = null }) => {
    const run = find(name), random = seed ?? crypto.getRandomValues(new Uint32Array(1))[0];
    const { answer: { start, steps, score, tile }, at } = await run.call("game", { seed: random });
    const { spawn4 } = run.now, game = spawn4 === 0.1 ? "2048" : `2048:spawn4=${spawn4}`;
    const { ask: askWorker } = await import("./wasm-client.js");
    const { text } = await askWorker("/api/write", { game, start, steps, names: [name] });
    return { record: text, score, tile, winner: null, learned: at };
  },
};

/** A network with the tuples of another added. */
function grown({ nets }, net, more) {
  const name = `${net}+${more}`;
  if (name in nets) return name;
  throw new Error(`the tuples of ${more} cannot join ${net} without a server`);
}

/** The answer to a call. */
export async function ask(path, body = {}) {
  const call = calls[path.replace(/^\/api\//, "")];
  if (!call) throw new Error(`${path} needs tuplet serve: this page has no server`);
  return call(body);
}
