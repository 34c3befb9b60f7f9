// The page of 2048: what is seen follows the session; everything seen is in the address.
import * as address from "./address.js";
import { Live } from "./api.js";
import { by, count, counted, icon, make, points, spaced } from "./dom.js";
import { AgentPlays } from "./p2048-agent.js";
import { BoardView } from "./p2048-board.js";
import { Editor, rulesForm } from "./p2048-edit.js";
import { Session, gameOf, isOurs, rulesOf, store, stored } from "./p2048-game.js";
import { keys } from "./p2048-keys.js";
import { openPaste, read, write } from "./p2048-paste.js";
import { Review } from "./p2048-review.js";
import { SHOW, Thoughts, looked } from "./p2048-thoughts.js";
import { bind, copy, fail, openDialog, shell, toast } from "./shell.js";

const AS = { game: "2048", show: "shown", view: "thinking", speed: 40 }; // what an address leaves out

shell("2048");
const live = new Live();
const games = new Map(); // games of this visit, by the key in the browser's history
let key = null;
let pushing = false; // the next position is a jump: the back button leads here
let view = AS.view;
let arriving = false; // the address is being followed, not told
let ready = false; // the agents are known

const asked = address.read();
const session = new Session(changed);
const board = new BoardView(by("board"), { onSwipe: (move) => play(move), onCell: clicked });
const editor = new Editor(by("edit-bar"), { onEdit: edited, onDone: () => edit(false) });
const thoughts = new Thoughts(by("thinking"), live, looked(asked), {
  onPlay: (move) => play(move),
  onExplain: explained,
  onBest: (move) => board.hint(agent.playing ? null : move),
  onChange: (what) => {
    if (what === "agent" || what === "depth") address.push(state(), { key });
    else note();
    restartAgent();
    think();
  },
});
const agent = new AgentPlays(live, session, {
  onState: (playing) => {
    thoughts.frozen = playing;
    by("play").replaceChildren(icon(playing ? "pause" : "play"), playing ? "Pause" : "Agent plays");
    by("play").dataset.playing = playing;
    by("speed-says").textContent = agent.says;
    if (!playing) think();
  },
  onThought: (analysis, position) => { if (agent.playing && thoughts.show === "shown") thoughts.render(analysis, position); },
  onError: (text) => fail(new Error(text)),
});
const review = new Review(by("review"), live, async () => ({
  record: await record(), whole: session.whole, agent: thoughts.agent, learned: Boolean(thoughts.chooser?.agent?.learned),
  cells: session.position.tiles.length,
}), jumpTo);

/** What is seen, as the address has it. */
function state() {
  const depth = thoughts.looks.depth;
  return {
    game: session.game === AS.game ? null : session.game,
    position: session.position?.notation,
    agent: thoughts.agent || null,
    depth: depth && depth !== 1 ? depth : null,
    time: thoughts.looks.time ?? null,
    show: thoughts.show === AS.show ? null : thoughts.show,
    view: view === AS.view ? null : view,
    place: session.youPlace ? 1 : null,
    edit: editor.on ? 1 : null,
    speed: agent.speed === AS.speed ? null : agent.speed,
  };
}

/** The session shows another position. */
function changed(change) {
  const { position, at, steps } = session;
  board.lines(null);
  board.over();
  if (change.kind === "move") board.slide(position, change.motion, change.outcome);
  else if (change.kind === "follow" && !change.many) board.slide(position, change.motion, change.outcome, agent.single ? 100 : Math.min(100, agent.pace * 700));
  else board.show(position, change.kind === "place" ? change.outcome : null);
  by("score").textContent = count(position.score);
  by("moves-made").textContent = count(at);
  by("undo").disabled = at === 0 && !(editor.on && editor.past.length);
  by("redo").disabled = at === steps.length;
  if (editor.on) editor.follow(position);
  cellsActive();
  if (position.over && !editor.on && position.tiles.some(Boolean)) over();
  keep();
  review.now(review.whole?.steps === steps ? at : -1);
  if (change.kind !== "follow") think(change);
  says();
  announce(change);
}

