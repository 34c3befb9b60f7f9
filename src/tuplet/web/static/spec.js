// Names with settings, of games and agents: "mcts:sims=100,c=0.5".

/** "mcts:sims=100,c=0.5" -> ["mcts", {sims: "100", c: "0.5"}] */
export function parseSpec(text) {
  const [name, ...rest] = text.split(":");
  const pairs = rest.join(":").split(",").map((part) => /^([^=]+)=(.*)$/.exec(part)).filter(Boolean);
  return [name, Object.fromEntries(pairs.map(([, key, value]) => [key, value]))];
}

/** The text of a name and its settings, without those that are empty or as in `defaults`. */
export function formatSpec(name, settings, defaults = {}) {
  const set = Object.entries(settings).filter(([key, value]) => ![undefined, null, "", defaults[key]].includes(value));
  return set.length ? `${name}:${set.map((pair) => pair.join("=")).join(",")}` : name;
}
