// The page "Watch it learn": learners, their curves in one picture, and a game of one of them.
import { get, post } from "./api.js";
import { by, choice, count, icon, make, spaced } from "./dom.js";
import { Replay } from "./learn-board.js";
import { LearnerCard } from "./learn-card.js";
import { AXES, CurveChart } from "./learn-chart.js";
import { DEFAULTS, GAMES, LETTERS, PRESETS, describe, readLearners, settingsNow, writeLearners }
  from "./learn-settings.js";
import { guessCurve } from "./learn-predict.js";
import { lesson, predict } from "./lesson.js";
import { bind, fail, openDialog } from "./shell.js";
import { isStatic } from "./wasm-client.js";

const EVERY = isStatic ? 200 : 1000; // milliseconds between two looks at a run
const POINTS = 150; // of a curve: more would show chance
const LONG = 1_000_000; // games of a run on a server, which goes on until it is stopped
const EVALUATE = "400@2000"; // of a game for two: the points of its curve
const COLUMNS = ["run", "game", "network", "learner", "games", "last mean", "state"];
const EMPTY = { games: [], seconds: [], mean: [], low: [], high: [], speed: [], tiles: {} };

/** @type {{settings: any, run: string|null, data: any, card: any, asked: number}[]} */
let learners = [];
let axis = "games", game = "2048", seed = 0, train = isStatic, busy = false, guess = null;

const chart = new CurveChart(by("curves"));
const replay = new Replay(fail);
const axes = choice("axis", AXES, axis, (value) => {
  axis = value;
  draw();
  view.changed();
}, "The curve over");
by("axis").append(axes);

const view = lesson("learn", { state: () => ({
  learners: writeLearners(learners.map(({ settings }) => settings)),
  runs: isStatic ? null : learners.map(({ run }) => run).filter(Boolean).join("/"),
  game: game === "2048" ? null : game, axis: axis === "games" ? null : axis, seed: seed || null }), open });

/** With "predict first", the curves and the numbers wait for the viewer's guess. */
function question() {
  guess = null;
  predict([by("curves"), by("watch")], { at: by("ask"), question: "How will it go?",
    input: (done) => guessCurve((drawn) => {
      guess = drawn;
      done();
      by("ask").replaceChildren();
      draw();
    }) });
}

/** Show what an address says; runs that the page has already go on. */
function open(state) {
  question();
  axis = state.axis in AXES ? state.axis : "games";
  axes.choose(axis);
  const before = game;
  game = state.game in GAMES ? state.game : "2048";
  seed = Math.max(0, Math.trunc(Number(state.seed) || 0));
  const named = (state.runs ?? "").split("/").filter(Boolean).slice(0, LETTERS.length);
  const wanted = named.length ? named.map(() => ({ ...DEFAULTS })) : readLearners(state.learners ?? "tc");
  const same = writeLearners(wanted) === writeLearners(learners.map(({ settings }) => settings));
  if (same && game === before && (!named.length || named.every((name, i) => learners[i]?.run === name))) {
    draw();
    return;
  }
  clear().then(() => {
    learners = wanted.map(planned);
    learners.forEach((learner, i) => { learner.run = named[i] ?? null; });
    draw();
    look();
  });
}

const planned = (settings) => ({ settings: { ...DEFAULTS, ...settings }, run: null, data: null, card: null, asked: 0 });
const canResume = ({ data }) => data && data.run.state !== "running" && !(isStatic && data.run.state === "failed");
const isRunning = ({ data }) => data?.run.state === "running";

/** Take all learners away. Without a server they end; on a server they go on. */
async function clear() {
  const gone = learners.map(({ run }) => run).filter(Boolean);
  learners = [];
  replay.watch(null);
  if (isStatic) await Promise.all(gone.map((name) => post("/api/run/delete", { name, confirm: name }).catch(() => {})));
}

/** One change at a time; its error is shown. */
async function act(run) {
  if (busy) return;
  busy = true;
  try {
    await run();
  } catch (error) {
    fail(error);
  } finally {
    busy = false;
    draw();
    look();
  }
}

