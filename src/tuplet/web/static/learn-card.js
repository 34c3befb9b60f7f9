// The card of a learner: its settings before it starts; then its numbers, what can be changed, and its command.
import { short } from "./chart.js";
import { count, draw, icon, make, percent, spaced } from "./dom.js";
import { tileAreas, tilesNow } from "./learn-chart.js";
import { ALPHAS, LETTERS, NETS, describe, settingsForm, settingsNow } from "./learn-settings.js";
import { copy } from "./shell.js";

const LATELY = 1000; // games
const STATES = { running: "learning", stopped: "stopped", finished: "finished", failed: "failed", planned: "ready" };

/** The place in ALPHAS that is nearest to a learning rate. */
const placeOf = (alpha) => ALPHAS.reduce((best, each, i) =>
  (Math.abs(Math.log(each / alpha)) < Math.abs(Math.log(ALPHAS[best] / alpha)) ? i : best), 0);

/** The mean of the last thousand games, or of the last point of a curve if that has more. */
function lately({ games, mean }) {
  let sum = 0, played = 0;
  for (let i = mean.length - 1; i >= 0 && played < LATELY; i--) {
    const own = games[i] - (games[i - 1] ?? 0);
    sum += own * mean[i];
    played += own;
  }
  return played ? sum / played : null;
}

export class LearnerCard {
  #drawn = ""; // what the card is made for: it is made again if that changes
  #parts = {};
  #command = "";

  /** Calls: onSettings(settings), onAction(name) with "stop", "resume", "remove" or "delete", onChange(settings). */
  constructor(hue, calls) {
    this.hue = hue;
    this.calls = calls;
    this.element = make("article", { class: "panel learn-card", "data-hue": hue });
  }

  /** Show a learner that has not started. */
  plan(settings, others, game, removable) {
    const made = JSON.stringify(["plan", game, removable, settings]);
    const title = describe({ game, ...settings }, others);
    if (this.#drawn === made) {
      this.#parts.title.textContent = title;
      return;
    }
    const focused = document.activeElement?.closest?.(".learn-form") && this.element.contains(document.activeElement);
    if (this.#drawn.startsWith(`["plan","${game}",${removable}`) && focused) { // a field of the form keeps the focus
      this.#drawn = made;
      this.#parts.title.textContent = title;
      return;
    }
    this.#drawn = made;
    this.element.dataset.state = "planned";
    this.element.replaceChildren(this.#head(title, removable),
      settingsForm(settings, game, (now) => this.calls.onSettings(now)));
  }

