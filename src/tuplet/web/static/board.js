// The page of your own games (tuplet serve --game): the server draws the board, buttons are the moves.
import * as address from "./address.js";
import { AgentGame } from "./agent-game.js";
import { chooser } from "./agents.js";
import { Live, get, isUserGame } from "./api.js";
import { by, choice, icon, make, percent, points, proofOf } from "./dom.js";
import { Game, Visit } from "./game.js";
import { bind, copy, fail, shell } from "./shell.js";

const YOU = "you", OPPONENT = "mcts", PACE = 0.4; // seconds per move if agents play each other

shell("board");
const live = new Live();
const game = new Game();
game.manualChance = true; // `advance` lets chance act
const visit = new Visit(game, state);
const agents = new AgentGame(live, game);
const players = {}; // side -> "you", or an agent
let analyst = null; // the chooser of the agent that values the moves
let analysis = null; // of the position on the board
let job = null; // the analysis under way

/** @type {[string, string, string, () => void][]} */
const actions = [
  ["new", "New game", "n", begin], ["undo", "Undo", "u", undo],
  ["link", "Copy position", "c", () => game.position && copy(game.position.notation, "the position")],
];
by("actions").append(...actions.map(([id, says, key, run]) => make("button", { type: "button", id, class: "icon",
  title: `${says} (${key.toUpperCase()})`, "aria-label": says, onclick: run }, icon(id))));
bind([
  ...actions.map(([, says, key, run]) => ({ keys: [key], says: says.toLowerCase(), run, group: "Play" })),
  { keys: [..."123456789"], shown: ["1", "…", "9"], says: "the first, second, … move", group: "Play",
    run: ({ key }) => by("moves").children[key - 1]?.click() ?? false },
  { keys: ["t"], says: "show or hide the value of each move", group: "Play", run: () => by("think").click() },
]);
by("think").addEventListener("change", () => {
  analyze();
  visit.remember();
});

const isPerson = (side) => players[side] === YOU;

/** Whether a person has a move to choose. */
const decides = (position) => !position.is_chance && !position.over && isPerson(position.turn);

/** What is shown, as the address has it. */
function state() {
  const think = by("think").checked ? analyst.text : null;
  return { game: game.name, position: game.position.notation, ...players, think };
}

/** Stop what is under way, and ignore its answers. */
function halt() {
  game.interrupt();
  agents.stop();
  job?.stop();
  job = null;
}

