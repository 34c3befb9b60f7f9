// The page of 2048. Everything that is shown follows the game; the address has all of it.
import * as address from "./address.js";
import { AgentGame, paceOf, paceText } from "./agent-game.js";
import { Live } from "./api.js";
import { by, count, counted, icon, make, points, spaced } from "./dom.js";
import { Game, Visit } from "./game.js";
import { Analysis, SHOW, settingsFromAddress } from "./p2048-analysis.js";
import { BoardView } from "./p2048-board.js";
import { Editor, boardOf, isOurs, rulesForm } from "./p2048-edit.js";
import { keys } from "./p2048-keys.js";
import { openPaste, write } from "./p2048-paste.js";
import { Review } from "./p2048-review.js";
import { bind, copy, fail, onPaste, openDialog, shell, toast } from "./shell.js";
import { tabs } from "./tabs.js";

const DEFAULTS = { game: "2048", show: "shown", view: "analysis", speed: 50 }; // which the address leaves out

shell("2048");
const live = new Live();
let jump = false; // the next change is a jump: the back button leads to what was shown before
let { view, speed } = DEFAULTS;
let arriving = false; // the page follows the address
let ready = false; // the agents are known
let single = false; // the agent plays one move only
let rate = null; // moves per second that the agent plays
let pasted = null; // a game that was pasted: {steps, text}

const firstParams = address.read();
const game = new Game(changed);
const visit = new Visit(game, state);
const player = new AgentGame(live, game);
const board = new BoardView(by("board"), { onSwipe: (move) => play(move), onCell: clicked });
const editor = new Editor(by("edit-bar"), { onEdit: edited, onDone: () => edit(false) });
const analysis = new Analysis(by("analysis"), live, settingsFromAddress(firstParams), {
  onPlay: (move) => play(move),
  onExplain: explained,
  onBest: (move) => board.hint(player.running ? null : move),
  onChange: (what) => {
    note(what === "agent" || what === "depth");
    if (player.running) agentPlays(null, true);
    analyze();
  },
});
const review = new Review(by("review"), live, async () => ({
  record: await record(),
  whole: game.whole,
  agent: analysis.agent,
  learned: Boolean(analysis.chooser?.agent?.learned),
  cells: game.position.tiles.length,
}), jumpTo);
const panels = { analysis: by("analysis"), review: by("review") };
const showTab = tabs(document.querySelector(".analysis .tabs"), panels, look);
const showAnalysis = spaced((result, position) => {
  if (player.running && analysis.show === "shown") analysis.render(result, position);
}, 90);

/** What is shown, as the address has it. */
function state() {
  const { depth, time = null } = analysis.lookahead;
  const set = { game: game.name, show: analysis.show, view, speed };
  return {
    ...Object.fromEntries(Object.entries(set).filter(([name, value]) => value !== DEFAULTS[name])),
    position: game.position?.notation,
    agent: analysis.agent || null,
    depth: depth && depth !== 1 ? depth : null,
    time,
    place: game.manualChance ? 1 : null,
    edit: editor.on ? 1 : null,
  };
}

/** The game shows another position. */
function changed(change) {
  const { position, at, steps } = game;
  board.lines(null);
  board.over();
  if (change.kind === "move") board.slide(position, change.motion, change.outcome);
  else if (change.kind === "follow" && !change.many) {
    board.slide(position, change.motion, change.outcome, single ? 100 : Math.min(100, paceOf(speed) * 700));
  } else board.show(position, change.kind === "roll" ? change.outcome : null);
  by("score").textContent = count(position.score);
  by("moves-made").textContent = count(at);
  by("undo").disabled = at === 0 && !(editor.on && editor.past.length);
  by("redo").disabled = at === steps.length;
  if (editor.on) editor.follow(position);
  activateCells();
  if (position.over && !editor.on && position.tiles.some(Boolean)) showOver();
  visit.remember(jump);
  jump = false;
  review.now(review.whole?.steps === steps ? at : -1);
  if (change.kind !== "follow") analyze(change);
  showMessage();
  announce(change);
}

