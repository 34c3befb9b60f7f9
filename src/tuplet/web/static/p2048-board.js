// The board: tiles that slide and merge, cells to click, a mark at the best move, a tuple's placements.
import { draw, make } from "./dom.js";

const SLIDE = 100; // ms
const calm = matchMedia("(prefers-reduced-motion: reduce)");
// The offset of each of eight lines inside a cell, as shares of its size: around the number.
const TRACKS = [[-.28, -.38], [.28, .38], [.38, -.28], [-.38, .28], [.06, -.32], [-.06, .32], [.33, .14], [-.33, -.14]];
export const HUES = ["#0b6e99", "#c2571a", "#3f8f4f", "#a3357a", "#a07b12", "#5b5bd6", "#b3382c", "#5e6b2d"];

export class BoardView {
  /** Calls: onSwipe(move), onCell(cell, how) with how "set" or "raise". */
  constructor(element, { onSwipe, onCell }) {
    this.element = element;
    this.cells = make("div", { class: "layer cells" });
    this.layer = make("div", { class: "layer", "aria-hidden": "true" });
    element.append(this.cells, this.layer);
    this.tiles = new Map(); // cell -> element
    this.rows = this.columns = 0;
    this.timer = null;
    this.#listen(onSwipe, onCell);
  }

  /** Show an empty board until there is a position. */
  blank(rows, columns) {
    this.#size(Array.from({ length: rows }, () => Array(columns).fill("")));
  }

  /** Show a position at once; only the tile of `outcome` (2@5) appears. */
  show(position, outcome = null) {
    this.finish();
    this.#size(position.cells);
    this.#settle(position.tiles, new Set(), outcome ? Number(outcome.split("@")[1]) : -1);
    this.#describe(position);
  }

  /**
   * Show the position after a move: tiles slide by `motion`, then merged ones swell and the tile of `outcome` (2@5)
   * appears. Tiles that still slide arrive at once.
   */
  slide(position, motion, outcome, time = SLIDE) {
    this.finish();
    if (calm.matches || !motion || time < 30 || motion.some(({ from }) => !this.tiles.has(from))) {
      this.show(position);
      return;
    }
    this.element.style.setProperty("--slide", `${time}ms`);
    void this.element.offsetWidth; // lay out first: transitions start now
    this.element.classList.remove("still");
    const merged = new Set();
    for (const { from, to, merged: twice } of motion) {
      this.#put(this.tiles.get(from), to);
      if (twice) merged.add(to);
    }
    const spawned = outcome ? Number(outcome.split("@")[1]) : -1;
    this.finish = () => {
      clearTimeout(this.timer);
      this.finish = BoardView.prototype.finish;
      // Of two tiles that merged, one element stays.
      const stand = new Map();
      for (const { from, to } of motion) {
        const element = this.tiles.get(from);
        if (stand.has(to)) element.remove();
        else stand.set(to, element);
      }
      this.tiles = stand;
      this.#settle(position.tiles, merged, spawned);
    };
    this.timer = setTimeout(() => this.finish(), time);
    this.#describe(position);
  }

  /** Let sliding tiles arrive at once. */
  finish() {}

  /** Mark the edge in the direction of the best move; null: none. */
  hint(move) {
    this.element.querySelector(".hint")?.remove();
    if (move) this.element.append(make("div", { class: "hint", "data-move": move, "aria-hidden": "true" }));
  }

  /** Show a card over the board; without elements, remove it. */
  over(...inside) {
    this.element.querySelector(".over")?.remove();
    if (inside.length) this.element.append(make("div", { class: "over" }, make("div", { class: "card" }, ...inside)));
  }