function draw() {
  const { position, steps, at } = game;
  const src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(position.svg)}`;
  const rows = position.cells.map((row) => row.map((cell) => cell || "empty").join(", ")).join("; ");
  by("board").replaceChildren(position.cells.length
    ? make("img", { src, alt: `${position.caption}. ${rows}` }) : make("pre", { text: position.notation }));
  by("board").dataset.notation = position.notation;
  by("caption").classList.toggle("visually-hidden", Boolean(position.cells.length)); // the drawing has it
  by("caption").textContent = `${position.caption}${agents.running ? "…" : ""}`;
  const values = new Map((analysis?.moves ?? []).map((each) => [each.move, each]));
  by("moves").replaceChildren(...position.legal_moves.map((move) => {
    const value = values.get(move);
    return make("button", { type: "button", "data-move": move, class: move === analysis?.best ? "best" : null,
      disabled: !isPerson(position.turn), onclick: () => play(move) },
    move, value ? make("small", { "data-value": value.value }, valueText(value)) : null);
  }));
  by("undo").disabled = game.find(-1, decides) < 0;
  by("record").replaceChildren(...steps.slice(0, at).map(({ move, outcome }) =>
    make("li", { text: [move, outcome].filter((each) => each !== null && each !== undefined).join(" ⚄ ") })));
}

function valueText(move) {
  const { value, visits } = move;
  if (value === null) return "–";
  const text = analysis.points ? points(value) : visits === null ? value.toFixed(3) : percent(value);
  return `${text} ${proofOf(move)}`.trim();
}

/** Let chance and agents act, or wait for a person. */
async function advance() {
  halt();
  analysis = null;
  const { epoch } = game;
  while (game.position.is_chance) {
    await game.roll();
    if (epoch !== game.epoch) return;
  }
  visit.remember();
  if (!game.position.over && !isPerson(game.position.turn)) letAgentsPlay();
  draw();
  analyze();
}

/** Agents play until a person is to move. */
function letAgentsPlay() {
  const names = Object.fromEntries(Object.entries(players).filter(([, name]) => name !== YOU));
  const alone = Object.keys(names).length === game.position.sides.length;
  agents.start({ agents: names, pace: alone ? PACE : 0 }, (frame) => {
    if (frame.error) fail(new Error(frame.error));
    if (frame.done && !frame.error) {
      advance();
      return;
    }
    analysis = null;
    draw();
    visit.remember();
  });
}

async function play(move) {
  halt();
  const { epoch } = game;
  try {
    await game.play(move);
    if (epoch === game.epoch) await advance();
  } catch (error) {
    fail(error);
    draw();
  }
}

/** Value the moves, if they are to be shown. */
function analyze() {
  job?.stop();
  const { position, epoch } = game, shows = by("think").checked;
  if (!shows || !position || position.over || agents.running) {
    by("thought").textContent = shows && position?.over ? "The game is over." : "";
    if (!shows && analysis) {
      analysis = null;
      draw();
    }
    return;
  }
  by("thought").textContent = "Searching…";
  const request = { type: "analyze", game: game.name, position: position.notation, agent: analyst.text };
  job = live.start(request, (frame) => {
    if (epoch !== game.epoch) return;
    if (frame.error) by("thought").textContent = frame.error;
    if (!frame.analysis?.moves?.length) return;
    analysis = frame.analysis;
    by("thought").textContent = meaning(position.turn);
    draw();
  });
}

function meaning(side) {
  if (analysis.moves.every((each) => each.value === null)) {
    return `This agent does not value moves. It would play ${analysis.best}.`;
  }
  const scale = analysis.points ? "points" : analysis.moves.some((each) => each.visits) ? `win rates of ${side}`
    : `from 0 (lost) to 1 (won), for ${side}`;
  return `Values are ${scale}. ${analysis.note ?? ""}`;
}

function undo() {
  const at = game.position ? game.find(-1, decides) : -1;
  if (at >= 0) game.go(at).then(advance).catch(fail);
}

async function begin() {
  halt();
  try {
    await game.open({ game: game.name });
    await advance();
    visit.remember(true);
  } catch (error) {
    fail(error);
  }
}

/** Choose who plays a side: you, or an agent with its settings. */
async function choosePlayer(side) {
  const agent = make("div", { hidden: isPerson(side) });
  const who = choice(`who-${side}`, { you: "You", agent: "Agent" }, isPerson(side) ? YOU : "agent", (value) => {
    agent.hidden = value === YOU;
    players[side] = value === YOU ? YOU : chosen.text;
    advance().catch(fail);
  }, `Who plays ${side}`);
  by("players").append(make("div", { class: "stack close", "data-side": side }, make("h3", {}, side), who, agent));
  const chosen = await chooser(agent, game.name, isPerson(side) ? OPPONENT : players[side], (text) => {
    players[side] = text;
    advance().catch(fail);
  });
}

/** Show what an address says. */
async function restore(params, memory) {
  const games = (await get("/api/games")).games.filter((each) => isUserGame(each.game));
  const name = params.game?.replaceAll(" ", "%20"); // as the server writes a path with spaces
  const chosen = games.find((each) => each.game === name) ?? games[0];
  if (!chosen) throw new Error("there is no game here: start the server with tuplet serve --game path/to/file.py:GAME");
  halt();
  game.name = chosen.game;
  by("title").textContent = chosen.title;
  by("title").title = chosen.about ?? "";
  document.title = `${chosen.title} · tuplet`;
  chosen.sides.forEach((side, i) => { players[side] = params[side] || (i ? OPPONENT : YOU); });
  by("players").replaceChildren();
  await Promise.all(chosen.sides.map(choosePlayer));
  analyst = await chooser(by("thinker"), chosen.game, params.think || "mcts:sims=20000", () => {
    analyze();
    visit.remember();
  }, "Agent that values the moves");
  by("think").checked = Boolean(params.think);
  const whole = visit.recall(memory);
  try {
    if (whole) await game.load(whole);
    else await game.open({ game: chosen.game, position: params.position });
  } catch (error) {
    fail(error);
    await game.open({ game: chosen.game });
  }
  await advance();
}

address.onMove((params, memory) => restore(params, memory).catch(fail));
restore(address.read(), history.state).catch((error) => {
  fail(error);
  by("caption").textContent = error.message;
});
