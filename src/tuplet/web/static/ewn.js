// The page of EinStein würfelt nicht!: a table with a board and a die, and three panels beside it.

import * as address from "./address.js";
import { Live, post } from "./api.js";
import { by, icon, make } from "./dom.js";
import { Board } from "./ewn-board.js";
import { Die, face, sequence } from "./ewn-die.js";
import { bindKeys } from "./ewn-keys.js";
import { Placing } from "./ewn-placing.js";
import { Setup } from "./ewn-setup.js";
import { Sitting } from "./ewn-sitting.js";
import { Think } from "./ewn-think.js";
import { Watch } from "./ewn-watch.js";
import { sleep, still } from "./ewn-words.js";
import { compiling, fail, shell, toast } from "./shell.js";

const PANELS = { play: "Play", think: "Think", watch: "Watch" };
const USUAL = { game: "ewn", position: "", red: "you", blue: "normal", panel: "play", agent: "mcts:sims=500000", along: "", a: "mcts", b: "normal", pace: "0.4", roll: "", flip: "" };
const ROLL = 0.5, ANSWER = 0.3; // seconds in which people see what happens

const live = new Live();
const sitting = new Sitting();
const state = { ...USUAL };
let job = null; // an agent's answer under way
let turn = 0; // counts what happens, so that what is late is noticed
let hidden = false; // the die is rolled, but its owner has not looked
let kept = null; // the game that waits while agents are watched
let said = () => {}; // takes back what was last said of a wrong click

shell("ewn");

const board = new Board(by("board"), { onMove: (move) => play(move), onSwap: (one, two) => placing.swap(one, two), onWrong: wrong });
const die = new Die(by("die"), () => roll());
const table = {
  live, board, sitting, state,
  position: () => sitting.position,
  hidden: () => hidden,
  ready: () => Boolean(sitting.position) && !sitting.position.is_chance && !sitting.position.over && !hidden && !placing.sides,
  changed: (jump = false) => remember(jump),
  link: () => address.link(shared()),
  advance, draw, jump, players,
  halt: () => { halt(); hidden = false; },
  place: () => placing.toggle(),
  shuffle: () => placing.shuffle(),
  canPlace: () => placing.possible(),
  begin: (request) => begin(request),
};
const placing = new Placing(table);
const setup = new Setup(by("panel-play"), table, state);
const think = new Think(by("panel-think"), table, state);
const watch = new Watch(by("panel-watch"), {
  live,
  begin: (position, rng) => { sitting.set(position, rng); hidden = false; draw(); remember(); },
  follow: (frame) => { sitting.follow(frame); draw({ tumble: frame.steps.length === 1 && Number(state.pace) > 0.2 }); remember(); },
  changed: (far) => remember(far),
  keep: () => { kept = null; panel("play"); },
}, state);

const buttons = {
  new: button("new", "New game", "N", () => begin()),
  undo: button("undo", "Undo", "U", undo),
  redo: button("redo", "Redo", "", redo),
  flip: button("turn", "Turn the board", "F", flip),
};
by("actions").append(...Object.values(buttons));

function button(sign, says, key, run) {
  return make("button", { type: "button", class: "icon", title: key ? `${says} (${key})` : says, "aria-label": says, onclick: run }, icon(sign));
}

for (const [name, text] of Object.entries(PANELS)) {
  by("tabs").append(make("button", { type: "button", id: `tab-${name}`, role: "tab", "aria-controls": `panel-${name}`, onclick: () => panel(name), onkeydown: tabbed, text }));
}

function tabbed(event) {
  const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!way) return;
  event.preventDefault();
  panel(next(way));
  by(`tab-${state.panel}`).focus();
}

/** The panel beside the one that is open. */
function next(way) {
  const names = Object.keys(PANELS);
  return names[(names.indexOf(state.panel) + way + names.length) % names.length];
}

// --- the address ---

function shared() {
  return { ...state, position: sitting.position?.notation ?? state.position };
}

function remember(jump = false) {
  const told = Object.fromEntries(Object.entries(shared()).filter(([name, value]) => value !== USUAL[name] || ["game", "position", "red", "blue", "panel"].includes(name)));
  if (jump) address.push(told, sitting.memory());
  else address.replace(told, sitting.memory());
}

