// The page "How it searches, step by step": a tree search in four phases, select, expand, simulate, back up.
import { post } from "./api.js";
import { by, choice, count, counted, icon, make, percent } from "./dom.js";
import { Board } from "./ewn-board.js";
import { chip, reducedMotion, sleep } from "./ewn-words.js";
import { isPredicting, lesson, predict } from "./lesson.js";
import { BANDITS, added, backedUp, games, terms } from "./search-terms.js";
import { childrenOf, drawTree, grow, label } from "./search-tree.js";
import { bind, fail } from "./shell.js";

const PHASES = ["Select", "Expand", "Simulate", "Back up"];
const GAMES = { ewn: "EWN", "ewn-6x7": "EWN 6x7, known die" };
const START = "ewn r1r2r3../r4r5.../r6...b6/...b5b4/..b3b2b1 red 2";
const DEFAULTS = { game: "ewn", position: "", ucb: "tuned", c: "", expand: "4", batch: "1", seed: "0", steps: "60",
  at: "0", phase: "0", node: "" };
const LIMITS = { expand: [1, 10_000], batch: [1, 100], steps: [2, 400] };
const TEMPO = 0.35; // seconds of a move
const MOST_ANSWERS = 12, MOST_POSITIONS = 2000; // that are kept

let shown = { ...DEFAULTS }; // texts, as in the address
/** @type {any} */
let answer = null;
const answers = new Map(); // request -> promise
const positions = new Map(); // notation -> promise
const predicted = new Set(); // steps whose question was answered
let playing = 0; // the number of the random game that is shown
const board = new Board(by("board"), { onMove: () => {}, onSwap: () => {}, onWrong: () => {} });

const at = () => Number(shown.at), phase = () => Number(shown.phase);
const clamp = (text, low, high, usual) => {
  const value = Math.round(Number(text));
  return String(text !== "" && Number.isFinite(value) ? Math.min(Math.max(value, low), high) : usual);
};

const view = lesson("search", { state: () => ({ ...shown }), open });

/** Show a state of the address. */
async function open(state) {
  shown = { ...DEFAULTS, ...Object.fromEntries(Object.entries(state).filter(([name]) => name in DEFAULTS)) };
  if (!(shown.ucb in BANDITS)) shown.ucb = DEFAULTS.ucb;
  for (const [name, [low, high]] of Object.entries(LIMITS)) shown[name] = clamp(shown[name], low, high, DEFAULTS[name]);
  shown.seed = clamp(shown.seed, 0, 2 ** 40, 0);
  shown.phase = clamp(shown.phase, 0, 3, 0);
  predicted.clear();
  await load();
}

const request = (ucb) => ({ game: shown.game, position: shown.position, ucb, expand: Number(shown.expand),
  batch: Number(shown.batch), last: Number(shown.steps), seed: Number(shown.seed),
  ...(shown.c !== "" && Number(shown.c) >= 0 && ucb === shown.ucb ? { c: Number(shown.c) } : {}) });

/** What a map has of a key, or what `promise` makes; the oldest is forgotten. */
function kept(map, key, most, promise) {
  if (!map.has(key)) {
    map.set(key, promise());
    map.get(key).catch(() => map.delete(key));
    if (map.size > most) map.delete(map.keys().next().value);
  }
  return map.get(key);
}

const ask = (body) => kept(answers, JSON.stringify(body), MOST_ANSWERS, () => post("/api/search-steps", body));
const positionOf = (notation) => kept(positions, notation, MOST_POSITIONS, () =>
  post("/api/position", { game: shown.game, position: notation }).then(({ position }) => position));

/** Search as the settings say, and show it; with `entry`, the back button leads to what was shown before. */
async function load(entry = false) {
  try {
    if (!shown.position) {
      shown.position = shown.game === "ewn" ? START
        : (await post("/api/position", { game: shown.game, seed: 1, roll: true })).position.notation;
    }
    const wanted = request(shown.ucb), found = await ask(wanted);
    if (JSON.stringify(wanted) !== JSON.stringify(request(shown.ucb))) return; // changed meanwhile
    answer = found;
  } catch (error) {
    fail(error);
    return;
  }
  shown.at = clamp(shown.at, 0, answer.steps.length - 1, 0);
  drawSettings();
  slider.max = String(answer.steps.length - 1);
  render();
  view.changed(entry);
}