/** Start the learners that have not started. */
async function start() {
  for (const learner of learners.filter(({ run }) => run === null)) {
    const { alpha, learner: rule, ...settings } = learner.settings;
    const given = { game, learner: rule, ...(game === "2048" ? settings : isStatic ? {} : { evaluate: EVALUATE }),
      ...(alpha === null ? {} : { alpha }), seed, ...(isStatic ? {} : { games: LONG }) };
    const { run } = await post("/api/run/start", { settings: given });
    learner.run = run.name;
    learner.data = { run, curve: EMPTY };
    draw();
  }
  view.changed();
}

/** Show games of a learner that has begun to learn, if none is shown. */
function watchSome() {
  if (replay.name !== null && learners.some(({ run }) => run === replay.name)) return;
  const plays = ({ data }) => data?.run.game === "2048" && data.curve.mean.length > 0;
  replay.watch(learners.find(plays)?.run ?? null);
}

const each = (call, chosen) => act(async () => {
  await Promise.all(learners.filter(chosen).map(async (learner) => {
    const { state, games } = learner.data.run, longer = state === "finished" ? { settings: { games: 2 * games } } : {};
    const { run } = await post(`/api/run/${call}`, { name: learner.run, ...(call === "resume" ? longer : {}) });
    learner.data = { ...learner.data, run, stale: true };
  }));
});

const compare = ({ learners: all, axis: over }) => act(async () => {
  await clear();
  question();
  axis = over;
  axes.choose(axis);
  learners = all.map(planned);
  await start();
  view.changed(true);
});

const add = () => {
  if (learners.length >= LETTERS.length || !train) return;
  const last = learners.at(-1)?.settings ?? DEFAULTS;
  learners.push(planned({ ...last, learner: last.learner === "tc" ? "td" : "tc", alpha: null }));
  draw();
  view.changed();
};

const startOver = () => act(async () => {
  const all = learners.map(({ settings }) => settings);
  question();
  await clear();
  learners = all.map(planned);
});

const main = () => (learners.some(({ run }) => run === null) ? act(start)
  : learners.some(isRunning) ? each("stop", isRunning)
    : each("resume", canResume));

function remove(learner) {
  learners = learners.filter((other) => other !== learner);
  if (isStatic && learner.run) act(() => post("/api/run/delete", { name: learner.run, confirm: learner.run }));
  if (replay.name === learner.run) replay.watch(null);
  if (!learners.length) learners = [planned({})];
  watchSome();
  draw();
  view.changed();
}

/** Delete a run of the server, after a question. */
function erase(learner) {
  const name = learner.run;
  const dialog = openDialog(`Delete ${name}?`,
    make("p", {}, "The run, its weights and its curve are deleted from the server's folder."),
    make("footer", {}, make("button", { onclick: () => dialog.close() }, "Keep it"),
      make("button", { class: "primary", onclick: () => {
        dialog.close();
        act(async () => {
          if (isRunning(learner)) await post("/api/run/stop", { name });
          await post("/api/run/delete", { name, confirm: name });
          remove(learner);
          listRuns();
        });
      } }, "Delete")));
}

const cardOf = (learner, hue) => {
  if (learner.card?.hue === hue) return learner.card;
  learner.card = new LearnerCard(hue, {
    onSettings: (settings) => {
      learner.settings = settings;
      draw();
      view.changed();
    },
    onChange: (settings) => act(async () => {
      const now = settingsNow(learner.data.run);
      if (Object.entries(settings).every(([name, value]) => now[name] === value)) return;
      const { run } = await post("/api/run/change", { name: learner.run, settings });
      learner.data = { ...learner.data, run };
    }),
    onAction: (name) => {
      if (name === "remove") remove(learner);
      else if (name === "delete") erase(learner);
      else each(name, (other) => other === learner);
    },
  });
  return learner.card;
};

/** The settings that words describe: those of the run, if there is one. */
const settingsOf = ({ settings, data }) => (data ? settingsNow(data.run) : { game, ...settings });