/** Become what an address says. */
async function restore(found, memory) {
  halt();
  watch.stop();
  kept = null;
  placing.sides = null;
  hidden = false;
  Object.assign(state, USUAL, Object.fromEntries(Object.entries(found).filter(([name]) => name in USUAL)));
  if (!(state.panel in PANELS)) state.panel = "play";
  if (found.position && !found.game) state.game = found.position.trim().split(/\s+/)[0];
  try {
    const { position, rng } = await post("/api/position", { game: state.game, ...(found.position ? { position: found.position } : {}) });
    ours(position);
    sitting.set(position, rng, memory);
  } catch (error) {
    fail(error);
    state.game = sitting.position?.game ?? "ewn";
    if (!sitting.position) await sitting.begin({ game: state.game });
  }
  await settle();
  remember();
  advance();
}

/** Raise an error at a position of another page's game. */
function ours(position) {
  if (!position.cubes) throw new Error(`${position.game} is not played on this page`);
}

/** Panels follow the state. */
async function settle() {
  showPanel();
  await Promise.all([setup.set(), think.set(), watch.set()].map((each) => each.catch(fail)));
}

// --- what is seen ---

function isPerson(side) {
  return state[side] === "you";
}

function draw({ tumble = false } = {}) {
  const { position } = sitting, flip = state.flip === "yes", watching = state.panel === "watch";
  const person = isPerson(position.turn) && !watching && !placing.sides;
  const rollable = person && !position.over && (position.is_chance || hidden);
  board.root.classList.toggle("fast", watching && Number(state.pace) < 0.25); // it would slide through the next move
  board.show(position, { flip, last: sitting.last, placing: placing.sides, movable: person && !hidden && !position.is_chance && !position.over });
  die.show(position, { rollable, hidden, tumble });
  by("caption").textContent = placing.sides ? "Place your cubes" : hidden ? `${position.turn} to roll` : position.caption.replace(/, then .*/, "");
  if (rollable) by("caption").append(": click the die");
  by("caption").className = position.over ? `won ${position.winner}` : position.turn;
  by("ahead").replaceChildren(...(position.coming_die.length && !position.over ? [sequence(position)] : []));
  const choices = person && position.chooses_die ? position.legal_moves.filter((move) => move.startsWith("=")) : [];
  by("faces").replaceChildren(...choices.map((move) => make("button", { type: "button", class: "ewn-die small ready", "data-move": move, "aria-label": `Choose ${move.slice(1)} for the other side`, onclick: () => play(move) }, face(Number(move.slice(1)), position.turn === "red" ? "blue" : "red", position.first === 1))));
  if (position.over && !watching) by("faces").append(make("button", { type: "button", class: "primary", onclick: () => begin() }, icon("new"), "New game"));
  strips(position, flip);
  buttons.undo.disabled = !sitting.past.some(({ position: was }) => decides(was)) || watching;
  buttons.redo.disabled = !sitting.future.some(({ position: was }) => decides(was)) || watching;
  setup.show(sitting, placing.sides);
  document.title = `${position.over ? `${position.winner} has won` : "EinStein würfelt nicht!"} · tuplet`;
}

/** Who sits where, how many cubes each has left, and who is to move. */
function strips(position, flip) {
  const seats = state.panel === "watch" ? { red: state[watch.seats?.red ?? "a"], blue: state[watch.seats?.blue ?? "b"] } : state;
  for (const [place, side] of [["seat-top", flip ? "blue" : "red"], ["seat-bottom", flip ? "red" : "blue"]]) {
    const own = Object.keys(position.cubes).filter((name) => name[0] === side[0]).map((name) => name.slice(1));
    const all = Array.from({ length: position.count }, (_, i) => String(position.first + i));
    by(place).className = `ewn-strip ${side} ${!position.over && position.turn === side ? "to-move" : ""} ${position.winner === side ? "won" : ""}`;
    by(place).replaceChildren(
      make("span", { class: "ewn-who" }, make("b", { text: side === "red" ? "Red" : "Blue" }), make("span", { class: "muted", text: ` ${seats[side] === "you" ? "you" : seats[side]}` })),
      make("span", { class: "ewn-left", role: "img", "aria-label": `${own.length} cubes left: ${own.join(", ")}` }, ...all.map((number) => make("i", { class: own.includes(number) ? "" : "gone", text: number }))),
      make("span", { class: "ewn-turn small", text: position.winner === side ? `won (${position.kind})` : !position.over && position.turn === side ? (job ? "thinks…" : "to move") : "" }));
  }
}