/** A move in words, for those who listen; while an agent plays fast, now and then. */
const announce = spaced(({ kind, outcome }) => {
  const { position, at, steps } = session;
  if (!["move", "follow", "place", "turn"].includes(kind) || editor.on) return;
  const [tile, cell] = (outcome ?? "").split("@"), columns = position.cells[0].length;
  by("announce").textContent = [
    kind === "turn" ? `After ${counted(at, "move")}` : kind === "place" ? null : `${steps[at - 1].move}${steps[at - 1].reward ? `, ${counted(steps[at - 1].reward, "point")}` : ""}`,
    outcome ? `new ${tile} in row ${Math.floor(cell / columns) + 1}, column ${(cell % columns) + 1}` : null,
    `${counted(position.score, "point")} in all`, position.over ? "game over" : null,
  ].filter(Boolean).join("; ");
}, 1000);

/** Remember the game, and let the address say what is seen. */
function keep() {
  if (pushing || key === null) {
    const first = key === null;
    key = history.state?.key && first ? history.state.key : `${Date.now()}-${games.size}`;
    (first ? address.replace : address.push)(state(), { key });
    pushing = false;
  } else address.replace(state(), { key });
  games.set(key, session.whole);
}

function over() {
  const played = session.at > 0; // or it came so, in an address or by hand
  board.over(make("b", {}, "Game over"), make("span", {}, `${counted(session.position.score, "point")}${played ? ` in ${counted(session.at, "move")}` : ""}`),
    make("div", { class: "row" }, make("button", { type: "button", class: "primary", onclick: newGame }, "New game"),
      played ? make("button", { type: "button", onclick: () => look("review", true) }, "Review it") : null));
}

function says() {
  const { position } = session;
  let text = "";
  if (editor.on) text = "";
  else if (position.is_chance) {
    by("says").replaceChildren("A tile appears where you click: a 2; right click or a long press, a 4. ",
      make("button", { type: "button", class: "link", onclick: () => session.place().catch(fail) }, "By chance"));
    return;
  } else if (!position.tiles.some(Boolean)) text = "The board is empty: edit it, or begin a new game.";
  else if (position.over) text = `No move is left: ${counted(position.score, "point")}.`;
  else if (session.at === 0) text = "Arrows, WASD or a swipe move; ? lists all keys.";
  by("says").textContent = text;
}

function cellsActive() {
  const { position } = session;
  if (editor.on) board.activate("edit");
  else if (position.is_chance) board.activate("place", Object.keys(position.outcomes).map((each) => Number(each.split("@")[1])));
  else board.activate(null);
}

/** Ask the agent, as it was chosen to be seen. */
function think(change = {}) {
  if (!ready || !session.position || agent.playing) return;
  if (thoughts.show === "hidden") thoughts.hide();
  else if (thoughts.show === "shown" || editor.on) thoughts.think(session.position);
  else if (change.kind === "move") thoughts.think(change.before, session.steps[session.at - 1].move);
  else if (change.kind !== "place") thoughts.wait();
}

function explained(what) {
  if (what) {
    board.hint(null);
    board.over();
    board.show(what.after);
    board.lines(what.placements, points, what.only);
  } else if (by("board").classList.contains("explained")) {
    board.lines(null);
    board.show(session.position);
    if (!agent.playing && thoughts.show === "shown") board.hint(thoughts.analysis?.best ?? null);
  }
}

/** A move by hand: whoever plays, stops. */
function play(move, repeats = false) {
  agent.stop();
  if (editor.on) edit(false);
  if (thoughts.show === "after" && session.legal.includes(move)) board.hint(null);
  session.move(move, repeats)?.catch(fail);
}

function clicked(cell, how) {
  if (editor.on) editor.cell(cell, how);
  else if (session.position.is_chance) {
    const outcome = `${how === "raise" ? 4 : 2}@${cell}`;
    session.place(outcome in session.position.outcomes ? outcome : `${how === "raise" ? 2 : 4}@${cell}`).catch(fail);
  }
}

function newGame() {
  agent.stop();
  if (editor.on) edit(false);
  look("thinking");
  pushing = true;
  return session.open(session.game).catch(fail);
}

function edit(on) {
  if (!session.position) return;
  agent.stop();
  by("edit").setAttribute("aria-pressed", String(on));
  if (on) {
    look("thinking");
    editor.enter(session.position, session.whole);
    pushing = true;
    session.open(session.game, session.position.notation.replace(" ?", ""), "edit").catch(fail);
  } else {
    const game = editor.leave();
    if (game) session.load(game).catch(fail);
    else changed({ kind: "turn" });
  }
}