/** Announce a move to screen readers; while an agent plays fast, now and then. */
const announce = spaced(({ kind, outcome }) => {
  const { position, at, steps } = game;
  if (!["move", "follow", "roll", "turn"].includes(kind) || editor.on) return;
  const [tile, cell] = (outcome ?? "").split("@"), columns = position.cells[0].length;
  const { move, reward } = steps[at - 1] ?? {};
  by("announce").textContent = [
    kind === "turn" ? `After ${counted(at, "move")}` : null,
    kind === "move" || kind === "follow" ? `${move}${reward ? `, ${counted(reward, "point")}` : ""}` : null,
    outcome ? `new ${tile} in row ${Math.floor(cell / columns) + 1}, column ${(cell % columns) + 1}` : null,
    `${counted(position.score, "point")} in all`,
    position.over ? "game over" : null,
  ].filter(Boolean).join("; ");
}, 1000);

function showOver() {
  const played = game.at > 0; // or an address or an edit led here
  const score = counted(game.position.score, "point");
  board.over(make("b", {}, "Game over"),
    make("span", {}, played ? `${score} in ${counted(game.at, "move")}` : score),
    make("div", { class: "row" }, make("button", { type: "button", class: "primary", onclick: newGame }, "New game"),
      played ? make("button", { type: "button", onclick: () => look("review", true) }, "Review it") : null));
}

function showMessage() {
  const { position } = game;
  let text = "";
  if (editor.on) text = "";
  else if (position.is_chance) {
    by("says").replaceChildren("Click a cell to place a 2 there; right-click or long-press for a 4. ",
      make("button", { type: "button", class: "link", onclick: () => game.roll().catch(fail) }, "Place at random"));
    return;
  } else if (!position.tiles.some(Boolean)) text = "The board is empty: edit it, or start a new game.";
  else if (position.over) text = `No move is left: ${counted(position.score, "point")}.`;
  else if (game.at === 0) text = "Move with the arrow keys, WASD or a swipe. Press ? for all keys.";
  by("says").textContent = text;
}

function activateCells() {
  const { is_chance: isChance, outcomes } = game.position;
  if (editor.on) board.activate("edit");
  else if (isChance) board.activate("place", Object.keys(outcomes).map((each) => Number(each.split("@")[1])));
  else board.activate(null);
}

/** Ask the agent, if its analysis is to be shown. */
function analyze(change = {}) {
  if (!ready || !game.position || player.running) return;
  if (analysis.show === "hidden") analysis.hide();
  else if (analysis.show === "shown" || editor.on) analysis.analyze(game.position);
  else if (change.kind === "move") analysis.analyze(change.before, game.steps[game.at - 1].move);
  else if (change.kind !== "roll") analysis.wait();
}

function explained(what) {
  if (what) {
    board.hint(null);
    board.over();
    board.show(what.after);
    board.lines(what.placements, points, what.only);
  } else if (by("board").classList.contains("explained")) {
    board.lines(null);
    board.show(game.position);
    if (!player.running && analysis.show === "shown") board.hint(analysis.result?.best ?? null);
  }
}

/** Stop the agent and leave the editor. */
function takeOver() {
  stopAgent();
  if (editor.on) edit(false);
}

/** A move by hand. */
function play(move, repeats = false) {
  takeOver();
  if (analysis.show === "after" && game.legal.includes(move)) board.hint(null);
  game.play(move, repeats).catch(fail);
}

function clicked(cell, how) {
  if (editor.on) editor.cell(cell, how);
  else if (game.position.is_chance) {
    const [tile, other] = how === "raise" ? [4, 2] : [2, 4];
    game.roll(`${tile}@${cell}` in game.position.outcomes ? `${tile}@${cell}` : `${other}@${cell}`).catch(fail);
  }
}

function newGame() {
  takeOver();
  look("analysis");
  jump = true;
  return game.open({ game: game.name }).catch(fail);
}