function showPanel() {
  for (const name of Object.keys(PANELS)) {
    const on = name === state.panel, tab = by(`tab-${name}`);
    by(`panel-${name}`).hidden = !on;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
  }
}

function panel(name) {
  if (name === state.panel) return;
  if (state.panel === "watch") {
    watch.stop();
    if (kept) { restoreKept(); }
  }
  if (state.panel === "think") { think.stop(); think.clear(); }
  if (name === "watch") {
    halt();
    placing.sides = null;
    kept = { ...sitting };
  }
  state.panel = name;
  showPanel();
  remember(true);
  advance();
}

function restoreKept() {
  Object.assign(sitting, kept);
  kept = null;
}

// --- what happens ---

/** Nothing that is under way counts any more. */
function halt() {
  turn += 1;
  job?.stop();
  job = null;
}

/** Somebody is to act: let agents do so, wait for people. */
async function advance({ tumble = false } = {}) {
  halt();
  const now = turn;
  draw({ tumble });
  const { position } = sitting;
  if (state.panel === "think") think.moved(isPerson(position.turn));
  if (position.over || placing.sides || state.panel === "watch") return;
  const person = isPerson(position.turn);
  if (position.is_chance && (!person || state.roll === "auto")) {
    await sleep(still() ? 0 : person ? 0.25 : ANSWER);
    if (now === turn) await roll();
    return;
  }
  if (!person && !hidden) {
    if (tumble) await sleep(still() ? 0 : ROLL);
    else if (!position.coming_die.length) await sleep(0);
    else await sleep(still() ? 0 : ANSWER);
    if (now === turn) answer();
  }
}

/** Agents play until a person is to move. */
function answer() {
  const { position } = sitting, now = turn;
  const agents = Object.fromEntries(["red", "blue"].filter((side) => !isPerson(side)).map((side) => [side, state[side]]));
  job = live.start({ type: "play", game: position.game, position: position.notation, rng: sitting.rng, agents, pace: Object.keys(agents).length > 1 ? 0.6 : 0, moves: null }, (frame) => {
    if (now !== turn) return;
    compiling(Boolean(frame.compiling));
    if (frame.error) {
      job = null;
      draw();
      fail(new Error(frame.error));
      by("faces").replaceChildren(make("button", { type: "button", onclick: () => advance(), text: "Let it try again" }));
      return;
    }
    if (frame.steps?.length) {
      sitting.follow(frame);
      const { position: after } = sitting, rolled = frame.steps.at(-1)[1] !== null;
      hidden = rolled && !after.over && isPerson(after.turn) && state.roll !== "auto";
      if (!frame.done) draw({ tumble: rolled && !hidden });
      remember();
      if (frame.done) advance({ tumble: rolled && !hidden });
    } else if (frame.done) advance();
  });
  draw();
}

async function play(move) {
  if (placing.sides) return;
  halt();
  try {
    await sitting.play(move);
    remember();
    await advance();
  } catch (error) {
    fail(error);
    draw();
  }
}

async function roll() {
  const { position } = sitting;
  if (hidden) {
    hidden = false;
    await advance({ tumble: true });
  } else if (position.is_chance && !placing.sides) {
    halt();
    const now = turn;
    try {
      await sitting.roll();
      if (now !== turn) return;
      remember();
      await advance({ tumble: true });
    } catch (error) {
      fail(error);
    }
  }
}

/** A position in which a person decides something. */
function decides(position) {
  return !position.is_chance && !position.over && isPerson(position.turn);
}

function undo() {
  if (state.panel === "watch" || !sitting.undo(decides)) return;
  hidden = false;
  remember();
  advance();
}