// Controls

const phaseButtons = PHASES.map((text, number) => make("button", { "data-phase": number,
  title: `${text} (${number + 1})`, onclick: () => toPhase(number) }, text));
by("phases").append(make("button", { class: "icon", "aria-label": "One phase back", title: "Back (←)",
  onclick: () => move(-1) }, icon("previous")), ...phaseButtons, make("button", { class: "icon primary",
  "aria-label": "Next phase", title: "Next phase (→ or Space)", onclick: () => move(1) }, icon("next")));
const slider = make("input", { type: "range", min: 0, max: 1, "aria-label": "Simulation", oninput: () => {
  Object.assign(shown, { at: slider.value, phase: "3", node: "" });
  update();
} });
const sliderText = make("span", { class: "small muted number" });
by("slider").append(make("div", { class: "search-slider" }, slider, sliderText));

function drawSettings() {
  const field = (text, input) => make("label", { class: "field" }, make("span", {}, text), input);
  const set = (name) => (event) => change({ [name]: event.target.value });
  const numeric = (name, text, more = {}) => {
    const input = make("input", { type: "number", name, step: 1, onchange: set(name), ...more });
    input.value = shown[name];
    return field(text, input);
  };
  const game = make("select", { name: "game", onchange: (event) => change({ game: event.target.value, position: "" }) },
    Object.entries({ [shown.game]: shown.game, ...GAMES }).map(([value, text]) => make("option", { value }, text)));
  game.value = shown.game;
  by("settings").replaceChildren(
    field("Game", game),
    make("div", { class: "field" }, make("span", {}, "Bandit"),
      choice("ucb", BANDITS, shown.ucb, (ucb) => change({ ucb, c: "" }), "Bandit")),
    numeric("c", "c", { min: 0, step: "any", placeholder: answer.settings.c }),
    numeric("expand", "Children after", { min: 1 }), numeric("batch", "Games at once", { min: 1, max: 100 }),
    numeric("steps", "Simulations", { min: 2, max: 400 }), numeric("seed", "Seed", { min: 0 }),
    make("button", { onclick: newPosition }, icon("new"), "New position"));
}

async function newPosition() {
  const seed = Math.floor(Math.random() * 1e6);
  let { position, rng } = await post("/api/position", { game: shown.game, seed, roll: true });
  for (let moves = Math.floor(Math.random() * 7); moves > 0; moves--) {
    const next = position.legal_moves[Math.floor(Math.random() * position.legal_moves.length)];
    const then = await post("/api/play", { game: shown.game, position: position.notation, move: next, rng });
    if (then.position.over) break;
    ({ position, rng } = then);
  }
  change({ position: position.notation });
}

/** Change a setting, and begin again. */
function change(more) {
  Object.assign(shown, { at: "0", phase: "0", node: "" }, more);
  for (const [name, [low, high]] of Object.entries(LIMITS)) shown[name] = clamp(shown[name], low, high, DEFAULTS[name]);
  shown.seed = clamp(shown.seed, 0, 2 ** 40, 0);
  predicted.clear();
  load(true);
}

function update() {
  render();
  view.changed();
}

/** Go to a phase of this simulation; after it, "Select" is that of the next one. */
function toPhase(number) {
  if (number === 0 && phase() > 0) {
    if (at() + 1 >= answer.steps.length) return;
    Object.assign(shown, { at: String(at() + 1), phase: "0", node: "" });
  } else shown.phase = String(number);
  update();
}

/** A phase on or back. */
function move(way) {
  if (!answer || (way > 0 && isWaiting())) return;
  const next = 4 * at() + phase() + way;
  if (next < 0 || next >= 4 * answer.steps.length) return;
  Object.assign(shown, { at: String(Math.floor(next / 4)), phase: String(next % 4), node: "" });
  update();
}

