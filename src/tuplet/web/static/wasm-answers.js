// The answers of a server, without one: the calls of web/endpoints.py and the jobs of web/jobs.py, in a worker.
import { Game2048 } from "./wasm-2048.js";
import { Growth, IDLE, makeAgent } from "./wasm-agents.js";
import { EwnSearches } from "./wasm-alphabeta.js";
import { GameEwn } from "./wasm-ewn.js";
import { readText, writeText } from "./wasm-records.js";
import { review } from "./wasm-review.js";
import { SearchSteps } from "./wasm-search-steps.js";
import { LearningSteps } from "./wasm-steps.js";
import { Problem, now, quoted } from "./wasm-text.js";

const FRAME = 0.016; // seconds of work until messages are read
const MAX_TREE_DEPTH = 12;
const MAX_STEPS = 500; // moves that wait for an acknowledgement
const TABLE = 1 << 18; // entries of the tables of a long search
const DEPTH = 3; // of a tree, where only a share is given

/** What answers share: the modules and the kernels of "play", the facts of the build (web/site.py), games, networks. */
export class Parts {
  modules; kernels; facts;
  #games = new Map();
  #tables = new Map();
  #networks = new Map();
  #ewn = null;

  static async open(modules) {
    const [kernels, facts] = await Promise.all([modules.kernels("play"), modules.facts()]);
    return new Parts(modules, kernels, facts);
  }

  constructor(modules, kernels, facts) {
    Object.assign(this, { modules, kernels, facts });
    this.draw = kernels.bind("draw", {});
    this.stream = kernels.bind("stream", {});
    this.targets = kernels.array("uint8", 16);
    this.motion = kernels.bind("motion", { targets: this.targets });
    this.never = kernels.array("bool", 1); // a search that is not stopped from outside
  }

  /** The rows of 2048 as a kernel has slid them. */
  table(length) {
    if (!this.#tables.has(length)) {
      const table = this.kernels.array("uint64", 1 << 16);
      this.kernels.bind("fill_table", { table })({ length });
      this.#tables.set(length, table);
    }
    return this.#tables.get(length);
  }

  game(text) {
    const spec = text.replace(/\s+/g, "");
    if (!this.#games.has(spec)) {
      const known = this.facts.ewn.find((each) => each.name === spec || each.also?.includes(spec));
      const [family] = spec.split(":");
      if (family === "2048") this.#games.set(spec, this.sized(...Game2048.read(this, spec)));
      else if (known) this.#games.set(spec, new GameEwn(this, known));
      else if (family === "ewn") {
        throw new Problem(`${spec} needs tuplet serve: without a server there are `
          + `${this.facts.ewn.map((each) => each.name).join(", ")}`);
      } else throw new Problem(`${quoted(text)} is not a game: ${this.facts.examples}`);
    }
    return this.#games.get(spec);
  }

  sized(rows, columns, spawn4) {
    const key = `${rows}x${columns} ${spawn4}`;
    if (!this.#games.has(key)) this.#games.set(key, new Game2048(this, rows, columns, spawn4));
    return this.#games.get(key);
  }

  agents(game) {
    const { agents } = this.facts;
    return game.family === "ewn" ? agents.ewn : game.rows === 4 && game.columns === 4 ? agents["2048"] : agents.small;
  }

  network(name) {
    if (!this.#networks.has(name)) {
      const loading = this.#open(name);
      loading.catch(() => this.#networks.delete(name));
      this.#networks.set(name, loading);
    }
    return this.#networks.get(name);
  }

  /** The searches of EWN that are in a module of their own.
   * @returns {Promise<EwnSearches>} */
  ewn() {
    this.#ewn ??= this.modules.kernels("ewn").then((kernels) => new EwnSearches(this, kernels));
    this.#ewn.catch(() => { this.#ewn = null; });
    return this.#ewn;
  }

  async #open(name) {
    const { kernels } = this, facts = this.facts.networks[name];
    const leaves = kernels.value(`leaves ${name}`), work = kernels.value(`work ${name}`);
    const { tables } = leaves, indices = kernels.array("uint64", 8 * facts.tuples.length);
    await this.modules.fillWeights(name, facts, kernels, tables.weights);
    const searches = (own) => ({ work: own, search: kernels.bind("search_root", { leaf_values: leaves, work: own }),
      expect: kernels.bind("chance_value", { leaf_values: leaves, work: own }) });
    return { ...facts, leaves, indices, ...searches(work),
      another: () => searches(kernels.value(`work ${name}`, (size) => (size === work.nodes.shape[0] ? TABLE : size))),
      view: kernels.bind("view", {}), downgrade: kernels.bind("downgrade", {}),
      locate: kernels.bind("locate", { plan: tables.plan, marks: tables.marks, stride: tables.stride, out: indices,
        start: 0n }) };
  }

  /** The state of a random stream: of a text that `rngText` gave, of a seed, or a new one. */
  rng(text, seed = null) {
    if (text) {
      if (!/^[0-9a-f]{1,16}$/i.test(text)) {
        throw new Problem("rng must be sixteen hexadecimal digits, as the server sent them "
          + `(got ${quoted(text)})`);
      }
      return BigInt(`0x${text}`);
    }
    if (seed === null) [seed] = crypto.getRandomValues(new BigUint64Array(1)).map((bits) => bits >> 1n);
    return this.stream({ seed: BigInt(seed), number: 0n });
  }
}

const rngText = (state) => state.toString(16).padStart(16, "0");

/** Apply an outcome, or draw one: the random state, the position and the outcome. */
function applyChance(position, outcome, state) {
  if (!position.isChance || ((outcome ?? null) === null && state === null)) return [state, position, null];
  if ((outcome ?? null) === null) [state, outcome] = position.randomOutcome(state);
  return [state, position.applyOutcome(outcome), outcome];
}

const rewardOf = (before, after) => (after.score ?? 0) - (before.score ?? 0);

/** The calls, by their paths. */
export class Answers {
  /** @type {SearchSteps} */
  steps;
  #learning = null; // a promise of the answers to /api/learning-steps