function edited(notation) {
  session.open(session.game, notation, "edit").catch((error) => { fail(error); editor.follow(session.position); });
}

function undo() {
  if (!session.position) return;
  agent.stop();
  if (editor.on) editor.undo();
  else session.undo()?.catch(fail);
}

function redo() {
  if (!session.position) return;
  agent.stop();
  session.redo()?.catch(fail);
}

function goTo(at) {
  if (!session.position || editor.on) return;
  agent.stop();
  session.go(at).catch(fail);
}

function agentPlays(moves = null) {
  if (!session.position) return;
  if (agent.playing) { agent.stop(); return; }
  if (editor.on) edit(false);
  if (session.position.over) {
    toast(session.position.tiles.some(Boolean) ? "The game is over: N begins another." : "The board is empty: edit it, or begin a new game (N).");
    return;
  }
  thoughts.stop();
  board.hint(null);
  agent.start({ agent: thoughts.agent, looks: thoughts.looks, thoughts: thoughts.show === "shown" }, moves);
}

/** One move by the agent. */
function oneMove() {
  agent.stop();
  agentPlays(1);
}

function restartAgent() {
  if (!agent.playing) return;
  agent.stop();
  agentPlays();
}

/** Shown, after my move, hidden, and again. */
function nextShow() {
  const names = Object.keys(SHOW);
  thoughts.show = names[(names.indexOf(thoughts.show) + 1) % names.length];
  thoughts.showChoice.choose(thoughts.show);
  thoughts.onChange("show");
}

function speed(value) {
  agent.at(Number.isFinite(Number(value)) ? Math.max(0, Math.min(100, Number(value))) : AS.speed);
  by("speed").value = agent.speed;
  by("speed").setAttribute("aria-valuetext", agent.says);
  by("speed-says").textContent = agent.says;
  note();
}

/** Show one of the two tabs; `start` a review at once. */
function look(which, start = false) {
  view = which;
  for (const name of ["thinking", "review"]) {
    const on = name === which;
    by(name).hidden = !on;
    by(`tab-${name}`).setAttribute("aria-selected", String(on));
    by(`tab-${name}`).tabIndex = on ? 0 : -1;
  }
  if (which !== "thinking") thoughts.explain(null);
  note();
  if (start) review.start();
}

/** The whole game, moves that were undone included, as the review takes it. */
async function record() {
  if (session.record && session.record.steps === session.steps) return session.record.text;
  const { game, start, steps } = session.whole;
  const made = steps.filter((step) => step.move && step.outcome);
  if (!made.length) throw new Error("There is no move to review yet: play, let the agent play, or paste a game.");
  return write({ game, start, steps: made }, "record");
}

/** The position after k moves of a game that was reviewed. */
function jumpTo(whole, k) {
  agent.stop();
  if (editor.on) edit(false);
  if (session.steps === whole.steps) session.go(k).catch(fail);
  else session.load({ ...whole, at: k }).catch(fail);
}

/** Show what was pasted. */
async function pasted(found) {
  agent.stop();
  if (editor.on) edit(false);
  if (!isOurs(found.game)) throw new Error(`this is a ${found.kind} of ${found.game}: paste it on its own page`);
  await thoughts.set({ ...thoughts, game: found.game });
  pushing = true;
  if (found.kind === "position") {
    await session.open(found.game, found.position.notation);
    toast("Position read.");
    return;
  }
  const steps = found.steps.map(([move, outcome, reward, notation]) => ({ move, outcome, reward, notation }));
  const start = steps[0] && steps[0].move === null ? steps.shift().notation : found.start; // a tile, and no move
  await session.load({ game: found.game, start, steps });
  session.record = { steps: session.steps, text: found.record };
  toast(`Game read: ${counted(steps.length, "move")}. Undo walks back; Review judges it.`);
}

const link = () => address.link(state());
const copyLink = () => session.position && copy(link(), "the link");
const copyPosition = () => session.position && copy(session.position.notation, "the position");
const paste = () => session.position && openPaste(session, link, (found) => pasted(found).catch(fail));