const draw = spaced(() => {
  const all = learners.map(settingsOf), cards = [];
  learners.forEach((learner, hue) => {
    const card = cardOf(learner, hue), others = all.filter((_, i) => i !== hue);
    if (learner.data) card.show(learner.data, others, { train, own: isStatic });
    else card.plan(learner.settings, others, game, learners.length > 1);
    cards.push(card.element);
  });
  const shown = [...by("learners").children];
  if (cards.length !== shown.length || cards.some((card, i) => card !== shown[i])) {
    by("learners").replaceChildren(...cards);
  }
  // One picture has one scale: that of the first run.
  const scale = learners.find(({ data }) => data)?.data.run.game ?? game;
  by("curve-title").textContent = scale === "2048" ? "Mean score" : "Points won against 50 random games for each move";
  by("watch").hidden = scale !== "2048";
  by("plays").textContent = scale === "2048" ? "2048 against chance" : "EinStein würfelt nicht! against itself";
  const fits = (data) => data && (data.run.game === "2048") === (scale === "2048");
  chart.show(learners.flatMap(({ data }, hue) => (fits(data) ? [{ letter: LETTERS[hue], hue, curve: data.curve,
    label: `${LETTERS[hue]}, ${describe(all[hue], all)}`, changes: data.run.changes,
    share: data.run.game !== "2048" }] : [])), axis, guess);
  drawActions();
  drawWhose();
}, 60);

function drawActions() {
  const waits = learners.some(({ run }) => run === null), runs = learners.some(isRunning);
  const stopped = learners.some(canResume);
  const [name, text] = waits ? ["play", runs ? "Start the new learner" : "Start"] : runs ? ["pause", "Stop"]
    : ["play", "Resume"];
  const made = [text, waits, runs, stopped, learners.length, train, game, learners.some(({ run }) => run)].join();
  if (by("actions").dataset.made === made) return;
  by("actions").dataset.made = made;
  const button = make("button", { id: "start", class: "primary", onclick: main }, icon(name), text);
  button.disabled = !train || (!waits && !runs && !stopped);
  const more = make("button", { id: "add", "data-control": "add", "data-label": "Add a learner", onclick: add },
    icon("new"), "Add a learner");
  more.disabled = !train || learners.length >= LETTERS.length;
  const over = make("button", { id: "again", class: "quiet", "data-control": "again", "data-label": "Start over",
    onclick: startOver }, icon("turn"), "Start over");
  over.disabled = !train || !learners.some(({ run }) => run !== null);
  const games = choice("game", GAMES, game, (value) => {
    game = value;
    draw();
    view.changed();
  }, "Game");
  games.dataset.control = "game";
  games.dataset.label = "Game";
  const begun = learners.some(({ run }) => run);
  for (const input of games.querySelectorAll("input")) input.disabled = !train || begun;
  for (const [i, preset] of Object.values(PRESETS).entries()) {
    by("presets").children[i].hidden = game !== "2048" && !preset.any;
  }
  const number = make("input", { id: "seed", type: "number", min: 0, step: 1, onchange: () => {
    seed = Math.max(0, Math.trunc(Number(number.value) || 0));
    number.value = seed;
    view.changed();
  } });
  number.value = seed;
  const focused = document.activeElement?.id;
  by("actions").replaceChildren(button, more, over, games,
    make("label", { class: "row learn-seed", "data-control": "seed", "data-label": "Seed" },
      make("span", { class: "label" }, "Seed"), number));
  if (focused && by("actions").querySelector(`#${CSS.escape(focused)}:not(:disabled)`)) by(focused).focus();
}

/** Whose game is shown. */
function drawWhose() {
  const playing = learners.flatMap(({ run, data }, i) => (run && data?.run.game === "2048" ? [[run, LETTERS[i]]] : []));
  const made = JSON.stringify([playing, replay.name]);
  if (by("whose").dataset.made === made) return;
  by("whose").dataset.made = made;
  by("whose").replaceChildren(...(playing.length > 1 ? [choice("whose", Object.fromEntries(playing), replay.name,
    (name) => replay.watch(name), "Whose game")] : []));
}

