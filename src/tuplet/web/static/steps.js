// The page "How it learns, step by step": a game, then what is learned from it, one step at a time.
import { get, post } from "./api.js";
import { by, choice, icon, make } from "./dom.js";
import { lesson } from "./lesson.js";
import { bind, fail } from "./shell.js";
import { EwnSide } from "./steps-ewn.js";
import { Side } from "./steps-view.js";
import { isStatic } from "./wasm-client.js";

const DEFAULTS = { game: "2048", values: "afterstate", learner: "td", order: "backward", alpha: "", lam: "",
  games: "100", net: "5x4", spawn4: "0.1", seed: "1", board: "", last: "12", step: "0", move: "", tuple: "0",
  placement: "0" };
const RATES = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1]; // of alpha
const PACE = 1600; // ms between two steps that play
const MOST_KEPT = 100;

let state = { ...DEFAULTS };
let answers = []; // of the sides that are shown
let events = []; // {phase: "play" or "learn", number of the move}
let asked = 0, timer = null;
const kept = new Map(); // answers by their questions
const sides = Object.fromEntries(["afterstate", "state"].map((target) =>
  [target, new Side(target, (looks) => change(looks, false))]));
const ewn = new EwnSide((looks) => change(looks, false));

const isEwn = () => state.game === "ewn";
const sideOf = (answer) => (answer.game ? ewn : sides[answer.target]);
const targets = () => (isEwn() ? [null] : state.values === "both" ? ["afterstate", "state"] : [state.values]);
const number = (text) => (text === "" ? null : Number(text));

/** What happens, in the order in which it happens: an update needs the next move, or the end of the game. */
function eventsOf({ steps, order }) {
  const plays = steps.map((step) => ({ phase: "play", number: step.number }));
  const learns = steps.map((step) => ({ phase: "learn", number: step.number }));
  if (order !== "forward") return [...plays, ...learns.reverse()];
  return [...plays.flatMap((play, i) => (i ? [play, learns[i - 1]] : [play])), learns.at(-1)];
}

function ask(target, moves, at) {
  const question = { net: state.net, learner: state.learner, order: state.order, games: Number(state.games),
    seed: Number(state.seed), last: Number(state.last), spawn4: Number(state.spawn4), target, moves };
  const more = { alpha: number(state.alpha), lam: state.order === "forward" ? null : number(state.lam),
    board: state.board.trim() || null, at };
  for (const [name, value] of Object.entries(more)) if (value !== null) question[name] = value;
  const { learner, games, seed: chosen, alpha, lam } = question;
  const other = { game: "ewn", learner, games, seed: chosen, alpha, lam, at };
  const [path, body] = isEwn() ? ["/api/self-play-steps", other] : ["/api/learning-steps", question];
  const key = JSON.stringify([path, body]);
  if (!kept.has(key)) {
    const answer = post(path, body);
    answer.catch(() => kept.delete(key));
    kept.set(key, answer);
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
  }
  return kept.get(key);
}

/** Ask for the game with the details of the step that is shown, and show it. Both kinds of values see the same game. */
async function load() {
  const mine = ++asked, [first, second] = targets();
  try {
    // A game of other settings mostly has as many steps: the same one, counted from its end.
    const guess = events[Number(state.step)], steps = answers[0]?.steps;
    const back = guess && steps ? guess.number - steps.at(-1).number - 1 : -1;
    let one = await ask(first, "", back);
    const found = eventsOf(one), at = Math.max(0, Math.min(Number(state.step) || 0, found.length - 1));
    const { number: move } = found[at];
    const { choices, rolls } = one.steps.find((step) => step.number === move);
    if (!choices && !rolls) one = await ask(first, "", move);
    const other = second ? await ask(second, one.played, move) : null;
    if (mine !== asked) return;
    events = found;
    state.step = String(at);
    answers = other ? [one, other] : [one];
    show();
  } catch (error) {
    if (mine !== asked) return;
    fail(error);
    const says = make("p", { class: "panel" }, `This cannot be shown: ${error.message}`);
    if (!answers.length) by("sides").replaceChildren(says);
  }
}

