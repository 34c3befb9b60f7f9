// The settings of a learner: as an address, in words, and as a form.
import { choice, make, percent } from "./dom.js";

export const LETTERS = ["A", "B", "C", "D"];
export const NETS = { "5x4": "5 tuples of 4", "4x5": "4 tuples of 5", "4x6": "4 tuples of 6" };
const SHARES = [0, 0.05, 0.1, 0.2, 0.5, 1]; // of fours
const USUAL = { td: 0.1, tc: 1 }; // learning rates, which need not be named
const USUAL_OF_TWO = { td: 0.05, tc: 0.5 };
export const ALPHAS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/**
 * What a learner is started with; alpha null is the learner's usual one.
 * @typedef {{net: string, learner: string, target: string, alpha: number|null, spawn4: number}} Settings
 */

/** @type {Settings} */
export const DEFAULTS = { net: "4x5", learner: "tc", target: "afterstate", alpha: null, spawn4: 0.1 };

/** The games that can be learned here, by the names of `tuplet train`. */
export const GAMES = { 2048: "2048", ewn: "EWN" };

/** Comparisons of one click; `any`: of any game. */
export const PRESETS = {
  rules: { text: "TD against TC", learners: [{ learner: "tc" }, { learner: "td" }], axis: "games", any: true },
  values: { text: "States against after-states", learners: [{}, { target: "state" }], axis: "time" },
  rates: { text: "Two learning rates", learners: [{ learner: "td", alpha: 0.25 }, { learner: "td", alpha: 0.01 }],
    axis: "games", any: true },
  tuples: { text: "Short and long tuples", learners: [{ net: "5x4" }, { net: "4x6" }], axis: "time" },
};

/** Learners as a text for the address: tc,net=4x5/td,alpha=0.1. */
export const writeLearners = (all) => all.map((settings) => [settings.learner,
  ...Object.entries(settings).filter(([name, value]) => name !== "learner" && value !== DEFAULTS[name])
    .map(([name, value]) => `${name}=${value}`)].join(",")).join("/");

/** The learners of such a text; what is not known is left out. */
export function readLearners(text) {
  return text.split("/").filter(Boolean).slice(0, LETTERS.length).map((part) => {
    const [learner, ...rest] = part.split(","), given = Object.fromEntries(rest.map((each) => each.split("=")));
    const number = (name, least, most) => (Number(given[name]) > least && Number(given[name]) <= most
      ? Number(given[name]) : DEFAULTS[name]);
    return { learner: learner === "td" ? "td" : "tc", net: given.net in NETS ? given.net : DEFAULTS.net,
      target: given.target === "state" ? "state" : "afterstate", alpha: number("alpha", 0, 1),
      spawn4: given.spawn4 === "0" ? 0 : number("spawn4", 0, 1) };
  });
}

/** The settings of a run as they are now, after all changes; `net` names all its tuples. */
export function settingsNow({ settings, changes }) {
  const { game: _, ...changed } = Object.assign({}, ...changes);
  const nets = [settings.net, ...changes.flatMap(({ net }) => (net ? net.split(" ") : []))];
  return { ...settings, ...changed, net: nets.join("+") };
}

/** A learner in a few words; `others` are the learners beside it, whose differences must be named. */
export function describe(settings, others = []) {
  const differs = (name) => others.some((other) => other[name] !== settings[name]);
  const two = (settings.game ?? "2048") !== "2048", usual = two ? USUAL_OF_TWO : USUAL;
  const words = two ? [settings.game.toUpperCase(), settings.learner.toUpperCase()]
    : [settings.learner.toUpperCase(), settings.net];
  if (two) { /* it has neither */ } else if (settings.target === "state") words.push("states");
  else if (differs("target")) words.push("after-states");
  const { alpha = null, learner } = settings, rivals = others.filter((other) => other.learner === learner);
  if (alpha !== null && (alpha !== usual[learner] || rivals.some((other) => other.alpha !== alpha))) {
    words.push(`α ${alpha}`);
  }
  if (!two && settings.spawn4 !== 0.1) words.push(`${percent(settings.spawn4, 0)} fours`);
  return words.join(" · ");
}

let forms = 0;

/** A form for the settings of a learner of a game that has not started; `onChange(settings)`. */
export function settingsForm(settings, game, onChange) {
  const name = `form-${forms++}`, now = { ...settings };
  const set = (key) => (value) => {
    now[key] = value;
    onChange({ ...now });
  };
  const field = (text, inside) => make("div", { class: "field" }, make("span", {}, text), inside);
  const select = (text, options, value, run) => {
    const element = make("select", { "aria-label": text, onchange: () => run(element.value) },
      options.map(([each, says]) => make("option", { value: each, selected: each === value }, says)));
    return element;
  };
  const rule = field("Rule", choice(`${name}-learner`, { tc: "TC", td: "TD" }, settings.learner, set("learner"),
    "Learning rule"));
  const rates = [["", "usual"], ...ALPHAS.map((each) => [String(each), String(each)])];
  const rate = field("α", select("Learning rate", rates, settings.alpha === null ? "" : String(settings.alpha),
    (text) => set("alpha")(text ? Number(text) : null)));
  const attributes = { class: "learn-form", "data-control": "settings", "data-label": "Settings of a learner" };
  if (game !== "2048") return make("div", attributes, rule, rate);
  return make("div", attributes,
    field("Network", choice(`${name}-net`, Object.fromEntries(Object.keys(NETS).map((net) => [net, net])), settings.net,
      set("net"), "Network")),
    rule,
    field("Values of", choice(`${name}-target`, { afterstate: "after-states", state: "states" }, settings.target,
      set("target"), "Values of")),
    make("div", { class: "learn-pair" },
      rate,
      field("Fours", select("Share of fours", SHARES.map((each) => [String(each), percent(each, 0)]),
        String(settings.spawn4), (text) => set("spawn4")(Number(text))))));
}
