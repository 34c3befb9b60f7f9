// The board of a game of one's own (tuplet serve --game): drawn by the server, played with buttons.
import * as address from "./address.js";
import { chooser } from "./agents.js";
import { Live, get, isOwn } from "./api.js";
import { by, choice, icon, make, percent, points } from "./dom.js";
import { Sitting } from "./ewn-sitting.js";
import { bind, compiling, copy, fail, shell } from "./shell.js";

const YOU = "you", OPPONENT = "mcts", PACE = 0.4; // seconds a move, where agents play one another

shell("board");
const live = new Live();
const sitting = new Sitting();
const players = {}; // side -> "you", or an agent's text
let thinker = null; // the chooser of who values the moves
let analysis = null; // of the position that is seen
let job = null; // an agent's answer under way
let thinking = null;
let turn = 0; // counts what happens, so that a late answer is noticed

const actions = [["new", "New game", "n", begin], ["undo", "Undo", "u", undo], ["link", "Copy position", "c", copyPosition]];
by("actions").append(...actions.map(([sign, says, key, run]) =>
  make("button", { type: "button", id: sign, class: "icon", title: `${says} (${key.toUpperCase()})`, "aria-label": says, onclick: run }, icon(sign))));
bind([
  ...actions.map(([, says, key, run]) => ({ keys: [key], says: says.toLowerCase(), run, group: "Play" })),
  { keys: [..."123456789"], shown: ["1", "…", "9"], says: "the first, second, … move", group: "Play", run: ({ key }) => by("moves").children[key - 1]?.click() ?? false },
  { keys: ["t"], says: "show the value of each move, or hide it", group: "Play", run: () => by("think").click() },
]);
by("think").addEventListener("change", () => { think(); remember(); });

const isPerson = (side) => players[side] === YOU;

/** What is seen, as the address has it. */
function state() {
  return { game: sitting.game, position: sitting.position.notation, ...players, think: by("think").checked ? thinker.text : null };
}

function remember(jump = false) {
  if (jump) address.push(state(), sitting.memory());
  else address.replace(state(), sitting.memory());
}

/** Nothing that is under way counts any more. */
function halt() {
  turn += 1;
  job?.stop();
  thinking?.stop();
  job = thinking = null;
}

