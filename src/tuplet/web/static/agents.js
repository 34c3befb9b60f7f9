// The chooser of an agent and its settings, made from /api/agents.
import { get } from "./api.js";
import { make } from "./dom.js";
import { formatSpec, parseSpec } from "./spec.js";

const known = new Map(); // game -> promise of {default, agents}

/** {default, agents} of a game, requested once. */
export function agentsOf(game) {
  if (!known.has(game)) {
    const agents = get(`/api/agents?game=${encodeURIComponent(game)}`);
    agents.catch(() => known.delete(game));
    known.set(game, agents);
  }
  return known.get(game);
}

let numbers = 0;

/**
 * Show a chooser in `element`: the agent, a sentence about it, and its settings. `onChange(text,
 * agent)` is called when a person changes it, with the agent of /api/agents.
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

  const selected = () => list.agents.find((each) => each.agent === select.value);
  const state = {
    get text() { return formatSpec(select.value, settings); },
    get agent() { return selected(); },
    set(wanted) {
      const [name, values] = parseSpec(wanted || list.default);
      // A name from an address is shown even if the list does not have it.
      if (!list.agents.some((each) => each.agent === name)) {
        select.append(make("option", { value: name }, name));
      }
      select.value = name;
      settings = values;
      show();
    },
    async game(other) {
      list = await agentsOf(other);
      const was = state.text;
      fill();
      state.set(list.agents.some((each) => each.agent === parseSpec(was)[0]) ? was : list.default);
    },
  };

  function fill() {
    select.replaceChildren(...list.agents.map((each) =>
      make("option", { value: each.agent }, each.title ?? each.agent)));
  }

  function show() {
    const agent = selected();
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
      input = make("input", { id: name, type: "text", inputmode: setting.type === "int" ? "numeric" : "decimal",
        placeholder: shown, autocomplete: "off" });
      input.value = now;
    }
    input.dataset.setting = setting.name;
    input.addEventListener("change", () => {
      const value = input.value.trim();
      settings = { ...settings };
      if (value === "" || value.toLowerCase() === shown.toLowerCase()) delete settings[setting.name];
      else settings[setting.name] = value;
      onChange(state.text, selected());
    });
    return make("div", { class: "field" }, make("label", { for: name }, setting.name), input,
      setting.about && make("span", { class: "says", title: setting.about }, setting.about));
  }

  select.addEventListener("change", () => {
    settings = {};
    show();
    onChange(state.text, selected());
  });
  fill();
  state.set(text);
  return state;
}
