// The page of EinStein würfelt nicht!: a board and a die, and three panels beside them.
import * as address from "./address.js";
import { AgentGame } from "./agent-game.js";
import { Live } from "./api.js";
import { by, icon, make } from "./dom.js";
import { Board } from "./ewn-board.js";
import { Die, face, sequence } from "./ewn-die.js";
import { bindKeys } from "./ewn-keys.js";
import { lastMove } from "./ewn-line.js";
import { Placing } from "./ewn-placing.js";
import { Setup } from "./ewn-setup.js";
import { Think } from "./ewn-think.js";
import { Watch } from "./ewn-watch.js";
import { OPPONENT, other, reducedMotion, sleep } from "./ewn-words.js";
import { Game, Visit } from "./game.js";
import { fail, onPaste, shell, toast } from "./shell.js";
import { tabs } from "./tabs.js";

const PANELS = { play: "Play", think: "Think", watch: "Watch" };
const DEFAULTS = {
  game: "ewn", position: "", red: "you", blue: OPPONENT, panel: "play", agent: "mcts:sims=500000", along: "",
  a: "mcts", b: OPPONENT, pace: "0.4", roll: "", flip: "",
};
const ALWAYS = ["game", "position", "red", "blue", "panel"]; // in the address, even if they are the defaults
const ROLL = 0.5, ANSWER = 0.3; // seconds in which people see what happens

shell("ewn");
const live = new Live();
const game = new Game();
game.manualChance = true; // people roll the die
const visit = new Visit(game, addressState);
const agents = new AgentGame(live, game);
const state = { ...DEFAULTS };
let hidden = false; // the die is rolled, but its owner has not looked
let before = null; // the game that waits while agents are watched
let clearWarning = () => {};

const board = new Board(by("board"), {
  onMove: (move) => play(move), onSwap: (one, two) => placing.swap(one, two), onWrong: explainWrong });
const die = new Die(by("die"), () => roll());
const page = {
  live, board, game, state, advance, draw, begin, showText,
  position: () => game.position,
  isHidden: () => hidden,
  ready: () => Boolean(game.position) && !game.position.is_chance && !game.position.over && !hidden && !placing.sides,
  changed: (jump = false) => visit.remember(jump),
  link: () => address.link(fullState()),
  openPosition: (position) => showText({ kind: "position", game: position.game, position }),
  playersChanged: () => {
    halt();
    visit.remember(true);
    setup.set().catch(fail);
    advance();
  },
  halt: () => {
    halt();
    hidden = false;
  },
  place: () => placing.toggle(),
  shuffle: () => placing.shuffle().catch(fail),
  recommend: () => placing.recommend(),
  canPlace: () => placing.possible(),
  keep: () => {
    before = null;
    panel("play");
  },
  show: (options) => {
    hidden = false;
    draw(options);
    visit.remember();
  },
};
const placing = new Placing(page);
const setup = new Setup(by("panel-play"), page, state);
const think = new Think(by("panel-think"), page, state);
const watch = new Watch(by("panel-watch"), page, state);

const buttons = {
  new: button("new", "New game", "N", () => begin()),
  undo: button("undo", "Undo", "U", undo),
  redo: button("redo", "Redo", "", redo),
  flip: button("turn", "Turn the board", "F", flip),
};
by("actions").append(...Object.values(buttons));

function button(sign, says, key, run) {
  const title = key ? `${says} (${key})` : says;
  return make("button", { type: "button", class: "icon", title, "aria-label": says, onclick: run }, icon(sign));
}

by("tabs").append(...Object.entries(PANELS).map(([name, text]) =>
  make("button", { type: "button", id: `tab-${name}`, role: "tab", "aria-controls": `panel-${name}`, text })));
const panels = Object.fromEntries(Object.keys(PANELS).map((name) => [name, by(`panel-${name}`)]));
const showPanel = tabs(by("tabs"), panels, panel);

// --- the address ---

function fullState() {
  return { ...state, position: game.position?.notation ?? state.position };
}