function rules() {
  const dialog = openDialog("Rules", rulesForm(rulesOf(session.game), session.youPlace, async (chosen) => {
    dialog.close();
    agent.stop();
    if (editor.on) edit(false);
    pushing = true;
    try {
      const game = gameOf(chosen);
      await thoughts.set({ ...thoughts, game });
      await session.open(game);
    } catch (error) { fail(error); }
  }, (place) => { session.youPlace = place; note(); }));
}

/** Be where the back button, or an address that was opened, leads. */
async function arrive(given, memory) {
  agent.stop();
  arriving = true;
  try {
    const wanted = looked(given);
    if (!isOurs(wanted.game)) throw new Error(`${wanted.game} is not played on this page`);
    session.youPlace = given.place === "1";
    if (editor.on && given.edit !== "1") {
      editor.leave();
      by("edit").setAttribute("aria-pressed", "false");
    }
    look(given.view === "review" ? "review" : "thinking");
    speed(given.speed ?? AS.speed);
    if (ready) await thoughts.set(wanted);
    const known = games.get(memory?.key) ?? stored(memory?.key);
    const another = memory?.key !== key;
    key = memory?.key ?? key;
    const at = known && !another ? [known.start.position.notation, ...known.steps.map((step) => step.notation)].lastIndexOf(given.position) : -1;
    if (known && another) await session.load(known); // another game, where it was left
    else if (at >= 0) await session.load({ ...known, at });
    else await session.open(wanted.game, given.position ?? null);
  } finally {
    arriving = false;
  }
  if (given.edit === "1" && !editor.on) {
    editor.enter(session.position);
    by("edit").setAttribute("aria-pressed", "true");
    changed({ kind: "turn" });
  }
}

/** The address says what is seen now. */
function note() {
  if (session.position && !arriving) address.replace(state(), { key });
}

addEventListener("pagehide", () => session.steps.length && store(key, session.whole));

addEventListener("paste", (event) => {
  if (event.target.closest?.("input, textarea") || document.querySelector("dialog[open]")) return;
  const text = event.clipboardData.getData("text");
  if (text.trim()) read(text, session.game).then(pasted).catch(fail);
});

for (const [id, name] of [["undo", "undo"], ["redo", "redo"], ["step", "step"]]) by(id).append(icon(name));
for (const [id, name] of [["edit", "edit"], ["paste", "paste"], ["link", "link"], ["settings", "settings"], ["new", "new"], ["play", "play"]]) by(id).prepend(icon(name));
const on = (id, run) => by(id).addEventListener("click", run);
on("undo", undo); on("redo", redo); on("new", newGame);
on("play", () => agentPlays()); on("step", oneMove);
on("edit", () => edit(!editor.on)); on("paste", paste); on("link", copyLink); on("settings", rules);
on("tab-thinking", () => look("thinking")); on("tab-review", () => look("review"));
by("speed").addEventListener("input", (event) => speed(event.target.value));
document.querySelector(".mind .tabs").addEventListener("keydown", (event) => {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  look(view === "thinking" ? "review" : "thinking");
  by(`tab-${view}`).focus();
});

bind(keys({ play, undo, redo, newGame, agentPlays, oneMove, faster: (by) => speed(agent.speed + by), nextShow, look, review, goTo,
  ends: () => session.steps.length, toggleEdit: () => edit(!editor.on), paste, copyLink, copyPosition,
  leave: () => { thoughts.explain(null); if (editor.on) edit(false); } }));
const [, rows = 4, columns = 4] = /^([2-4])x([2-4])$/.exec(rulesOf(looked(asked).game).board) ?? [];
board.blank(Number(rows), Number(columns));
address.onMove((given, memory) => arrive(given, memory).catch(fail));

// An address may be wrong in its position, or in its game as well: then there is a game all the same.
arrive(asked, history.state).catch((error) => {
  fail(error);
  return session.open(isOurs(asked.game ?? "") ? asked.game : AS.game);
}).catch(() => session.open(AS.game)).catch(fail);
if (!isOurs(thoughts.game)) thoughts.game = AS.game;
thoughts.ready().catch(() => {
  thoughts.game = AS.game;
  return thoughts.ready();
}).then(() => { ready = true; think(); }).catch(fail);