function draw() {
  const { position, steps, past } = sitting;
  const src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(position.svg)}`;
  by("board").replaceChildren(position.cells.length
    ? make("img", { src, alt: `${position.caption}. ${position.cells.map((row) => row.map((cell) => cell || "empty").join(", ")).join("; ")}` })
    : make("pre", { text: position.notation }));
  by("board").dataset.notation = position.notation;
  by("caption").classList.toggle("visually-hidden", Boolean(position.cells.length)); // the drawing says it
  by("caption").textContent = `${position.caption}${job ? "…" : ""}`;
  const mine = isPerson(position.turn);
  const values = new Map((analysis?.moves ?? []).map((each) => [each.move, each]));
  by("moves").replaceChildren(...position.legal_moves.map((move) => make("button", {
    type: "button", "data-move": move, class: move === analysis?.best ? "best" : null, disabled: !mine, onclick: () => play(move),
  }, move, values.has(move) ? make("small", { "data-value": values.get(move).value }, valueOf(values.get(move))) : null)));
  by("undo").disabled = !past.some(({ position: was }) => decides(was));
  by("record").replaceChildren(...steps.map(([move, outcome]) => make("li", { text: [move, outcome].filter((each) => each !== null).join(" ⚄ ") })));
}

function valueOf({ value, visits, proven }) {
  if (value === null) return "–";
  const told = analysis.points ? points(value) : visits === null ? value.toFixed(3) : percent(value);
  return proven ? `${told} proven` : told;
}

/** A position in which a person decides something. */
const decides = (position) => !position.is_chance && !position.over && isPerson(position.turn);

/** Somebody is to act: let chance and agents do so, wait for people. */
async function advance() {
  halt();
  analysis = null;
  const now = turn;
  try {
    while (sitting.position.is_chance) {
      await sitting.roll();
      if (now !== turn) return;
    }
  } catch (error) {
    fail(error);
  }
  remember();
  if (!sitting.position.over && !isPerson(sitting.position.turn)) answer();
  draw();
  think();
}

/** Agents play until a person is to move. */
function answer() {
  const { position, rng, game } = sitting, now = turn;
  const agents = Object.fromEntries(Object.entries(players).filter(([, who]) => who !== YOU));
  const alone = Object.keys(agents).length === position.sides.length;
  job = live.start({ type: "play", game, position: position.notation, rng, agents, pace: alone ? PACE : 0 }, (frame) => {
    if (now !== turn) return;
    compiling(Boolean(frame.compiling) && !frame.done);
    if (frame.steps?.length) sitting.follow(frame);
    if (frame.error) { job = null; fail(new Error(frame.error)); draw(); } else if (frame.done) advance();
    else { analysis = null; draw(); remember(); }
  });
}

async function play(move) {
  halt();
  try {
    await sitting.play(move);
    await advance();
  } catch (error) {
    fail(error);
    draw();
  }
}

/** Ask what the moves are worth, where somebody wants to see it. */
function think() {
  thinking?.stop();
  const { position, game } = sitting, now = turn;
  if (!by("think").checked || !position || position.over || job) {
    by("thought").textContent = by("think").checked && position?.over ? "The game is over." : "";
    if (!by("think").checked && analysis) { analysis = null; draw(); }
    return;
  }
  by("thought").textContent = "Thinking…";
  thinking = live.start({ type: "analyze", game, position: position.notation, agent: thinker.text }, (frame) => {
    if (now !== turn) return;
    compiling(Boolean(frame.compiling) && !frame.done);
    if (frame.error) by("thought").textContent = frame.error;
    if (frame.analysis?.moves?.length) {
      analysis = frame.analysis;
      const scale = analysis.points ? "points" : `from 0 (lost) to 1 (won), for ${position.turn}`;
      const known = analysis.moves.some((each) => each.value !== null);
      by("thought").textContent = known ? `Values are ${analysis.moves.some((each) => each.visits) ? `win rates of ${position.turn}` : scale}. ${analysis.note}`
        : `This agent gives moves no values. It would play ${analysis.best}.`;
      draw();
    }
  });
}

function copyPosition() {
  if (sitting.position) copy(sitting.position.notation, "the position");
}

function undo() {
  if (!sitting.position || !sitting.undo(decides)) return;
  advance();
}

async function begin() {
  halt();
  try {
    await sitting.begin({ game: sitting.game });
    await advance();
    remember(true);
  } catch (error) {
    fail(error);
  }
}

/** Who plays each side: you, or an agent with its settings. */
async function choosePlayers(sides, game) {
  await Promise.all(sides.map(async (side) => {
    const agent = make("div", { hidden: isPerson(side) });
    const box = make("div", { class: "stack close", "data-side": side }, make("h3", {}, side), choice(`who-${side}`, { you: "You", agent: "Agent" }, isPerson(side) ? YOU : "agent", (value) => {
      agent.hidden = value === YOU;
      players[side] = value === YOU ? YOU : chosen.text;
      advance();
    }, `Who plays ${side}`), agent);
    by("players").append(box);
    const chosen = await chooser(agent, game, isPerson(side) ? OPPONENT : players[side], (text) => { players[side] = text; advance(); });
  }));
}

/** Become what an address says. */
async function restore(given, memory) {
  const { games } = await get("/api/games");
  const own = games.filter((each) => isOwn(each.game));
  const found = own.find((each) => each.game === given.game) ?? own[0];
  if (!found) throw new Error("there is no game here: start the server with tuplet serve --game path/to/file.py:GAME");
  halt();
  by("title").textContent = found.title;
  document.title = `${found.title} · tuplet`;
  found.sides.forEach((side, at) => { players[side] = given[side] || (at ? OPPONENT : YOU); });
  by("players").replaceChildren();
  await choosePlayers(found.sides, found.game);
  thinker = await chooser(by("thinker"), found.game, given.think || "mcts:sims=20000", () => { think(); remember(); }, "Who values the moves");
  by("think").checked = Boolean(given.think);
  try {
    await sitting.begin({ game: found.game, ...(given.position ? { position: given.position } : {}) });
  } catch (error) {
    fail(error);
    await sitting.begin({ game: found.game });
  }
  sitting.set(sitting.position, sitting.rng, memory);
  await advance();
  if (found.about) by("title").title = found.about;
}

address.onMove((given, memory) => restore(given, memory).catch(fail));
restore(address.read(), history.state).catch((error) => { fail(error); by("caption").textContent = error.message; });