function addressState() {
  const entries = Object.entries(fullState());
  return Object.fromEntries(entries.filter(([name, value]) => value !== DEFAULTS[name] || ALWAYS.includes(name)));
}

/** Leave whatever is under way: an agent's move, watching, placing cubes. */
function reset() {
  halt();
  watch.stop();
  before = null;
  placing.sides = null;
  hidden = false;
}

/** Show what an address says. */
async function restore(params, memory) {
  reset();
  Object.assign(state, DEFAULTS, Object.fromEntries(Object.entries(params).filter(([name]) => name in DEFAULTS)));
  if (!(state.panel in PANELS)) state.panel = "play";
  if (params.position && !params.game) state.game = params.position.trim().split(/\s+/)[0];
  const shown = game.whole;
  try {
    const whole = visit.recall(memory);
    if (whole) await game.load(whole);
    else await game.open({ game: state.game, position: params.position });
    checkGame(game.position);
  } catch (error) {
    fail(error);
    state.game = shown.name || "ewn";
    if (shown.start) await game.load(shown);
    else await game.open({ game: state.game });
  }
  await settle();
  visit.remember();
  advance();
}

/** Raise an error if a position is of another page's game. */
function checkGame({ game: name, cubes }) {
  if (cubes === undefined || cubes === null) throw new Error(`${name} is not played on this page`);
}

/** Let the panels follow the state. */
async function settle() {
  showPanel(state.panel);
  await Promise.all([setup.set(), think.set(), watch.set()].map((each) => each.catch(fail)));
}

// --- what is shown ---

const isPerson = (side) => state[side] === "you";

/** Whether a person has a move to choose. */
const decides = (position) => !position.is_chance && !position.over && isPerson(position.turn);

function caption(position) {
  if (placing.sides) return "Place your cubes";
  if (hidden) return `${position.turn} to roll`;
  if (position.over || position.is_chance || position.chooses_die) return position.caption;
  return `${position.turn} to move, ${position.die === null ? "any cube" : `die ${position.die}`}`;
}

function draw({ tumble = false } = {}) {
  const { position } = game, isFlipped = state.flip === "yes", watching = state.panel === "watch";
  const person = isPerson(position.turn) && !watching && !placing.sides;
  const rollable = person && !position.over && (position.is_chance || hidden);
  board.root.classList.toggle("fast", watching && Number(state.pace) < 0.25); // too fast to slide
  board.show(position, { flip: isFlipped, last: lastMove(game), placing: placing.sides,
    movable: person && !hidden && !position.is_chance && !position.over });
  die.show(position, { rollable, hidden, tumble });
  by("caption").textContent = caption(position) + (rollable ? ": click the die" : "");
  by("caption").className = position.over ? `won ${position.winner}` : position.turn;
  by("ahead").replaceChildren(...(position.coming_die.length && !position.over ? [sequence(position)] : []));
  const faces = person && position.chooses_die ? position.legal_moves.filter((move) => move.startsWith("=")) : [];
  by("faces").replaceChildren(...faces.map((move) => make("button", {
    type: "button", class: "ewn-die small ready", "data-move": move,
    "aria-label": `Choose ${move.slice(1)} for the other side`, onclick: () => play(move),
  }, face(Number(move.slice(1)), other(position.turn), position.first === 1))));
  if (position.over && !watching) {
    by("faces").append(make("button", { type: "button", class: "primary", onclick: () => begin() },
      icon("new"), "New game"));
  }
  drawSides(position, isFlipped);
  buttons.undo.disabled = watching || game.find(-1, decides) < 0;
  buttons.redo.disabled = watching || game.find(1, decides) < 0;
  setup.show(game, placing.sides);
  document.title = `${position.over ? `${position.winner} has won` : "EinStein würfelt nicht!"} · tuplet`;
}