function edit(on) {
  if (!game.position) return;
  stopAgent();
  by("edit").setAttribute("aria-pressed", String(on));
  if (on) {
    look("analysis");
    editor.enter(game.position, game.whole);
    jump = true;
    game.open({ game: game.name, position: game.position.notation.replace(" ?", "") }, "edit").catch(fail);
  } else {
    const whole = editor.leave();
    if (whole) game.load(whole).catch(fail);
    else changed({ kind: "turn" });
  }
}

function edited(notation) {
  game.open({ game: game.name, position: notation }, "edit").catch((error) => {
    fail(error);
    editor.follow(game.position);
  });
}

/** Undo (-1) or redo (1). */
function travel(way) {
  if (!game.position) return;
  stopAgent();
  const at = game.find(way);
  if (editor.on) {
    if (way < 0) editor.undo();
  } else if (at >= 0) game.go(at).catch(fail);
}

function goTo(at) {
  if (!game.position || editor.on) return;
  stopAgent();
  game.go(at).catch(fail);
}

/** Let the agent play `moves` moves (null: to the end), or pause; `again`: with other settings. */
function agentPlays(moves = null, again = false) {
  if (!game.position) return;
  if (player.running) {
    stopAgent();
    if (!again) return;
  }
  if (editor.on) edit(false);
  if (game.position.over) {
    const empty = !game.position.tiles.some(Boolean);
    toast(empty ? "The board is empty: edit it, or start a new game (N)." : "The game is over: press N for another.");
    return;
  }
  analysis.stop();
  board.hint(null);
  [single, rate] = [moves === 1, null];
  player.start({ agents: { player: analysis.agent }, ...analysis.lookahead, pace: single ? 0 : paceOf(speed), moves,
    analysis: analysis.show === "shown" }, (frame) => {
    if (frame.error) fail(new Error(frame.error));
    rate = frame.moves_per_s ?? rate;
    if (frame.analysis && !frame.done) showAnalysis(frame.analysis, frame.position);
    showPlaying();
    if (frame.done) analyze();
  });
  showPlaying();
}

function stopAgent() {
  if (!player.stop()) return;
  showPlaying();
  analyze();
}

function showPlaying() {
  analysis.frozen = player.running;
  by("play").replaceChildren(icon(player.running ? "pause" : "play"), player.running ? "Pause" : "Agent plays");
  by("play").dataset.playing = player.running;
  by("speed-says").textContent = paceText(speed, player.running ? rate : null);
}

/** One move by the agent. */
function oneMove() {
  stopAgent();
  agentPlays(1);
}

/** Shown, after my move, hidden, and again. */
function nextShow() {
  const names = Object.keys(SHOW);
  analysis.show = names[(names.indexOf(analysis.show) + 1) % names.length];
  analysis.showChoice.choose(analysis.show);
  analysis.onChange("show");
}

function setSpeed(value) {
  speed = Number.isFinite(Number(value)) ? Math.max(0, Math.min(100, Number(value))) : DEFAULTS.speed;
  player.setPace(paceOf(speed));
  by("speed").value = speed;
  by("speed").setAttribute("aria-valuetext", paceText(speed));
  by("speed-says").textContent = paceText(speed);
  note();
}

/** Show one of the two tabs; `start` a review at once. */
function look(which, start = false) {
  view = which;
  showTab(which);
  if (which !== "analysis") analysis.explain(null);
  note();
  if (start) review.start();
}

/** The whole game, moves that were undone included, as the review takes it. */
async function record() {
  if (pasted && pasted.steps === game.steps) return pasted.text;
  const { name, start, steps } = game.whole;
  const complete = steps.filter((step) => step.move && step.outcome);
  if (!complete.length) throw new Error("There is no move to review yet: play, let the agent play, or paste a game.");
  return write({ name, start, steps: complete }, "record");
}

/** Show the position after k moves of a reviewed game. */
function jumpTo(whole, k) {
  takeOver();
  if (game.steps === whole.steps) game.go(k).catch(fail);
  else game.load({ ...whole, at: k }).catch(fail);
}