  constructor(parts) {
    this.parts = parts;
  }

  /** The answer to a call; `body` is that of a POST. */
  async ask(path, body = {}) {
    const [name, query] = path.replace(/^.*\/api\//, "").split("?");
    const call = { games: this.games, agents: this.agents, runs: this.runs, position: this.position, play: this.play,
      analyze: this.analyze, explain: this.explain, "search-steps": this.searchSteps, read: this.read,
      write: this.write, "learning-steps": this.learningSteps, homework: this.homework, review: this.review }[name];
    if (!call) throw new Problem(`${name} needs tuplet serve: this page has no server`);
    return call.call(this, query ? Object.fromEntries(new URLSearchParams(query)) : body);
  }

  games() {
    return { games: this.parts.facts.games };
  }

  agents({ game = "2048" }) {
    return this.parts.agents(this.parts.game(game));
  }

  searchSteps(body) {
    this.steps ??= new SearchSteps(this.parts);
    return this.steps.answer(body);
  }

  homework() {
    return this.parts.facts.homework;
  }

  async learningSteps(asked) {
    this.#learning ??= LearningSteps.open(this.parts);
    return (await this.#learning).answer(asked);
  }

  runs() {
    return { runs: [], folder: "" };
  }

  position({ game, position, seed = null, red, blue, die, roll = false }) {
    const { parts } = this, played = parts.game(game), given = (text) => (text ?? null) !== null;
    let state = parts.rng(null, seed), first;
    if (given(position)) first = played.parse(position);
    else if (given(red) || given(blue) || given(die)) {
      let dealt;
      [state, dealt] = played.initial(state);
      if (!played.setup) throw new Problem(`red, blue and die are for EWN (got the game ${played.name})`);
      const known = given(die) ? die : dealt.knownDie.join("");
      if (![red, blue, known || null].every((text) => !given(text) || /^\d+$/.test(text))) {
        throw new Problem("red, blue and die must be digits, such as 123456");
      }
      first = played.setup(red ?? "", blue ?? "", known);
    } else [state, first] = played.initial(state);
    if (roll) [state, first] = applyChance(first, null, state);
    return { position: first.json(), rng: rngText(state) };
  }

  play({ game, position, move = null, outcome = null, rng = null }) {
    const before = this.parts.game(game).parse(position);
    let state = rng === null ? null : this.parts.rng(rng);
    const after = move === null ? before : before.play(move);
    const [next, then, drawn] = applyChance(after, outcome, state);
    state = next;
    const answer = { position: then.json(), after: drawn === null ? null : after.json(), outcome: drawn,
      reward: rewardOf(before, after), rng: state === null ? null : rngText(state) };
    if (before.motion) answer.motion = move === null ? [] : before.motion(move);
    return answer;
  }

  /** `control` is that of a job; without one, the search runs to its end. */
  async analyze({ game, position = null, agent = null, depth = null, time = null, downgrade = null, tree = null,
    share = null, growth = false, seed = 0 }, control = null) {
    const { parts } = this, played = parts.game(game);
    const spawn4 = game !== "2048" && played.family === "2048" ? played.spawn4 : null;
    const made = await makeAgent(parts, agent, played, { depth, time, downgrade, spawn4 });
    if (tree !== null && !(tree >= 1 && tree <= MAX_TREE_DEPTH)) {
      throw new Problem(`tree must be 1 to ${MAX_TREE_DEPTH} (got ${tree})`);
    }
    const root = position === null ? this.#first(played, seed) : played.parse(position);
    if (root.isChance) {
      throw new Problem(played.players === 2 ? "the die must be rolled first: write what happened in place of ?"
        : "a tile must appear first");
    }
    if (root.over && played.players === 2) return { best: null, moves: [], line: [], note: "", seconds: 0 };
    if ((tree !== null || share !== null || growth) && !made.growsTree) {
      throw new Problem(`${made.name} grows no tree: mcts and mcs do`);
    }
    const shown = tree ?? (share === null ? null : DEPTH);
    const complete = (analysis) => {
      const whole = { ...analysis };
      const settings = made.settingsAt?.(root) ?? made.settings;
      if (Object.keys(settings).length) whole.settings = settings;
      if (shown !== null && analysis.best !== null) whole.tree = made.tree.view(root, shown, share ?? 0);
      return whole;
    };
    const own = { stopped: () => control?.stopped() ?? false, pause: () => (control ?? IDLE).pause(),
      update: control && ((analysis) => { if (control.ready()) control.update(complete(analysis)); }) };
    if (growth) made.growth = new Growth();
    made.open(played.players === 1 ? BigInt(seed) : parts.stream({ seed: BigInt(seed), number: 0n }));
    const began = now();
    let analysis;
    if (made.watch) analysis = await (control ? made.watch(root, own) : made.analysis(root));
    else {
      if (!root.over) await made.choose(root, own);
      analysis = await made.analysis(root);
    }
    if (growth) analysis.growth = made.growth.json((move) => root.moveText(move));
    const whole = { ...complete(analysis), seconds: now() - began };
    made.close?.();
    return whole;
  }

  #first(game, seed) {
    let [state, position] = game.initial(this.parts.rng(null, seed));
    while (position.isChance) [state, position] = applyChance(position, null, state);
    return position;
  }

  async explain({ game, position, move, agent = null }) {
    const { parts } = this, played = parts.game(game), player = await makeAgent(parts, agent, played);
    if (!player.learned) throw new Problem("explain needs an agent with learned values of 2048: use small, or a run");
    const before = played.parse(position), after = before.play(move);
    const found = player.explain(after.low, after.high);
    const cellsOf = (digits) => [...digits].map((digit) => parseInt(digit, 16));
    return { move, reward: rewardOf(before, after), value: found.reduce((sum, part) => sum + part.value, 0),
      tuples: found.map(({ cells, value, weights }, t) => ({ cells: cellsOf(cells), value,
        placements: player.network.tuples[t].placements.map((placed, i) =>
          ({ cells: cellsOf(placed), weight: weights[i] })) })) };
  }

  review(asked) {
    return review(this.parts, asked);
  }

  read({ text, game = null }) {
    return readText(this.parts, text, game === null ? null : this.parts.game(game));
  }

  write({ game, start, steps, format = "record", names = null }) {
    return { text: writeText(this.parts, this.parts.game(game), start, steps, format, names) };
  }
}

/** Work whose frames are sent one at a time: the next when the page has drawn the last. */
class Job {
  #send;
  #next = {};
  #acknowledged = true;
  #wake = null;