/** Who plays each side, its cubes, and whose turn it is. */
function drawSides(position, isFlipped) {
  const names = state.panel === "watch"
    ? { red: state[watch.seats?.red ?? "a"], blue: state[watch.seats?.blue ?? "b"] } : state;
  for (const [place, side] of [["seat-top", isFlipped ? "blue" : "red"], ["seat-bottom", isFlipped ? "red" : "blue"]]) {
    const own = Object.keys(position.cubes).filter((name) => name[0] === side[0]).map((name) => name.slice(1));
    const all = Array.from({ length: position.count }, (_, i) => String(position.first + i));
    const toMove = !position.over && position.turn === side, won = position.winner === side;
    by(place).className = `ewn-strip ${side} ${toMove ? "to-move" : ""} ${won ? "won" : ""}`;
    by(place).replaceChildren(
      make("span", { class: "ewn-who" }, make("b", { text: side === "red" ? "Red" : "Blue" }),
        make("span", { class: "muted", text: ` ${names[side]}` })),
      make("span", { class: "ewn-left", role: "img", "aria-label": `${own.length} cubes left: ${own.join(", ")}` },
        ...all.map((number) => make("i", { class: own.includes(number) ? "" : "gone", text: number }))),
      make("span", { class: "ewn-turn small",
        text: won ? `won (${position.kind})` : !toMove ? "" : agents.running ? "thinking…" : "to move" }));
  }
}

function panel(name) {
  if (name === state.panel) return;
  if (state.panel === "watch") {
    watch.stop();
    if (before) game.load(before);
    before = null;
  }
  if (state.panel === "think") {
    think.stop();
    think.clear();
  }
  if (name === "watch") {
    halt();
    placing.sides = null;
    before = game.whole;
  }
  state.panel = name;
  showPanel(name);
  visit.remember(true);
  advance();
}

// --- what happens ---

/** Stop what is under way, and ignore its answers. */
function halt() {
  game.interrupt();
  agents.stop();
}

/** Let agents play, or wait for a person. */
async function advance({ tumble = false } = {}) {
  halt();
  const { epoch, position } = game;
  draw({ tumble });
  const person = isPerson(position.turn);
  if (state.panel === "think") think.moved(person);
  if (position.over || placing.sides || state.panel === "watch") return;
  const pause = (seconds) => sleep(reducedMotion() ? 0 : seconds);
  if (position.is_chance && (!person || state.roll === "auto")) {
    await pause(person ? 0.25 : ANSWER);
    if (epoch === game.epoch) await roll();
  } else if (!person && !hidden) {
    await pause(tumble ? ROLL : position.coming_die.length ? ANSWER : 0);
    if (epoch === game.epoch) letAgentsPlay();
  }
}

/** Agents play until a person is to move. */
function letAgentsPlay() {
  const sides = ["red", "blue"].filter((side) => !isPerson(side));
  const names = Object.fromEntries(sides.map((side) => [side, state[side]]));
  agents.start({ agents: names, pace: sides.length > 1 ? 0.6 : 0 }, (frame) => {
    if (frame.error) {
      draw();
      fail(new Error(frame.error));
      by("faces").replaceChildren(make("button", { type: "button", onclick: () => advance(), text: "Try again" }));
      return;
    }
    let tumble = false;
    if (frame.steps?.length) {
      const rolled = frame.steps.at(-1)[1] !== null;
      hidden = rolled && !game.position.over && isPerson(game.position.turn) && state.roll !== "auto";
      tumble = rolled && !hidden;
      if (!frame.done) draw({ tumble });
      visit.remember();
    }
    if (frame.done) advance({ tumble });
  });
  draw();
}

/** Change the game by an action, then go on. */
async function act(action, options = {}) {
  halt();
  const { epoch } = game;
  try {
    await action();
    if (epoch !== game.epoch) return;
    visit.remember();
    await advance(options);
  } catch (error) {
    fail(error);
    draw();
  }
}

function play(move) {
  if (!placing.sides) act(() => game.play(move));
}

async function roll() {
  if (hidden) {
    hidden = false;
    await advance({ tumble: true });
  } else if (game.position.is_chance && !placing.sides) await act(() => game.roll(), { tumble: true });
}

