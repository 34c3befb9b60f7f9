// The numbers of a phase as tables: the terms of the bandits at a node, new nodes, random games, what is backed up.
import { count, make, percent } from "./dom.js";
import { label } from "./search-tree.js";

export const BANDITS = { ucb1: "UCB1", tuned: "UCB1-Tuned", puct: "PUCT" };
const FORMULAS = {
  ucb1: "mean + c √(ln N / n)",
  tuned: "mean + c √(ln N / n · min(c2, variance + c1 √(ln N / n)))",
  puct: "mean + c · prior · √N / (1 + n)",
};
const COLUMNS = { ucb1: ["exploration", "worth"], tuned: ["spread", "exploration", "worth"],
  puct: ["prior", "exploration", "worth"] };
const HEADS = { spread: "variance ≤", exploration: "bonus", worth: "sum", prior: "prior" };

const number = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
const cell = (tag, text, attributes = {}) => make(tag, attributes, text);

function table(heads, rows, caption) {
  return make("table", { class: "search-table" }, make("caption", { class: "visually-hidden" }, caption),
    make("thead", {}, heads), make("tbody", {}, rows));
}

/** The terms of all bandits at a node of the path; `settings` are those of the search. */
export function terms(choice, nodes, settings) {
  const name = (child) => label(nodes.get(child.node), nodes);
  if (choice.side === "chance") {
    const rows = choice.children.map((child) => make("tr", { class: child.node === choice.selected && "chosen",
      "data-node": child.node }, cell("th", name(child), { scope: "row" }), cell("td", count(child.visits)),
    cell("td", percent(nodes.get(child.node).chance))));
    return [make("p", { class: "small" }, "A chance node: no bandit chooses here. The die is rolled."),
      table([make("tr", {}, ["outcome", "visits", "probability"].map((text) => cell("th", text, { scope: "col" })))],
        rows, "Outcomes of the die")];
  }
  const top = make("tr", {}, make("td", { colspan: 4 }), Object.entries(BANDITS).map(([key, text]) =>
    cell("th", text, { colspan: COLUMNS[key].length, scope: "colgroup", class: key === settings.ucb ? "own" : null })));
  const heads = make("tr", {}, ["child", "visits n", "mean", "variance"].map((text) =>
    cell("th", text, { scope: "col" })), Object.keys(BANDITS).flatMap((key) => COLUMNS[key].map((column) =>
    cell("th", HEADS[column], { scope: "col", class: key === settings.ucb ? "own" : null }))));
  const rows = choice.children.map((child) => make("tr", { class: child.node === choice.selected && "chosen",
    "data-node": child.node }, cell("th", name(child), { scope: "row" }), cell("td", count(child.visits)),
  cell("td", number(child.mean)), cell("td", number(child.variance)),
  Object.keys(BANDITS).flatMap((key) => COLUMNS[key].map((column) => {
    const value = column === "prior" ? child.prior : child.bandits[key][column];
    const goes = column === "worth" && choice.would[key] === child.node;
    return cell("td", `${column === "worth" && child.visits === 0 ? "∞" : number(value)}${goes ? " ◂" : ""}`, {
      "data-bandit": key, "data-column": column, "data-value": value,
      class: [goes && "strong", key === settings.ucb && "own"].filter(Boolean).join(" ") || null });
  }))));
  const proven = choice.children.some((child) => child.proven);
  return [table([top, heads], rows, `Children of the node, ${choice.side} to move, with the terms of three bandits`),
    make("p", { class: "small muted" }, `N = ${count(choice.visits)}, means are of ${choice.side}, who moves here. ◂: `
      + `where each bandit would go.${proven ? " A child that is proven lost is not selected." : ""}`),
    make("p", { class: "small" }, make("b", {}, `${BANDITS[settings.ucb]}: `), make("code", {}, FORMULAS[settings.ucb]),
      ` with ${["c", "c1", "c2", "k"].filter((key) => key in settings).map((key) => `${key} = ${settings[key]}`)
        .join(", ")}`)];
}

/** The nodes that were added. */
export function added(step, nodes) {
  if (!step.expanded.length) return [make("p", {}, "No node is added.")];
  return [make("p", {}, `New nodes: ${step.expanded.map((each) => label(nodes.get(each.node), nodes)).join(", ")}`)];
}

/** The random games: which node they begin at, and their results. */
export function games(step, nodes, side) {
  const rows = step.playouts.map((each) => make("tr", { "data-node": each.node },
    cell("th", label(nodes.get(each.node), nodes), { scope: "row" }),
    cell("td", each.known ? "none: the result is known" : each.games),
    cell("td", each.known ? "–" : `${each.steps.length}`),
    cell("td", each.results.map((one) => (one === 1 ? "won" : one === 0 ? "lost" : "drawn")).join(" ") || "–")));
  return [table([make("tr", {}, ["from", "games", "steps of the first", `results of ${side}`].map((text) =>
    cell("th", text, { scope: "col" })))], rows, "Random games")];
}

/** Visits and values before and after. */
export function backedUp(step, nodes, side) {
  const arrow = ([before, after], text) => [cell("td", text(before)), cell("td", text(after), {
    class: before === after ? null : "strong" })];
  const value = (each) => (each === null ? "–" : percent(each));
  const rows = step.backup.map((each) => make("tr", { "data-node": each.node, "data-visits": each.visits[1],
    "data-total": each.total[1], class: step.path.includes(each.node) && "chosen" },
  cell("th", label(nodes.get(each.node), nodes), { scope: "row" }), arrow(each.visits, count),
  arrow(each.value, value), cell("td", each.proven === null ? "" : each.proven === 1 ? `${side} wins`
    : each.proven === 0 ? `${side} loses` : "drawn")));
  return [table([make("tr", {}, ["node", "visits", "after", `value for ${side}`, "after", "proven"].map((text) =>
    cell("th", text, { scope: "col" })))], rows, "Backup")];
}