const unless = (name, run) => () => (view.hides(name) ? false : run());
bind([
  { keys: ["ArrowRight", " "], says: "next phase", run: unless("phases", () => move(1)), group: "Search" },
  { keys: ["ArrowLeft"], says: "one phase back", run: unless("phases", () => move(-1)), group: "Search" },
  { keys: ["Shift+ArrowRight"], says: "next simulation", run: unless("slider", () => move(4)), group: "Search" },
  { keys: ["Shift+ArrowLeft"], says: "one simulation back", run: unless("slider", () => move(-4)), group: "Search" },
  ...PHASES.map((text, number) => ({ keys: [String(number + 1)], says: text.toLowerCase(), group: "Search",
    run: unless("phases", () => toPhase(number)) })),
]);

// Drawing

/** The choice that is asked for: that of the root, if there is one. */
const question = (step) => step.choices.slice(0, 1).find((each) => each.children.length > 1);
const isWaiting = () => isPredicting() && phase() === 0 && !predicted.has(at()) && question(answer.steps[at()]);

function render() {
  const step = answer.steps[at()], nodes = grow(answer, at(), phase()), waiting = Boolean(isWaiting());
  const path = waiting ? [0] : step.path.filter((node) => nodes.has(node));
  const choices = waiting ? [question(step)] : step.choices.filter((each) => nodes.has(each.selected));
  const picked = choices.find((each) => String(each.node) === shown.node) ?? choices[0] ?? null;
  slider.value = shown.at;
  sliderText.textContent = `simulation ${count(at() + 1)} of ${count(answer.steps.length)}`;
  phaseButtons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === phase())));
  const fresh = new Set(phase() >= 1 ? step.expanded.map((each) => each.node) : []);
  drawTree(by("tree"), nodes, { path, fresh, side: answer.side, current: picked?.node ?? null,
    played: new Set(phase() === 2 ? step.playouts.map((each) => each.node) : []),
    changed: new Set(phase() === 3 ? step.backup.filter((each) => each.visits[0] !== each.visits[1])
      .map((each) => each.node) : []),
    onNode: (node) => {
      shown.node = String(node);
      update();
    } });
  by("tree").dataset.at = `${at()}.${phase()}`;
  by("says").textContent = says(step, nodes, waiting);
  drawNumbers(step, nodes, picked, waiting);
  drawBoard(step, nodes, path);
  drawCompare();
}

/** What happens in this phase, in a sentence. */
function says(step, nodes, waiting) {
  const leaf = nodes.get(step.path.filter((node) => nodes.has(node)).at(-1));
  const way = step.path.slice(1).filter((node) => nodes.has(node)).map((node) => label(nodes.get(node), nodes));
  if (phase() === 0) {
    if (waiting) return "Select: the bandit chooses a child at every node, from the root on.";
    return way.length ? `Select: from the root by ${way.join(", ")} to a leaf.` : "Select: the root is the leaf.";
  }
  if (phase() === 1) {
    if (step.expanded.length) return `Expand: ${counted(step.expanded.length, "new node")}.`;
    const reason = leaf.proven !== null || !leaf.side ? "its result is known"
      : `it has ${counted(leaf.visits, "visit")}, and gets children after ${answer.settings.expand}`;
    return `Expand: nothing. The leaf stays a leaf: ${reason}.`;
  }
  if (phase() === 2) {
    const played = step.playouts.filter((each) => !each.known);
    if (!played.length) return "Simulate: no random game. The result is known.";
    const won = played.flatMap((each) => each.results).reduce((sum, result) => sum + result, 0);
    const number = played.reduce((sum, each) => sum + each.games, 0);
    return `Simulate: ${counted(number, "random game")}; ${answer.side} wins ${count(won)}.`;
  }
  const { proven } = step.backup[0], known = proven === 1 ? "wins" : proven === 0 ? "loses" : "draws";
  const stops = proven === null ? "" : ` The root is proven: ${answer.side} ${known}, and the search stops.`;
  return `Back up: the result is added to every node on the path.${stops}`;
}