/** Show a position or a game that was pasted. */
async function showText(content) {
  takeOver();
  const { kind, game: name } = content;
  if (!isOurs(name)) throw new Error(`this is a ${kind} of ${name}: paste it on that game's page`);
  await analysis.set({ ...analysis, game: name });
  jump = true;
  await game.loadText(content);
  pasted = content.record ? { steps: game.steps, text: content.record } : null;
  toast(kind === "position" ? "Position read."
    : `Game read: ${counted(game.steps.length, "move")}. Undo steps back; Review judges it.`);
}

const link = () => address.link(state());
const copyLink = () => game.position && copy(link(), "the link");
const copyPosition = () => game.position && copy(game.position.notation, "the position");
const paste = () => game.position && openPaste(game, link, (content) => showText(content).catch(fail));

function rules() {
  const dialog = openDialog("Rules", rulesForm(game.name, game.manualChance, async (name) => {
    dialog.close();
    takeOver();
    jump = true;
    try {
      await analysis.set({ ...analysis, game: name });
      await game.open({ game: name });
    } catch (error) {
      fail(error);
    }
  }, (byHand) => {
    game.manualChance = byHand;
    note();
  }));
}

/** Show what an address says: one that was opened, or one of the browser's history. */
async function arrive(params, memory) {
  stopAgent();
  arriving = true;
  try {
    const wanted = settingsFromAddress(params);
    if (!isOurs(wanted.game)) throw new Error(`${wanted.game} is not played on this page`);
    game.manualChance = params.place === "1";
    if (editor.on && params.edit !== "1") {
      editor.leave();
      by("edit").setAttribute("aria-pressed", "false");
    }
    look(params.view === "review" ? "review" : "analysis");
    setSpeed(params.speed ?? DEFAULTS.speed);
    if (ready) await analysis.set(wanted);
    const whole = visit.recall(memory);
    if (whole) await game.load(whole);
    else await game.open({ game: wanted.game, position: params.position });
  } finally {
    arriving = false;
  }
  if (params.edit === "1" && !editor.on) {
    editor.enter(game.position);
    by("edit").setAttribute("aria-pressed", "true");
    changed({ kind: "turn" });
  }
}

/** Let the address say what is shown. */
function note(isJump = false) {
  if (!arriving) visit.remember(isJump);
}

onPaste(() => game.name, showText);
for (const name of ["undo", "redo", "step"]) by(name).append(icon(name));
for (const name of ["edit", "paste", "link", "settings", "new", "play"]) by(name).prepend(icon(name));
for (const [id, run] of Object.entries({
  undo: () => travel(-1), redo: () => travel(1), new: newGame, play: () => agentPlays(), step: oneMove,
  edit: () => edit(!editor.on), paste, link: copyLink, settings: rules,
})) by(id).addEventListener("click", run);
by("speed").addEventListener("input", (event) => setSpeed(event.target.value));

bind(keys({
  play, travel, newGame, agentPlays, oneMove, nextShow, look, review, goTo, paste, copyLink, copyPosition,
  faster: (more) => setSpeed(speed + more),
  end: () => game.steps.length,
  toggleEdit: () => edit(!editor.on),
  leave: () => {
    analysis.explain(null);
    if (editor.on) edit(false);
  },
}));
board.blank(...boardOf(settingsFromAddress(firstParams).game));
address.onMove((params, memory) => arrive(params, memory).catch(fail));

// Whatever is wrong with the address, there is a game.
arrive(firstParams, history.state).catch((error) => {
  fail(error);
  return game.open({ game: isOurs(firstParams.game ?? "") ? firstParams.game : DEFAULTS.game });
}).catch(() => game.open({ game: DEFAULTS.game })).catch(fail);
if (!isOurs(analysis.game)) analysis.game = DEFAULTS.game;
analysis.ready().catch(() => {
  analysis.game = DEFAULTS.game;
  return analysis.ready();
}).then(() => {
  ready = true;
  analyze();
}).catch(fail);