function redo() {
  if (state.panel === "watch" || !sitting.redo((position) => decides(position) || position.over)) return;
  hidden = false;
  remember();
  advance();
}

function flip() {
  state.flip = state.flip === "yes" ? "" : "yes";
  remember();
  draw();
  board.arrows(board.path ?? []);
  think.turned();
}

/** A new game: of this kind, or as asked for. */
async function begin(request = {}) {
  halt();
  watch.stop();
  kept = null;
  placing.sides = null;
  hidden = false;
  try {
    const position = await sitting.begin({ game: state.game, ...request });
    const other = position.game !== state.game;
    state.game = position.game;
    if (state.panel === "watch") state.panel = "play";
    showPanel();
    remember(true);
    if (other || request.game) { watch.reset(); await settle(); }
    await advance();
  } catch (error) {
    fail(error);
    setup.set();
  }
}

/** Another position, from a text or a tree: `game` is the record it is the end of, if any. */
async function jump(position, game = null) {
  ours(position);
  halt();
  hidden = false;
  placing.sides = null;
  const other = position.game !== state.game;
  const { rng } = await post("/api/position", { game: position.game, position: position.notation });
  sitting.set(position, rng);
  if (game) Object.assign(sitting, { start: game.start, steps: game.steps.map(([move, outcome]) => [move || null, outcome]) });
  // Whoever pastes a position wants to look at it before anybody moves.
  if (!isPerson(position.turn) && isPerson(position.turn === "red" ? "blue" : "red")) [state.red, state.blue] = [state.blue, state.red];
  state.game = position.game;
  remember(true);
  if (other) watch.reset();
  await settle();
  toast(game ? "The game's last position" : "Here is the position");
  await advance();
}

function players() {
  halt();
  remember(true);
  setup.set().catch(fail);
  advance();
}

/** Say why a cube (its name; null: a direction or a square) cannot be moved so. True: it was said. */
function wrong(cube = null) {
  const { position } = sitting;
  if (!position || state.panel === "watch" || placing.sides) return false;
  const own = isPerson(position.turn), mine = cube?.[0] === position.turn[0], { choices } = board;
  const or = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(choices);
  let why = "No cube can go there.";
  if (position.over) why = "The game is over: N begins another.";
  else if (!own) why = `It is ${position.turn}'s turn.`;
  else if (hidden || position.is_chance) why = "Roll the die first.";
  else if (position.chooses_die) why = "Choose a number for the other side first.";
  else if (cube && !mine) why = `You play ${position.turn} now.`;
  else if (cube && position.die !== null && !choices.includes(String(position.die))) why = `Cube ${position.die} is gone: ${or} may move.`;
  else if (cube) why = `The die shows ${position.die}: cube ${or} moves.`;
  else if (choices.length > 1 && !board.chosen) why = `${position.die !== null && !choices.includes(String(position.die)) ? `Cube ${position.die} is gone: choose` : "Choose"} ${or} first (its number, or a click).`;
  else if (board.chosen) why = `Cube ${board.chosen.slice(1)} cannot go there.`;
  said();
  said = toast(why);
  return true;
}

// --- keys ---

bindKeys({
  roll: () => !die.button.disabled && roll(),
  number: (key) => {
    const { position } = sitting, choice = `=${key}`;
    if (!position.chooses_die || !position.legal_moves.includes(choice) || !isPerson(position.turn)) {
      return board.choose(key) || (isPerson(position.turn) && position.cubes[position.turn[0] + key] ? wrong(position.turn[0] + key) : false);
    }
    return play(choice);
  },
  step: (down, right) => board.step(down, right) || (isPerson(sitting.position.turn) && !sitting.position.over && wrong()),
  release: () => board.release(),
  undo, redo, flip, place: table.place, begin: () => begin(),
  think: () => (state.panel === "watch" ? watch : (panel("think"), think)).toggle(),
  panel: () => panel(next(1)),
});

addEventListener("paste", (event) => {
  if (event.target.closest?.("textarea, input")) return;
  setup.read(event.clipboardData.getData("text"));
});

address.onMove(restore);
restore(address.read(), history.state);