function show() {
  const at = Number(state.step), event = events[at], [first] = answers;
  const looks = { move: state.move || null, tuple: Number(state.tuple), placement: Number(state.placement) };
  by("sides").classList.toggle("two", answers.length === 2);
  by("main").dataset.game = state.game;
  by("sides").replaceChildren(...answers.map((answer) => sideOf(answer).element));
  answers.forEach((answer) => sideOf(answer).show(answer, event, looks));
  const count = (first.played ?? first.steps).length;
  const learning = event.phase === "learn", learns = events.filter(({ phase }) => phase === "learn");
  by("where-it-is").textContent = learning
    ? `Learning, update ${learns.indexOf(event) + 1} of ${learns.length}: the board of move ${event.number + 1}`
    : `Playing move ${event.number + 1} of ${count}${event.number + 1 === count ? ", the last one" : ""}`;
  by("where-it-is").dataset.step = `${event.phase} ${event.number}`;
  by("slider").max = events.length - 1;
  by("slider").value = at;
  by("slider").setAttribute("aria-valuetext", by("where-it-is").textContent);
  by("back").disabled = at === 0;
  by("on").disabled = at === events.length - 1;
  by("to-play").setAttribute("aria-pressed", String(!learning));
  by("to-learn").setAttribute("aria-pressed", String(learning));
  Object.values(fields).forEach((update) => update(first));
}

/** Change what is shown; `anew` adds an entry to the history. */
function change(more, anew = true) {
  state = { ...state, ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, String(value)])) };
  view.changed(anew);
  load();
}

function go(by_) {
  if (!events.length) return;
  const step = Math.max(0, Math.min(Number(state.step) + by_, events.length - 1));
  if (step !== Number(state.step)) change({ step, move: "" }, false);
  if (step === events.length - 1) stop();
}

function stop() {
  clearInterval(timer);
  timer = null;
  by("run").replaceChildren(icon("play"));
  by("run").setAttribute("aria-label", "Play");
}

function toggle() {
  if (timer !== null) {
    stop();
    return;
  }
  timer = setInterval(() => go(1), PACE);
  by("run").replaceChildren(icon("pause"));
  by("run").setAttribute("aria-label", "Pause");
}

// The controls. Each entry of `fields` shows what an answer says of its setting.
/** @type {Object<string, (answer: any) => void>} */
const fields = {};

function field(name, label, input, about = "") {
  by("fields").append(make("div", { class: "field", "data-control": name, "data-label": label },
    make("label", { for: input.id || null, id: `${name}-label` }, label), input,
    make("span", { class: "says", id: `${name}-says` }, about)));
}

function select(name, label, options, about) {
  const input = make("select", { id: name, onchange: () => change({ [name]: input.value }) },
    Object.entries(options).map(([value, text]) => make("option", { value }, text)));
  field(name, label, input, about);
  fields[name] = () => { input.value = state[name]; };
}

function slider(name, label, values, of) {
  const input = make("input", { type: "range", id: name, min: 0, max: values.length - 1, step: 1,
    oninput: () => change({ [name]: values[Number(input.value)] }, false) });
  field(name, label, input);
  fields[name] = (answer) => {
    if (of(answer) === undefined) return; // EWN has no such setting
    const nearest = values.reduce((best, value, i) =>
      (Math.abs(value - of(answer)) < Math.abs(values[best] - of(answer)) ? i : best), 0);
    input.value = String(nearest);
    input.disabled = name === "lam" && answer.order === "forward";
    input.setAttribute("aria-valuetext", String(of(answer)));
    by(`${name}-says`).textContent = `${of(answer)}${input.disabled ? ", forward: λ needs the end" : ""}`;
  };
}

