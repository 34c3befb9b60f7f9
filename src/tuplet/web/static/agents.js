// The chooser of an agent and its settings, made from what /api/agents tells.
import { get } from "./api.js";
import { make } from "./dom.js";

const known = new Map(); // game -> promise of {default, agents}

/** {default, agents} of a game, asked once. */
export function agentsOf(game) {
  if (!known.has(game)) {
    const asked = get(`/api/agents?game=${encodeURIComponent(game)}`);
    asked.catch(() => known.delete(game));
    known.set(game, asked);
  }
  return known.get(game);
}

/** "mcts:sims=100,c=0.5" -> ["mcts", {sims: "100", c: "0.5"}] */
export function parts(text) {
  const [name, rest] = text.includes(":") ? [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":") + 1)] : [text, ""];
  const settings = {};
  for (const part of rest.split(",").filter(Boolean)) {
    const at = part.indexOf("=");
    if (at > 0) settings[part.slice(0, at)] = part.slice(at + 1);
  }
  return [name, settings];
}

/** The text of an agent: settings that are what they are anyway are left out. */
export function textOf(agent, settings) {
  const set = Object.entries(settings).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return set.length ? `${agent}:${set.map(([name, value]) => `${name}=${value}`).join(",")}` : agent;
}

let numbers = 0;

/**
 * Show a chooser in `element`: the agent, a sentence about it, and its settings. `onChange(text,
 * agent)` is called when a person changes it, `agent` being what /api/agents says of it.
 * Returns a promise of {text, agent, set(text), game(game)}; `text` "" is the game's default.
 */
export async function chooser(element, game, text, onChange, label = "Agent") {
  const id = `agent-${++numbers}`;
  const select = make("select", { id, class: "grow" });
  const about = make("p", { class: "tiny muted about" });
  const fields = make("div", { class: "fields" });
  const details = make("details", {}, make("summary", { class: "small" }, "Settings"), fields);
  element.replaceChildren(make("div", { class: "field" }, make("label", { for: id }, label), select, about), details);
  let list = await agentsOf(game);
  let settings = {};

  const found = () => list.agents.find((each) => each.agent === select.value);
  const state = {
    get text() { return textOf(select.value, settings); },
    get agent() { return found(); },
    set(wanted) {
      const [name, given] = parts(wanted || list.default);
      // Somebody's own weights or a name from an address: shown even if the list does not have it.
      if (!list.agents.some((each) => each.agent === name)) {
        select.append(make("option", { value: name }, name));
      }
      select.value = name;
      settings = given;
      show();
    },
    async game(other) {
      list = await agentsOf(other);
      const was = state.text;
      fill();
      state.set(list.agents.some((each) => each.agent === parts(was)[0]) ? was : list.default);
    },
  };

  function fill() {
    select.replaceChildren(...list.agents.map((each) => make("option", { value: each.agent }, each.title ?? each.agent)));
  }

  function show() {
    const agent = found();
    about.textContent = agent?.about ?? "";
    const declared = agent?.settings ?? [];
    details.hidden = declared.length === 0;
    fields.replaceChildren(...declared.map((setting, i) => field(setting, `${id}-${i}`)));
  }

  function field(setting, name) {
    const now = settings[setting.name] ?? "";
    const shown = setting.default === null || setting.default === undefined ? "" : String(setting.default);
    let input;
    if (setting.type === "choice" || setting.type === "bool") {
      const choices = setting.type === "bool" ? ["true", "false"] : setting.choices;
      input = make("select", { id: name }, choices.map((each) => make("option", { value: each }, String(each))));
      input.value = now || shown.toLowerCase();
      if (input.selectedIndex < 0) input.value = shown;
    } else {
      input = make("input", { id: name, type: "text", inputmode: setting.type === "int" ? "numeric" : "decimal", placeholder: shown, autocomplete: "off" });
      input.value = now;
    }
    input.dataset.setting = setting.name;
    input.addEventListener("change", () => {
      const value = input.value.trim();
      settings = { ...settings };
      if (value === "" || value.toLowerCase() === shown.toLowerCase()) delete settings[setting.name];
      else settings[setting.name] = value;
      onChange(state.text, found());
    });
    return make("div", { class: "field" }, make("label", { for: name }, setting.name), input,
      setting.about && make("span", { class: "says", title: setting.about }, setting.about));
  }

  select.addEventListener("change", () => {
    settings = {};
    show();
    onChange(state.text, found());
  });
  fill();
  state.set(text);
  return state;
}