  /** Make cells clickable: "edit", "place" (only the `free` ones), or null. */
  activate(mode, free = []) {
    this.mode = mode;
    this.element.classList.toggle("active", mode !== null);
    this.element.classList.toggle("placing", mode === "place");
    const open = new Set(free);
    let first = true;
    for (const [cell, button] of this.buttons.entries()) {
      const can = mode === "edit" || (mode === "place" && open.has(cell));
      button.disabled = !can;
      button.classList.toggle("free", mode === "place" && can);
      button.tabIndex = can && first ? 0 : -1;
      if (can) first = false;
    }
    this.cells.inert = mode === null;
  }

  /** Draw the placements of a tuple: [{cells, weight}]; `only`: one of them, the others faint. */
  lines(placements, format, only = null) {
    this.element.querySelector(".lines")?.remove();
    this.element.classList.toggle("explained", placements !== null);
    if (!placements) return;
    const wide = 100;
    const gap = 2.2;
    const size = (wide - (this.columns + 1) * gap) / this.columns;
    const high = this.rows * (size + gap) + gap;
    const svg = draw("svg", { class: "lines", viewBox: `0 0 ${wide} ${high}`, "aria-hidden": "true" });
    const taken = []; // where labels stand: they never cover each other
    const labels = [];
    placements.forEach(({ cells, weight }, i) => {
      const [dx, dy] = TRACKS[i % 8];
      const at = (cell) => [
        gap + (cell % this.columns) * (size + gap) + size * (.5 + dx),
        gap + Math.floor(cell / this.columns) * (size + gap) + size * (.5 + dy),
      ];
      const colour = HUES[i % 8];
      const faint = only !== null && only !== i ? "faint" : "";
      const group = draw("g", { class: faint, stroke: colour, fill: colour, "stroke-width": 1,
        "stroke-linecap": "round" });
      for (const cell of cells) {
        const [x, y] = at(cell);
        for (const other of [cell + 1, cell + this.columns]) {
          if (!cells.includes(other) || (other === cell + 1 && other % this.columns === 0)) continue;
          const [x2, y2] = at(other);
          group.append(draw("line", { x1: x, y1: y, x2, y2 }));
        }
        group.append(draw("circle", { cx: x, cy: y, r: 1.15, stroke: "none" }));
      }
      svg.append(group);
      const text = format(weight);
      const width = text.length * 1.95 + 2.4;
      let [cx, cy] = at(cells[0]);
      cx = Math.max(width / 2 + .6, Math.min(wide - width / 2 - .6, cx));
      const covered = ([x, y, w]) => Math.abs(y - cy) < 5 && Math.abs(x - cx) < (w + width) / 2 + .5;
      while (taken.some(covered)) cy += cy > high / 2 ? -5.2 : 5.2;
      taken.push([cx, cy, width]);
      labels.push([faint, draw("g", {
        class: `weight ${faint}`, transform: `translate(${cx} ${cy})`, "data-weight": weight },
      draw("rect", { x: -width / 2, y: -2.3, width, height: 4.6, rx: 1.6, stroke: colour }),
      draw("text", { "text-anchor": "middle", y: 1.15 }, text))]);
    });
    labels.sort(([a], [b]) => (a === b ? 0 : a ? -1 : 1));
    svg.append(...labels.map(([, label]) => label));
    this.element.append(svg);
  }

