// Editing the board: a palette and cells to click. And the rules: size, share of fours, who places tiles.
import { choice, make } from "./dom.js";
import { formatSpec, parseSpec } from "./spec.js";

const RULES = { board: "4x4", spawn4: "0.1" }; // by default
const TILES = [0, ...Array.from({ length: 17 }, (_, i) => 2 ** (i + 1))];

export class Editor {
  /** `onEdit(notation)` is called with every new board, `onDone()` when editing is finished. */
  constructor(bar, { onEdit, onDone }) {
    this.bar = bar;
    this.onEdit = onEdit;
    this.on = false;
    this.tile = 2;
    this.past = [];
    this.palette = make("div", { class: "palette", role: "group", "aria-label": "Tile to set" }, TILES.map((tile) =>
      make("button", { type: "button", "data-tile": tile, "aria-pressed": String(tile === this.tile),
        "aria-label": tile ? String(tile) : "empty", onclick: () => this.pick(tile) }, tile || "–")));
    this.score = make("input", { type: "number", id: "edit-score", min: 0, max: 5_000_000, step: 4,
      onchange: () => this.#make(this.tiles) });
    const clear = () => {
      this.score.value = 0;
      this.#make(this.tiles.map(() => 0));
    };
    bar.append(
      make("p", { class: "small muted" },
        "Click a cell to set it. Right-click or long-press for the next larger tile."),
      this.palette,
      make("div", { class: "row apart" },
        make("label", { class: "row small" }, "Points", this.score),
        make("div", { class: "row" },
          make("button", { type: "button", class: "quiet", id: "edit-clear", onclick: clear }, "Clear"),
          make("button", { type: "button", class: "primary", id: "edit-done", onclick: onDone }, "Done"))));
  }

  /** Start from a position; `game` is the whole game, to go back to if nothing is changed. */
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

  /** The game to go back to; null if the board was changed. */
  leave() {
    this.on = false;
    this.bar.hidden = true;
    return this.past.length ? null : this.game;
  }

  pick(tile) {
    this.tile = tile;
    for (const button of this.palette.children) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.tile) === tile));
    }
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

/** The notation of a board: its tiles row by row. */
function notationOf(game, tiles, columns, score) {
  const row = (_, i) => tiles.slice(i * columns, (i + 1) * columns);
  const rows = Array.from({ length: tiles.length / columns }, row);
  return `${game} ${rows.join("/")} ${score}`;
}

/** Whether a game is played on this page. */
export const isOurs = (game) => /^2048(:|$)/.test(game);

/** The rows and columns of a game's board. */
export function boardOf(game) {
  const [, rows, columns] = /^([2-4])x([2-4])$/.exec(parseSpec(game)[1].board ?? RULES.board) ?? [0, 4, 4];
  return [Number(rows), Number(columns)];
}

/** The form of the rules. `onRules(game)` starts a game by them, `onPlace(byHand)` changes who places tiles. */
export function rulesForm(game, byHand, onRules, onPlace) {
  const [rows, columns] = boardOf(game), sizes = { 2: "2", 3: "3", 4: "4" };
  const spawn4 = make("input", { id: "spawn4", type: "number", min: 0, max: 1, step: "any",
    value: parseSpec(game)[1].spawn4 ?? RULES.spawn4 });
  const place = make("input", { type: "checkbox", id: "you-place", onchange: () => onPlace(place.checked) });
  place.checked = byHand;
  const high = choice("rows", sizes, String(rows), () => 0, "Rows");
  const wide = choice("columns", sizes, String(columns), () => 0, "Columns");
  const submit = (event) => {
    event.preventDefault();
    const share = spawn4.value === "" ? RULES.spawn4 : String(Number(spawn4.value));
    onRules(formatSpec("2048", { board: `${high.value}x${wide.value}`, spawn4: share }, RULES));
  };
  return make("form", { class: "stack", onsubmit: submit },
    make("label", { class: "check" }, place, make("span", {}, "I place the new tiles",
      make("span", { class: "tiny muted" }, " (click a cell for a 2; right-click or long-press for a 4)"))),
    make("div", { class: "row wide" },
      make("div", { class: "field" }, make("span", {}, "Rows"), high),
      make("div", { class: "field" }, make("span", {}, "Columns"), wide),
      make("div", { class: "field" }, make("label", { for: "spawn4" }, "Share of fours"), spawn4)),
    make("p", { class: "tiny muted" }, "A new tile is a 4 with this probability (0.1 by default), otherwise a 2. The "
      + "built-in player was trained on 4x4. On other boards a search (expectimax, mcts) is more reliable."),
    make("footer", {},
      make("button", { class: "primary", id: "rules-new", type: "submit" }, "New game with these rules")));
}