function travel(way, wanted) {
  const at = game.find(way, wanted);
  if (state.panel === "watch" || at < 0) return;
  hidden = false;
  game.go(at);
  visit.remember();
  advance();
}

function undo() {
  travel(-1, decides);
}

function redo() {
  travel(1, (position) => decides(position) || position.over);
}

function flip() {
  state.flip = state.flip === "yes" ? "" : "yes";
  visit.remember();
  draw();
  board.arrows(board.path ?? []);
  think.turned();
}

/** Start a new game: the same as now, or another. */
async function begin(request = {}) {
  reset();
  try {
    const last = state.game;
    await game.open({ game: state.game, ...request });
    state.game = game.name;
    if (state.panel === "watch") state.panel = "play";
    showPanel(state.panel);
    visit.remember(true);
    if (game.name !== last || request.game) {
      watch.reset();
      await settle();
    }
    await advance();
  } catch (error) {
    fail(error);
    setup.set();
  }
}

/** Show a position or a game that was read from a text. */
async function showText(content) {
  checkGame(content.position);
  halt();
  hidden = false;
  placing.sides = null;
  await game.loadText(content);
  // An agent does not move at once: the person who pastes a position wants to see it.
  const { turn } = game.position;
  if (!isPerson(turn) && isPerson(other(turn))) [state.red, state.blue] = [state.blue, state.red];
  const isOther = game.name !== state.game;
  state.game = game.name;
  visit.remember(true);
  if (isOther) watch.reset();
  await settle();
  toast(content.kind === "game" ? "Game read: this is its last position." : "Position read.");
  await advance();
}

/** Say why a cube (null: a direction or a square) cannot move like this. Returns whether there is something to say. */
function explainWrong(cube = null) {
  const { position } = game;
  if (!position || state.panel === "watch" || placing.sides) return false;
  const { choices } = board, isGone = position.die !== null && !choices.includes(String(position.die));
  const or = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(choices);
  let why = "No cube can go there.";
  if (position.over) why = "The game is over: press N for another.";
  else if (!isPerson(position.turn)) why = `It is ${position.turn}'s turn.`;
  else if (hidden || position.is_chance) why = "Roll the die first.";
  else if (position.chooses_die) why = "Choose a number for the other side first.";
  else if (cube && cube[0] !== position.turn[0]) why = `You play ${position.turn} now.`;
  else if (cube && isGone) why = `Cube ${position.die} is gone: ${or} may move.`;
  else if (cube) why = `The die shows ${position.die}: cube ${or} moves.`;
  else if (choices.length > 1 && !board.chosen) {
    why = `${isGone ? `Cube ${position.die} is gone: choose` : "Choose"} ${or} first (press its number, or click it).`;
  } else if (board.chosen) why = `Cube ${board.chosen.slice(1)} cannot go there.`;
  clearWarning();
  clearWarning = toast(why);
  return true;
}

bindKeys({
  roll: () => !die.button.disabled && roll(),
  number: (key) => {
    const { position } = game, choice = `=${key}`, person = isPerson(position.turn);
    if (person && position.chooses_die && position.legal_moves.includes(choice)) return play(choice);
    const cube = position.turn[0] + key;
    return board.choose(key) || (person && position.cubes[cube] ? explainWrong(cube) : false);
  },
  step: (down, right) => board.step(down, right)
    || (isPerson(game.position.turn) && !game.position.over && explainWrong()),
  release: () => board.release(),
  undo, redo, flip,
  place: page.place,
  begin: () => begin(),
  think: () => {
    if (state.panel !== "watch") panel("think");
    (state.panel === "watch" ? watch : think).toggle();
  },
  panel: () => {
    const names = Object.keys(PANELS);
    panel(names[(names.indexOf(state.panel) + 1) % names.length]);
  },
});

onPaste(() => state.game, showText);
address.onMove(restore);
restore(address.read(), history.state);
