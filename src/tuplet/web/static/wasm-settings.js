// The settings of agents, without a server: system/settings.py, and the limits of web/limits.py.
import { Problem, decimal, grouped, quoted, splitSettings } from "./wasm-text.js";

const LIMITS = { time: 60, lookahead: 6, depth: 24, sims: 10_000_000, table: 22, nodes: 1_000_000, batch: 10_000 };

/** Refuse a value that the server would refuse; `limit` names it, if another setting has the same name. */
export function check(name, value, limit = LIMITS[name]) {
  if ((value ?? null) !== null && value > limit) {
    const text = name === "time" ? decimal : grouped;
    throw new Problem(`${name} must be at most ${text(limit)} over the network (got ${text(value)})`);
  }
}

export const LOOKAHEAD = LIMITS.lookahead;

/** A setting's value from its text, by its type (system/settings.py). */
function valueOf({ name, type, choices }, text, spec) {
  const either = (all) => `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`;
  if (type === "choice" && name !== "ucb") {
    if (choices.includes(text)) return text;
    throw new Problem(`${spec}: ${name} must be ${either(choices)} (got ${quoted(text)})`);
  }
  if (type === "bool") {
    if (["yes", "no"].includes(text)) return text === "yes";
    throw new Problem(`${spec}: ${name} must be yes or no (got ${quoted(text)})`);
  }
  if (type !== "int" && type !== "float") return text;
  const what = type === "float" ? "a number" : "a whole number";
  const number = type === "int" && !/^[+-]?\d+$/.test(text) ? NaN : text === "" ? NaN : Number(text);
  if (Number.isNaN(number)) throw new Problem(`${spec}: ${name} must be ${what} (got ${quoted(text)})`);
  if (!(number >= 0 && number <= 1e18)) throw new Problem(`${spec}: ${name} must be ${what}, 0 or more (got ${text})`);
  return number;
}

/** The settings that a text gives an agent. */
export function readSettings(declared, spec, text) {
  return Object.fromEntries(Object.entries(splitSettings(text, spec)).map(([key, value]) => {
    const setting = declared.find((each) => each.name === key);
    if (!setting) {
      throw new Problem(`${spec}: '${key}=${value}' is not a setting; there are `
        + `${declared.map((each) => each.name).join(", ")}`);
    }
    return [key, valueOf(setting, value, spec)];
  }));
}