  #size(cells) {
    const [rows, columns] = [cells.length, cells[0].length];
    if (rows === this.rows && columns === this.columns) return;
    [this.rows, this.columns] = [rows, columns];
    this.element.style.setProperty("--rows", rows);
    this.element.style.setProperty("--columns", columns);
    this.element.classList.toggle("narrow", rows > columns);
    for (const tile of this.tiles.values()) tile.remove();
    this.tiles.clear();
    this.buttons = Array.from({ length: rows * columns }, (_, cell) => {
      const button = make("button", {
        class: "cell", type: "button", "data-cell": cell, disabled: true, tabindex: "-1" });
      this.#put(button, cell);
      return button;
    });
    this.cells.replaceChildren(...this.buttons);
    this.cells.inert = true;
  }

  #put(element, cell) {
    element.style.setProperty("--r", Math.floor(cell / this.columns));
    element.style.setProperty("--c", cell % this.columns);
    element.dataset.cell = cell;
  }

  #settle(tiles, merged = new Set(), spawned = -1) {
    this.element.classList.add("still");
    tiles.forEach((tile, cell) => {
      let element = this.tiles.get(cell);
      if (!tile) {
        element?.remove();
        this.tiles.delete(cell);
        return;
      }
      if (!element) {
        element = make("div", { class: "tile" });
        this.layer.append(element);
        this.tiles.set(cell, element);
      }
      this.#put(element, cell);
      element.classList.toggle("new", cell === spawned);
      element.classList.toggle("merged", merged.has(cell));
      if (element.dataset.tile !== String(tile)) {
        element.dataset.tile = tile;
        element.dataset.digits = String(tile).length;
        element.textContent = tile;
      }
    });
  }

  #describe(position) {
    const rows = position.cells.map((row) => row.map((tile) => tile || "empty").join(", "));
    this.element.setAttribute("aria-label", `Board, row by row: ${rows.join("; ")}`);
    this.element.dataset.notation = position.notation;
    this.buttons.forEach((button, cell) => {
      const tile = position.tiles[cell] || "empty";
      const [row, column] = [Math.floor(cell / this.columns) + 1, cell % this.columns + 1];
      button.setAttribute("aria-label", `Row ${row}, column ${column}: ${tile}`);
    });
  }

  #listen(onSwipe, onCell) {
    let from = null;
    let longPress = null;
    let consumed = false;
    const cellOf = (event) => {
      const button = event.target.closest?.(".cell");
      return button && !button.disabled ? Number(button.dataset.cell) : null;
    };
    const release = () => clearTimeout(longPress);
    this.element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.target.closest(".over")) return;
      from = { x: event.clientX, y: event.clientY, id: event.pointerId };
      consumed = false;
      const cell = cellOf(event);
      release();
      if (this.mode && cell !== null) {
        longPress = setTimeout(() => {
          consumed = true;
          from = null;
          onCell(cell, "raise");
        }, 450);
      }
      if (!this.mode) this.element.setPointerCapture?.(event.pointerId);
    });
    this.element.addEventListener("pointermove", (event) => {
      if (!from || event.pointerId !== from.id) return;
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      if (Math.hypot(dx, dy) < 24) return;
      release();
      if (this.mode) return;
      from = null; // one swipe, one move: sent as soon as its direction is clear
      const wide = Math.abs(dx) > Math.abs(dy);
      onSwipe(wide ? (dx > 0 ? "right" : "left") : dy > 0 ? "down" : "up");
    });
    for (const name of ["pointerup", "pointercancel"]) {
      this.element.addEventListener(name, () => { from = null; release(); });
    }
    this.cells.addEventListener("click", (event) => {
      const cell = cellOf(event);
      if (cell !== null && !consumed) onCell(cell, "set");
      consumed = false;
    });
    this.element.addEventListener("contextmenu", (event) => {
      const cell = cellOf(event);
      if (this.mode) event.preventDefault();
      if (cell !== null && !consumed && event.pointerType !== "touch") onCell(cell, "raise");
    });
    // Keys: arrows move the focus, + takes the next larger tile, Enter and Space set the cell.
    this.cells.addEventListener("keydown", (event) => {
      const cell = cellOf(event);
      const step = { ArrowUp: -this.columns, ArrowDown: this.columns, ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (cell === null) return;
      if (event.key === "+" || event.key === "=") onCell(cell, "raise");
      else if (step) {
        for (let next = cell + step; next >= 0 && next < this.buttons.length; next += step) {
          if (this.buttons[next].disabled) continue;
          this.buttons.forEach((button) => { button.tabIndex = -1; });
          this.buttons[next].tabIndex = 0;
          this.buttons[next].focus();
          break;
        }
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
}