function drawNumbers(step, nodes, picked, waiting) {
  const number = phase(), titles = ["Which child is selected?", "What is added", "Random games", "What changes"];
  by("numbers-title").textContent = titles[number];
  const inside = number === 0 ? (picked ? terms(picked, nodes, answer.settings)
    : [make("p", {}, "The root is a leaf: there is nothing to select yet.")])
    : number === 1 ? added(step, nodes) : number === 2 ? games(step, nodes, answer.side)
      : backedUp(step, nodes, answer.side);
  by("numbers").replaceChildren(...inside);
  const host = by("ask");
  if (!waiting) {
    if (number > 0 || !isPredicting()) host.replaceChildren();
    by("numbers").parentElement.classList.remove("lesson-covered");
    return;
  }
  const { children, selected } = question(step);
  const choices = Object.fromEntries(children.map(({ node, visits, mean }) =>
    [node, `${label(nodes.get(node), nodes)}: ${counted(visits, "visit")}, mean ${mean?.toFixed(2) ?? "–"}`]));
  const asked = at(), text = `Which child will ${BANDITS[shown.ucb]} select at the root?`;
  predict(by("numbers").parentElement, { at: host, question: text, choices, answer: String(selected) }).then(() => {
    predicted.add(asked);
    if (at() === asked && phase() === 0) render();
  });
}

async function drawBoard(step, nodes, path) {
  const number = ++playing, leaf = nodes.get(path.at(-1));
  const show = async (notation, caption, title) => {
    const position = await positionOf(notation);
    if (number !== playing) return false;
    board.show(position);
    by("board").dataset.notation = notation;
    by("board-title").textContent = title;
    by("board-says").replaceChildren(...caption);
    return true;
  };
  try {
    const played = phase() === 2 ? step.playouts.find((each) => !each.known) : null;
    if (!played) {
      await show(leaf.position, [(await positionOf(leaf.position)).caption], leaf.parent === null ? "The position"
        : "The position at the leaf");
      return;
    }
    const from = nodes.get(played.node), title = `A random game from ${label(from, nodes)}`;
    played.steps.forEach((each) => positionOf(each.position)); // all at once
    let side = (await positionOf(from.position)).turn;
    for (const [i, each] of played.steps.entries()) {
      const last = i === played.steps.length - 1, result = played.results[0];
      const roll = each.outcome ? `: die ${each.outcome}` : "";
      const end = last ? ` ${answer.side} ${result === 1 ? "wins" : result === 0 ? "loses" : "draws"}.` : "";
      const text = [`${i + 1} of ${played.steps.length}${roll} `, each.move ? chip(side, each.move) : "", end];
      if (last || !reducedMotion()) {
        if (!await show(each.position, text, title)) return;
        if (!last) await sleep(TEMPO);
      }
      side = (await positionOf(each.position)).turn;
    }
  } catch (error) {
    fail(error);
  }
}

/** The moves of the root under each bandit, at the same number of simulations. */
function drawCompare() {
  const host = by("compare"), now = `${at()}.${phase()}`;
  host.dataset.wanted = now;
  Promise.all(Object.keys(BANDITS).map((ucb) => ask(request(ucb)))).then((all) => {
    if (host.dataset.wanted !== now) return;
    host.replaceChildren(...all.map((each, i) => {
      const last = Math.min(at(), each.steps.length - 1), nodes = grow(each, last, last < at() ? 3 : phase());
      const ucb = Object.keys(BANDITS)[i], below = childrenOf(nodes).get(0) ?? [], { visits } = nodes.get(0);
      const tree = make("div");
      drawTree(tree, nodes, { path: isWaiting() ? [] : each.steps[last].path.filter((node) => nodes.has(node)),
        side: each.side });
      return make("div", { class: `stack close ${ucb === shown.ucb ? "own" : ""}`, "data-bandit": ucb },
        make("h3", {}, `${BANDITS[ucb]}, ${counted(nodes.size, "node")}`), below.map((child) =>
          make("div", { class: "search-bar", "data-move": child.move, "data-visits": child.visits },
            make("span", {}, label(child, nodes)),
            make("div", { class: "bar", vars: { "--share": visits ? child.visits / visits : 0 } }, make("i")),
            make("span", { class: "small number" }, `${count(child.visits)}`),
            make("span", { class: "small muted number" }, child.value === null ? "–" : percent(child.value, 0)))),
        below.length ? null : make("p", { class: "small muted" }, "The root has no children yet."), tree);
    }));
    host.dataset.at = now;
  }).catch(fail);
}
