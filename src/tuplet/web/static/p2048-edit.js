// The board by hand: a palette, cells to click, and tiles that appear where one says.
import { choice, make } from "./dom.js";
import { notationOf } from "./p2048-game.js";

const TILES = [0, ...Array.from({ length: 17 }, (_, i) => 2 ** (i + 1))];

export class Editor {
  /** `onEdit(notation)` is called with every board that is made; `onDone()` when it is finished. */
  constructor(bar, { onEdit, onDone }) {
    Object.assign(this, { bar, onEdit });
    this.on = false;
    this.tile = 2;
    this.past = [];
    this.palette = make("div", { class: "palette", role: "group", "aria-label": "Tile to set" }, TILES.map((tile) =>
      make("button", { type: "button", "data-tile": tile, "aria-pressed": String(tile === this.tile), "aria-label": tile ? String(tile) : "empty", onclick: () => this.pick(tile) }, tile || "–")));
    this.score = make("input", { type: "number", id: "edit-score", min: 0, max: 5_000_000, step: 4, onchange: () => this.#make(this.tiles) });
    bar.append(
      make("p", { class: "small muted" }, "Click a cell to set it; right click, or press long, to raise it. What would the agent do?"),
      this.palette,
      make("div", { class: "row apart" },
        make("label", { class: "row small" }, "Points", this.score),
        make("div", { class: "row" },
          make("button", { type: "button", class: "quiet", id: "edit-clear", onclick: () => { this.score.value = 0; this.#make(this.tiles.map(() => 0)); } }, "Clear"),
          make("button", { type: "button", class: "primary", id: "edit-done", onclick: onDone }, "Done"))));
  }

  /** Begin with a position; `game` is the one it is of, to go on with if nothing is edited. */
  enter(position, game = null) {
    this.on = true;
    this.game = game;
    this.bar.hidden = false;
    this.past = [];
    this.follow(position);
  }

  follow(position) {
    this.position = position;
    this.tiles = [...position.tiles];
    this.score.value = position.score;
  }

  /** The game to go on with, unless another board was made. */
  leave() {
    this.on = false;
    this.bar.hidden = true;
    return this.past.length ? null : this.game;
  }

  pick(tile) {
    this.tile = tile;
    for (const button of this.palette.children) button.setAttribute("aria-pressed", String(Number(button.dataset.tile) === tile));
  }

  /** A cell was clicked: "set" or "raise". */
  cell(cell, how) {
    const was = this.tiles[cell];
    const raised = TILES[(TILES.indexOf(was) + 1) % TILES.length];
    const set = was === this.tile ? 0 : this.tile;
    this.#make(this.tiles.map((tile, at) => (at !== cell ? tile : how === "raise" ? raised : set)));
  }

  undo() {
    const before = this.past.pop();
    if (before) this.onEdit(before);
  }

  #make(tiles) {
    this.past.push(this.position.notation);
    this.tiles = tiles;
    const score = Math.max(0, Math.floor(Number(this.score.value) || 0));
    this.onEdit(notationOf(this.position.game, tiles, this.position.cells[0].length, score));
  }
}

/** What the rules dialog holds: size of the board, share of fours, who places tiles. `onChange(rules)`. */
export function rulesForm({ board, spawn4 }, youPlace, onRules, onPlace) {
  const [rows, columns] = board.split("x");
  const sizes = { 2: "2", 3: "3", 4: "4" };
  const share = make("input", { id: "spawn4", type: "number", min: 0, max: 1, step: "any", value: spawn4 });
  const place = make("input", { type: "checkbox", id: "you-place", onchange: () => onPlace(place.checked) });
  place.checked = youPlace;
  const high = choice("rows", sizes, rows, () => 0, "Rows");
  const wide = choice("columns", sizes, columns, () => 0, "Columns");
  return make("form", { class: "stack", onsubmit: (event) => {
    event.preventDefault();
    onRules({ board: `${high.value}x${wide.value}`, spawn4: share.value === "" ? "0.1" : share.value });
  } },
  make("label", { class: "check" }, place, make("span", {}, "I say where new tiles appear", make("span", { class: "tiny muted" }, " (click the cell; right click or a long press is a 4)"))),
  make("div", { class: "row wide" }, make("div", { class: "field" }, make("span", {}, "Rows"), high), make("div", { class: "field" }, make("span", {}, "Columns"), wide),
    make("div", { class: "field" }, make("label", { for: "spawn4" }, "Share of fours"), share)),
  make("p", { class: "tiny muted" }, "A new tile is a 4 with this probability (0.1 is usual), else a 2. The learned player knows 4x4 best: on other boards its values mean little, and a search (expectimax, mcts) says more."),
  make("footer", {}, make("button", { class: "primary", id: "rules-new", type: "submit" }, "New game by these rules")));
}