  constructor(id, send) {
    this.id = id;
    this.#send = send;
    this.isStopped = false;
    this.pace = 0;
    this.serialize = (frame) => frame;
    this.rested = now();
  }

  stopped() {
    return this.isStopped;
  }

  ready() {
    return this.#acknowledged;
  }

  /** Send a frame, or merge it into the one that waits. */
  update(news) {
    for (const [name, value] of Object.entries(news)) {
      if (Array.isArray(value) && name in this.#next) this.#next[name].push(...value);
      else this.#next[name] = value;
    }
    this.#flush();
  }

  #flush() {
    if (!this.#acknowledged || !Object.keys(this.#next).length) return;
    this.#send({ id: this.id, ...this.serialize(this.#next), done: false });
    this.#acknowledged = false;
    this.#next = {};
  }

  finish(last) {
    const rest = Object.keys(this.#next).length ? this.serialize(this.#next) : {};
    const stopped = this.isStopped && !("error" in last) ? { stopped: true } : {};
    this.#send({ id: this.id, ...rest, ...last, ...stopped, done: true });
  }

  ack() {
    this.#acknowledged = true;
    this.#flush();
    this.#wake?.();
  }

  stop() {
    this.isStopped = true;
    this.#wake?.();
  }

  get crowded() {
    return (this.#next.steps?.length ?? 0) >= MAX_STEPS;
  }

  /** Let messages be read. */
  pause() {
    return this.wait(0);
  }

  /** Sleep, or until it is stopped. */
  wait(seconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 1000 * seconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
    }).then(() => { this.rested = now(); });
  }

  /** Let messages be read if it has worked for long enough, and while too many moves wait. */
  async rest(seconds) {
    if (seconds > 0) {
      const until = now() + seconds;
      while (!this.isStopped && now() < until) await this.wait(until - now());
    } else if (now() - this.rested > FRAME) await this.pause();
    while (this.crowded && !this.isStopped) await this.wait(0.1);
  }
}

/** The jobs of a page. */
export class Jobs {
  #jobs = new Map();

