// What learned values are made of: each tuple on a small board, each feature by its name, and what it adds to a move.
import { make, mini } from "./dom.js";
import { chip, other } from "./ewn-words.js";

const MAX_ROWS = 8; // parts that tell moves apart most; a button shows the others
const isTuple = (part) => /^\d/.test(part);
const signed = (value) =>
  (Math.abs(value) < 0.0005 ? "0.000" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`);

export class Why {
  constructor(host) {
    this.host = host;
    this.all = false;
  }

  /** `flip`: Blue's corner is drawn at the bottom right. */
  show({ why, best }, position, flip) {
    const show = () => this.show({ why, best }, position, flip);
    const { length: rows } = position.cells, { length: columns } = position.cells[0];
    const moves = position.legal_moves.filter((move) => Object.values(why).some((worth) => move in worth));
    // The side that moves next is the one that the network sees going to the bottom right.
    const next = position.die_rule === "chosen" && moves[0]?.[0] !== "=" ? position.turn : other(position.turn);
    const turned = (next === "blue") !== flip;
    const cellsOf = (part) => part.split("/")[0].split("-").map((cell) =>
      (turned ? rows * columns - 1 - Number(cell) : Number(cell)));
    const spread = (worth) => Math.max(...Object.values(worth)) - Math.min(...Object.values(worth));
    const parts = Object.entries(why).sort(([, one], [, two]) => spread(two) - spread(one));
    const most = Math.max(1e-9, ...parts.flatMap(([, worth]) => Object.values(worth).map(Math.abs)));
    const total = (move) => parts.reduce((sum, [, worth]) => sum + (worth[move] ?? 0), 0);
    const cell = (value, move, bar = null) => make("td", { class: `number${move === best ? " strong" : ""}`,
      "data-move": move }, value === undefined ? "–" : signed(value), bar);
    const bar = (value) => (value === undefined ? null : make("i", { class: value < 0 ? "less" : "more",
      "aria-hidden": "true", vars: { "--share": Math.abs(value) / most } }));
    const body = parts.slice(0, this.all ? parts.length : MAX_ROWS).map(([part, worth]) =>
      make("tr", { "data-part": part },
        make("th", { scope: "row" }, isTuple(part)
          ? [mini(cellsOf(part), rows, columns), make("span", { class: "visually-hidden", text: `cells ${part}` })]
          : part),
        ...moves.map((move) => cell(worth[move], move, bar(worth[move])))));
    const sum = make("tr", { class: "total" }, make("th", { scope: "row", text: "sum" }),
      ...moves.map((move) => cell(total(move), move)));
    const heads = moves.map((move) => make("th", { scope: "col" }, chip(position.turn, move, flip)));
    this.host.replaceChildren(
      make("p", { class: "tiny muted", text: "A tuple is a few cells (marked) with a table of weights. It is looked up "
        + "on the board after the move, also mirrored if the rules are. Features count cubes and turns. "
        + `What they add is the log-odds of winning for ${position.turn}, before any search.` }),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Values by tuple and feature" },
        make("table", { class: "ewn-why" },
          make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "tuple" }), ...heads)),
          make("tbody", {}, ...body, sum))),
      ...(parts.length <= MAX_ROWS ? [] : [make("button", { type: "button", class: "link tiny",
        text: this.all ? "only the largest differences" : `all ${parts.length}`,
        onclick: () => { this.all = !this.all; show(); } })]));
  }
}