/** Look at the runs again: those that go on, and those not yet seen. */
async function look() {
  const wanted = learners.filter(({ run, data }) => run !== null && (!data || data.curve === EMPTY
    || data.run.state === "running" || data.stale));
  await Promise.all(wanted.map(async (learner) => {
    const asked = ++learner.asked;
    try {
      const data = await post("/api/run", { name: learner.run, points: POINTS });
      if (asked !== learner.asked || !learners.includes(learner)) return;
      // A run that has just ended is looked at once more: its last games may have come later.
      learner.data = { ...data, stale: data.run.state !== "running" && learner.data?.run.state === "running" };
      if (!learner.data.curve.mean.length) learner.data.curve = { ...EMPTY };
    } catch (error) {
      if (learner.data === null) {
        learner.run = null;
        fail(error);
      }
    }
  }));
  if (!wanted.length) return;
  watchSome();
  draw();
}

let timer = null;
async function again() {
  clearTimeout(timer);
  if (!document.hidden) await look();
  timer = setTimeout(again, EVERY * Math.max(1, ...learners.map(({ data }) => data?.poll ?? 1)));
}
document.addEventListener("visibilitychange", () => { if (!document.hidden) again(); });

/** The runs of the server, to be drawn. */
async function listRuns() {
  const { runs, train: may, folder } = await get("/api/runs");
  train = may ?? false;
  if (isStatic) return;
  by("note").replaceChildren(...(train ? ["Runs go on when this page is closed, and when the server ends."]
    : ["This server only shows runs. Start it with ", make("code", {}, "tuplet serve --train"), " to train here."]));
  by("runs").hidden = !runs.length;
  const rows = runs.map((row) => {
    const box = make("input", { type: "checkbox", onchange: () => toggle(row.run, box) });
    box.checked = learners.some(({ run }) => run === row.run);
    return make("tr", {}, make("td", {}, make("label", { class: "check" }, box, row.run)),
      [row.game, row.net, row.learner].map((text) => make("td", { class: "text" }, text)),
      make("td", {}, count(row.games)), make("td", {}, row.mean_score === null ? "–"
        : row.game === "2048" ? count(row.mean_score) : `${(100 * row.mean_score).toFixed(1)} %`),
      make("td", { class: "text" }, row.state ?? ""));
  });
  by("runs").replaceChildren(
    make("header", {}, make("h2", {}, "Runs of this server"), make("code", { class: "muted small" }, folder)),
    make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Runs" }, make("table", {},
      make("thead", {}, make("tr", {}, COLUMNS.map((text, i) =>
        make("th", { class: i < 4 || i === 6 ? "text" : null }, text)))), make("tbody", {}, rows))));
}

/** Draw a run of the server, or no longer. */
function toggle(name, box) {
  const known = learners.find(({ run }) => run === name);
  if (known) remove(known);
  else {
    learners = learners.filter(({ run }) => run !== null);
    if (learners.length >= LETTERS.length) {
      box.checked = false;
      fail(new Error(`one picture shows ${LETTERS.length} runs: remove one first`));
      return;
    }
    learners.push({ ...planned({}), run: name });
    look();
  }
  draw();
  view.changed();
}

by("presets").append(...Object.values(PRESETS).map((preset) =>
  make("button", { class: "small", onclick: () => compare(preset) }, preset.text)));
if (isStatic) {
  by("note").textContent = "Everything is computed in this page, by a worker for each learner. They end with it.";
}
bind([{ keys: [" "], says: "start, stop, resume", run: () => { main(); }, group: "Learners" },
  { keys: ["a"], says: "add a learner", run: add, group: "Learners" }]);
listRuns().catch(fail).finally(() => {
  for (const button of by("presets").children) /** @type {any} */ (button).disabled = !train;
  draw();
  again();
});
if (!isStatic) setInterval(() => { if (!document.hidden) listRuns().catch(() => {}); }, 10_000);