  constructor(answers, send) {
    this.answers = answers;
    this.parts = answers.parts;
    this.send = send;
  }

  /** A message of the page: a job to start, or about one. */
  handle({ id, type, ...message }) {
    const job = this.#jobs.get(id);
    if (type === "ack") job?.ack();
    else if (type === "stop") job?.stop();
    else if (type === "pace") { if (job) job.pace = message.pace; } else this.#start(id, type, message);
  }

  async #start(id, type, message) {
    const job = new Job(id, this.send);
    this.#jobs.set(id, job);
    let last;
    try {
      const run = { analyze: () => this.#analyze(job, message), play: () => this.#play(job, message),
        review: () => this.#review(job, message) }[type];
      if (!run) throw new Problem(`${type} needs tuplet serve: this page has no server`);
      last = await run();
    } catch (error) {
      if (!(error instanceof Problem)) console.error(error);
      last = { error: error.message };
    }
    this.#jobs.delete(id);
    job.finish(last);
  }

  async #analyze(job, message) {
    const control = { stopped: () => job.stopped(), ready: () => job.ready(), pause: () => job.pause(),
      update: (analysis) => job.update({ analysis }) };
    return { analysis: await this.answers.analyze(message, control) };
  }

  async #review(job, message) {
    const control = { stopped: () => job.stopped(), pause: () => job.pause(), rest: (seconds) => job.rest(seconds) };
    const progress = (done, all) => { if (job.ready()) job.update({ done_moves: done, moves: all }); };
    return { review: await review(this.parts, message, control, progress) };
  }

  /** Agents play for some sides, until the game is over or another side is to move. */
  async #play(job, { game, position: notation, agents, rng = null, depth = null, time = null, moves = null, pace = 0,
    analysis: analyzes = false }) {
    const { parts } = this, played = parts.game(game);
    let position = played.parse(notation), state = parts.rng(rng), made = 0;
    const began = now(), players = {};
    job.pace = pace;
    const described = (at = null, rngState = null) => ({ position: at.json(), rng: rngText(rngState) });
    job.serialize = (frame) => {
      if (!frame.steps) return frame;
      const seconds = now() - began;
      /** @type {any} */
      const plain = { steps: frame.steps, ...described(...frame.state) };
      if (seconds > 0.5) plain.moves_per_s = made / seconds;
      if (frame.analysis) plain.analysis = frame.analysis;
      if (frame.steps.length === 1 && frame.moved?.[0].motion) plain.motion = frame.moved[0].motion(frame.moved[1]);
      return plain;
    };
    const update = (step, more = {}) => {
      made += 1;
      job.update({ steps: [step], state: [position, state], ...more });
    };
    for (const [side, text] of Object.entries(agents)) {
      if (!played.sides.includes(side) || typeof text !== "string") {
        throw new Problem(`agents must be named by the sides of ${played.name}: ${played.sides.join(" and ")}`);
      }
      players[side] = await makeAgent(parts, text, played, { depth, time });
      players[side].open(parts.rng(null));
    }
    const control = { stopped: () => job.stopped(), pause: () => job.pause() };
    while (!position.over && !job.stopped()) {
      let outcome;
      if (position.isChance) {
        [state, position, outcome] = applyChance(position, null, state);
        update([null, outcome, 0, position.notation]);
        continue;
      }
      const agent = players[position.turn], before = position, from = now();
      if (!agent || moves === 0) break;
      const move = await agent.choose(before, control);
      if (job.stopped()) break; // this may not be its choice
      const more = {};
      if (analyzes && (job.ready() || job.pace)) more.analysis = await agent.analysis(before);
      const after = before.play(move);
      [state, position, outcome] = applyChance(after, null, state);
      update([move, outcome, rewardOf(before, after), position.notation], { moved: [before, move], ...more });
      moves = moves === null ? null : moves - 1;
      await job.rest(job.pace - (now() - from));
    }
    for (const agent of Object.values(players)) agent.close?.();
    return described(position, state);
  }
}