  #head(title, removable, kind = "remove") {
    const parts = this.#parts = { title: make("h3", {}, title),
      state: make("span", { class: "learn-state tiny" }, "ready") };
    return make("header", { class: "row" }, make("b", { class: "letter", "data-hue": this.hue }, LETTERS[this.hue]),
      parts.title, parts.state, removable ? make("button", { class: "quiet icon small", title: "Remove",
        "aria-label": `Remove learner ${LETTERS[this.hue]}`, "data-control": "remove", "data-label": "Remove a learner",
        onclick: () => this.calls.onAction(kind) }, icon("close")) : null);
  }

  /** Show a run: what /api/run answered. `train`: it may be changed here; `own`: it ends with the page. */
  show({ run, curve }, others, { train, own }) {
    const made = `run ${run.name} ${train}`;
    if (this.#drawn !== made) {
      this.#drawn = made;
      this.#make(run, train, own);
    }
    const { title, state, mean, games, speed, areas, tiles, toggle, alpha, alphaSays, fours, foursSays, grow, command,
      says } = this.#parts;
    this.element.dataset.state = run.state;
    const settings = settingsNow(run);
    title.textContent = describe(settings, others);
    state.textContent = STATES[run.state];
    const average = lately(curve), share = run.game !== "2048";
    mean.textContent = average === null ? "–" : share ? percent(average) : count(average);
    games.textContent = count(run.games);
    speed.textContent = run.moves_per_second ? short(run.moves_per_second) : "–";
    says.textContent = run.error ?? "";
    says.hidden = !run.error;
    areas.parentElement.hidden = share;
    this.#areas(curve);
    tiles.replaceChildren(...tilesNow(curve).map(([tile, part]) => make("span", { class: "learn-tile" },
      make("i", { "data-tile": tile }), `${tile} `, make("b", {}, `${part.toFixed(part < 10 ? 1 : 0)} %`))));
    this.#command = run.commands.join("\n");
    command.textContent = this.#command;
    if (!train) return;
    const runs = run.state === "running";
    toggle.replaceChildren(icon(runs ? "pause" : "play"), runs ? "Stop" : "Resume");
    toggle.disabled = run.state === "failed" && own;
    if (document.activeElement === alpha || (fours && document.activeElement === fours)) return;
    alpha.value = placeOf(settings.alpha);
    alphaSays.textContent = settings.alpha;
    if (!fours) return;
    fours.value = 100 * settings.spawn4;
    foursSays.textContent = percent(settings.spawn4, 0);
    const nets = settings.net.split("+");
    for (const option of grow.options) option.hidden = option.disabled = nets.includes(option.value);
    grow.disabled = run.state === "failed" || (own && nets.length > 1);
  }

  #areas = spaced((curve) => tileAreas(this.#parts.areas, curve), 500);

  #make(run, train, own) {
    const head = this.#head("", true, "remove"), parts = this.#parts;
    const figure = (name, text) => {
      parts[name] = make("dd", {}, "–");
      return make("div", {}, make("dt", {}, text), parts[name]);
    };
    parts.areas = draw("svg", { class: "learn-areas", preserveAspectRatio: "none", "aria-hidden": "true" });
    parts.tiles = make("p", { class: "learn-tiles tiny" });
    parts.says = make("p", { class: "learn-error small", role: "status", hidden: true });
    parts.command = make("code", {});
    this.element.replaceChildren(head,
      make("dl", { class: "figures" }, figure("mean", run.game === "2048" ? "Mean score" : "Points won"),
        figure("games", "Games"), figure("speed", "Moves a second")),
      make("figure", { class: "stack close" }, make("figcaption", { class: "tiny muted" }, "Games that reach a tile"),
        parts.areas, parts.tiles),
      parts.says, train ? this.#controls(run, own) : null,
      make("div", { class: "learn-command", "data-control": "command", "data-label": "The command that repeats a run" },
        make("pre", { class: "tiny", tabindex: "0", "aria-label": "The command that repeats it" }, parts.command),
        make("button", { class: "quiet small", title: "Copy the command", onclick: () =>
          copy(this.#command, "the command that repeats it") }, icon("paste"), "Copy")));
  }

  #controls(run, own) {
    const parts = this.#parts, { calls } = this;
    const slider = (name, text, attributes, says, value) => {
      const label = parts[`${name}Says`] = make("output", { class: "number" });
      parts[name] = make("input", { type: "range", ...attributes, "aria-label": text,
        oninput: () => { label.textContent = says(Number(parts[name].value)); },
        onchange: () => calls.onChange(value(Number(parts[name].value))) });
      return make("label", { class: "field" }, make("span", { class: "row apart" }, text, label), parts[name]);
    };
    parts.toggle = make("button", { class: "small", "data-control": "stop", "data-label": "Stop and resume",
      onclick: () => calls.onAction(this.element.dataset.state === "running" ? "stop" : "resume") });
    const remove = own ? null : make("button", { class: "quiet small", "data-control": "delete",
      "data-label": "Delete a run", onclick: () => calls.onAction("delete") }, "Delete…");
    const rate = slider("alpha", "Learning rate α", { min: 0, max: ALPHAS.length - 1, step: 1 },
      (place) => String(ALPHAS[place]), (place) => ({ alpha: ALPHAS[place] }));
    const change = { class: "learn-pair", "data-control": "change", "data-label": "Change a learner while it runs" };
    if (run.game !== "2048") {
      return make("div", { class: "learn-controls" }, make("div", change, rate),
        make("div", { class: "row" }, parts.toggle, remove));
    }
    parts.grow = make("select", { "aria-label": "Add tuples", onchange: () => {
      const net = parts.grow.value;
      parts.grow.value = "";
      if (net) calls.onChange({ net });
    } }, make("option", { value: "" }, "Add tuples…"),
    Object.entries(NETS).map(([net, text]) => make("option", { value: net }, `${text} (${net})`)));
    return make("div", { class: "learn-controls" },
      make("div", change, rate,
        slider("fours", "Share of fours", { min: 0, max: 100, step: 5 },
          (value) => `${value} %`, (value) => ({ spawn4: value / 100 }))),
      make("div", { class: "row" }, parts.toggle, parts.grow, remove));
  }
}