function radio(name, label, options, host) {
  const element = choice(name, options, state[name], (value) => change({ [name]: value,
    ...(name === "learner" || name === "game" ? { alpha: "", lam: "" } : {}),
    ...(name === "game" ? { step: 0 } : {}) }), label);
  if (host) host.append(make("div", { "data-control": name, "data-label": label }, element));
  else field(name, label, element);
  fields[name] = () => element.choose(state[name]);
}

const TENTHS = Array.from({ length: 11 }, (_, i) => i / 10);
by("back").append(icon("previous"));
by("on").append(icon("next"));
const bar = make("div", { class: "row apart" });
by("stepper").append(bar);
if (!isStatic) radio("game", "Game", { 2048: "2048", ewn: "EWN" }, bar); // its kernels need the server
radio("values", "Values", { afterstate: "After-states", state: "States", both: "Both" }, bar);
bar.append(make("button", { "data-control": "another", "data-label": "Another game",
  onclick: () => change({ seed: Number(state.seed) + 1, step: 0 }) }, icon("turn"), "Another game"));
radio("learner", "Learner", { td: "TD", tc: "TC" });
radio("order", "Order", { backward: "Backward", forward: "Forward" });
slider("alpha", "Learning rate α", RATES, (answer) => answer.alpha);
slider("lam", "λ", TENTHS, (answer) => answer.lam);
select("games", "Learned before", { 0: "nothing", 10: "10 games", 100: "100 games", 1000: "1,000 games" });
select("net", "Network", { "5x4": "5x4: five tuples of 4", "0123 4567": "two rows: 0123 4567" });
slider("spawn4", "Share of fours", TENTHS, (answer) => answer.spawn4);
select("last", "Moves shown", { 12: "the last 12", 30: "the last 30", 100: "the last 100" });
const seed = make("input", { type: "number", id: "seed", min: 0, step: 1, onchange: () =>
  change({ seed: seed.value || 0 }) });
field("seed", "Random seed", seed);
fields.seed = () => { seed.value = state.seed; };
const board = make("input", { type: "text", id: "board", placeholder: "two tiles", onchange: () =>
  change({ board: board.value, step: 0 }) });
field("board", "Board to start from", board, "Row by row: 2,4,8,16/0,2,4,8/…");
fields.board = () => { board.value = state.board; };

by("back").addEventListener("click", () => go(-1));
by("on").addEventListener("click", () => go(1));
by("run").addEventListener("click", toggle);
by("to-play").addEventListener("click", () => change({ step: 0, move: "" }, false));
by("to-learn").addEventListener("click", () =>
  change({ step: events.findIndex(({ phase }) => phase === "learn"), move: "" }, false));
by("slider").addEventListener("input", () => change({ step: by("slider").value, move: "" }, false));
const steps = (run) => () => (view.hides("stepper") ? false : run());
bind([
  { keys: ["ArrowRight"], says: "next step", run: steps(() => go(1)), group: "Steps" },
  { keys: ["ArrowLeft"], says: "one step back", run: steps(() => go(-1)), group: "Steps" },
  { keys: [" "], says: "play, or pause", run: steps(toggle), group: "Steps" },
  { keys: ["Home"], says: "the first move", run: steps(() => change({ step: 0 }, false)), group: "Steps" },
  { keys: ["End"], says: "the last update", group: "Steps",
    run: steps(() => change({ step: events.length - 1 }, false)) },
]);

/** What differs from the defaults: the address of the page is short. */
const inAddress = () => Object.fromEntries(Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name]));
const view = lesson("steps", { state: inAddress, open: (given) => {
  state = { ...DEFAULTS, ...Object.fromEntries(Object.entries(given).filter(([name]) => name in DEFAULTS)) };
  if (!["afterstate", "state", "both"].includes(state.values)) state.values = DEFAULTS.values;
  if (isStatic || !isEwn()) state.game = DEFAULTS.game;
  load();
} });
stop();
get("/api/homework").then(({ functions }) => Object.values(sides).forEach((side) => { side.homework = functions; }))
  .catch(fail);
