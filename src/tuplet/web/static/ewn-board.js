// The board as SVG: cubes that slide, squares to click, and arrows of the main line.
import { draw } from "./dom.js";
import { inWords } from "./ewn-words.js";

const CELL = 100, EDGE = 14;
const MAX_ARROWS = 8;

export class Board {
  /** Calls `onMove(move)` for a legal move, `onSwap(a, b)` while cubes are placed, and `onWrong(cube)` for a cube that
   * cannot move, or (null) for a square where it cannot go. */
  constructor(host, { onMove, onSwap, onWrong }) {
    this.onMove = onMove;
    this.onSwap = onSwap;
    this.onWrong = onWrong;
    this.squares = draw("g", { onclick: () => this.ignoreClick || this.onWrong(null) });
    this.marks = draw("g", {});
    this.cubes = draw("g", {});
    this.targets = draw("g", {});
    this.line = draw("g", { class: "line", "aria-hidden": "true" });
    const layers = [this.squares, this.marks, this.cubes, this.targets, this.line];
    this.root = draw("svg", { class: "ewn-board", role: "group" }, layers);
    host.append(this.root);
    this.standing = new Map(); // cube's name -> its element
    this.chosen = null;
    this.drawn = "";
    this.options = {};
    this.root.addEventListener("pointermove", (event) => this.#drag(event));
    this.root.addEventListener("pointerup", (event) => this.#drop(event));
    this.root.addEventListener("pointercancel", () => this.#letGo());
  }

  /** Show a position. Options: flip, movable (a person may move), placing (a side), last ({from, to}). */
  show(position, options = {}) {
    this.position = position;
    this.options = { flip: false, movable: false, placing: null, last: null, ...options };
    this.rows = position.cells.length;
    this.columns = position.cells[0].length;
    this.#drawSquares();
    this.#drawMarks();
    this.#placeCubes();
    const own = this.#cubesToMove();
    if (!own.includes(this.chosen)) this.chosen = own.length === 1 ? own[0] : null;
    this.#offer();
    this.root.setAttribute("aria-label", `Board, ${this.rows} rows of ${this.columns}. ${position.caption}.`);
  }

  /** The numbers of the cubes that may move now. */
  get choices() {
    return this.#cubesToMove().map((cube) => cube.slice(1));
  }

  /** Select a cube by its number; false if it may not move. */
  choose(number) {
    const name = this.#cubesToMove().find((cube) => cube.slice(1) === String(number));
    if (!name) return false;
    this.#choose(name);
    return true;
  }

  /** Deselect the cube; false if none was selected. */
  release() {
    if (!this.chosen || this.#cubesToMove().length < 2) return false;
    this.#choose(null);
    return true;
  }

  /** Move the chosen cube (or the only one that can) by rows and columns of the screen. */
  step(down, right) {
    const turn = this.options.flip ? -1 : 1;
    const fits = this.#moves().filter(({ from, to }) =>
      to[0] - from[0] === turn * down && to[1] - from[1] === turn * right);
    const chosen = fits.filter(({ cube }) => cube === this.chosen);
    const [move] = chosen.length ? chosen : fits.length === 1 ? fits : [];
    if (move) this.onMove(move.move);
    return Boolean(move);
  }

  /** Arrows of a line: [{side, from, to}, …], the next move first and boldest. */
  arrows(path) {
    this.path = path;
    this.line.replaceChildren();
    for (const [number, step] of [...path.entries()].slice(0, MAX_ARROWS).reverse()) {
      if (!step.from || !step.to) continue;
      const [x1, y1] = this.#middle(step.from), [x2, y2] = this.#middle(step.to);
      const long = Math.hypot(x2 - x1, y2 - y1), ux = (x2 - x1) / long, uy = (y2 - y1) / long;
      const wide = Math.max(15 - 2 * number, 5), tip = wide * 2.1;
      const [sx, sy] = [x1 + ux * 24, y1 + uy * 24], [ex, ey] = [x2 - ux * 14, y2 - uy * 14];
      const [bx, by] = [ex - ux * tip, ey - uy * tip];
      const half = wide / 2, flank = wide * 1.25;
      const points = [
        [sx - uy * half, sy + ux * half], [bx - uy * half, by + ux * half], [bx - uy * flank, by + ux * flank],
        [ex, ey],
        [bx + uy * flank, by - ux * flank], [bx + uy * half, by - ux * half], [sx + uy * half, sy - ux * half],
      ];
      const arrow = draw("g", { class: `arrow ${step.side}`, opacity: Math.max(1 - 0.09 * number, 0.4) },
        draw("polygon", { points: points.map((p) => p.map((v) => v.toFixed(1)).join()).join(" ") }));
      if (path.length > 1) {
        const [mx, my] = [(sx + bx) / 2, (sy + by) / 2];
        arrow.append(draw("circle", { cx: mx, cy: my, r: 13 }),
          draw("text", { x: mx, y: my + 6, "text-anchor": "middle", text: number + 1 }));
      }
      this.line.append(arrow);
    }
  }

  #at([row, column]) {
    const { flip } = this.options;
    const r = flip ? this.rows - 1 - row : row, c = flip ? this.columns - 1 - column : column;
    return [EDGE + c * CELL, EDGE + r * CELL];
  }

  #middle(square) {
    return this.#at(square).map((v) => v + CELL / 2);
  }

  #drawSquares() {
    const { goals } = this.position;
    const drawn = JSON.stringify([this.rows, this.columns, this.options.flip, goals]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const wide = this.columns * CELL + 2 * EDGE, tall = this.rows * CELL + 2 * EDGE;
    this.root.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
    this.root.closest(".ewn-table")?.style.setProperty("--ratio", wide / tall);
    this.squares.replaceChildren(draw("rect", { class: "frame", width: wide, height: tall, rx: 22 }));
    for (let row = 0; row < this.rows; row++) {
      for (let column = 0; column < this.columns; column++) {
        const [x, y] = this.#at([row, column]);
        const goal = Object.keys(goals).find((side) => goals[side][0] === row && goals[side][1] === column);
        const name = `square ${(row + column) % 2 ? "" : "even"} ${goal ? `goal ${goal}` : ""}`;
        this.squares.append(draw("rect", {
          class: name, x: x + 2, y: y + 2, width: CELL - 4, height: CELL - 4, rx: 10 }));
        if (!goal) continue;
        const flag = draw("g", { class: `flag ${goal}`, transform: `translate(${x} ${y})` },
          draw("title", { text: `${goal}'s goal` }),
          draw("rect", { class: "ring", x: 15, y: 15, width: 70, height: 70, rx: goal === "red" ? 12 : 34 }),
          draw("path", { d: "M40 72V28L66 38L40 49" }));
        this.squares.append(flag);
      }
    }
  }

  #drawMarks() {
    this.marks.replaceChildren();
    const { last } = this.options;
    for (const square of last ? [last.from, last.to] : []) {
      if (!square) continue;
      const [x, y] = this.#at(square);
      this.marks.append(draw("rect", {
        class: `last ${last.side}`, x: x + 3.5, y: y + 3.5, width: CELL - 7, height: CELL - 7, rx: 9 }));
    }
  }

  #placeCubes() {
    const { cubes } = this.position;
    for (const [name, element] of this.standing) {
      if (name in cubes) continue;
      this.standing.delete(name);
      element.classList.add("taken");
      setTimeout(() => element.remove(), 260);
    }
    for (const [name, square] of Object.entries(cubes)) {
      let element = this.standing.get(name);
      if (!element) {
        const side = name[0] === "r" ? "red" : "blue";
        element = draw("g", { class: `cube ${side}`, "data-cube": name },
          draw("rect", { class: "edge", x: 12, y: 17, width: 76, height: 74, rx: side === "red" ? 14 : 32 }),
          draw("rect", { class: "top", x: 12, y: 11, width: 76, height: 74, rx: side === "red" ? 14 : 32 }),
          draw("text", { x: 50, y: 64, "text-anchor": "middle", text: name.slice(1) }));
        element.addEventListener("pointerdown", (event) => this.#grab(event, name));
        element.addEventListener("click", () => this.#clicked(name));
        element.addEventListener("keydown", (event) => this.#pressed(event, () => this.#clicked(name)));
        this.standing.set(name, element);
        this.cubes.append(element);
      }
      const [x, y] = this.#at(square);
      if (this.dragged?.name !== name) element.style.transform = `translate(${x}px, ${y}px)`;
      element.dataset.square = square.join();
    }
  }

  /** Legal moves of cubes: {move, cube, from, to}. */
  #moves() {
    const { legal_moves: moves, targets, turn, cubes } = this.position;
    if (!this.options.movable) return [];
    return moves.filter((move) => targets[move]).map((move) => {
      const cube = turn[0] + move.slice(0, -1);
      return { move, cube, from: cubes[cube], to: targets[move] };
    });
  }

  #cubesToMove() {
    const { placing } = this.options;
    if (placing) return Object.keys(this.position.cubes).filter((cube) => placing.includes(cube[0]));
    return [...new Set(this.#moves().map(({ cube }) => cube))];
  }

  /** Mark the cubes that can move, and their target squares. */
  #offer() {
    const own = this.#cubesToMove(), { placing } = this.options;
    for (const [name, element] of this.standing) {
      const may = own.includes(name), side = name[0] === "r" ? "red" : "blue";
      element.classList.toggle("movable", may);
      element.classList.toggle("chosen", may && name === this.chosen);
      if (may) {
        element.setAttribute("tabindex", 0);
        element.setAttribute("role", "button");
        element.setAttribute("aria-pressed", String(name === this.chosen));
        const label = `${side} cube ${name.slice(1)}`;
        element.setAttribute("aria-label", placing ? `${label}: select it to swap it` : `${label}, may move`);
      } else for (const gone of ["tabindex", "role", "aria-pressed", "aria-label"]) element.removeAttribute(gone);
    }
    const kept = this.targets.contains(document.activeElement);
    this.targets.replaceChildren();
    // A click on a cube that may move selects it first.
    const free = (to) => !own.some((name) => this.position.cubes[name].join() === to.join());
    const shown = this.#moves().filter(({ cube, to }) => (this.chosen ? cube === this.chosen : free(to)));
    const squares = new Map();
    for (const move of shown) squares.set(move.to.join(), [...(squares.get(move.to.join()) ?? []), move]);
    for (const moves of squares.values()) {
      const [{ to, cube }] = moves, [x, y] = this.#at(to);
      const taken = Object.keys(this.position.cubes).find((name) => this.position.cubes[name].join() === to.join());
      const what = taken ? `, takes ${taken[0] === "r" ? "red" : "blue"} ${taken.slice(1)}` : "";
      const side = cube[0] === "r" ? "red" : "blue";
      const goal = this.position.goals[side]?.join() === to.join() ? ", the goal" : "";
      const play = () => (moves.length === 1 ? this.onMove(moves[0].move) : this.#choose(cube));
      this.targets.append(draw("g", {
        class: `target ${side} ${taken ? "takes" : ""} ${this.chosen ? "" : "faint"}`,
        transform: `translate(${x} ${y})`,
        "data-move": moves.length === 1 ? moves[0].move : null,
        role: "button", tabindex: 0, onclick: play, onkeydown: (event) => this.#pressed(event, play),
        "aria-label": `${inWords(side, moves[0].move)} to row ${to[0] + 1}, column ${to[1] + 1}${what}${goal}`,
      },
      draw("rect", { class: "hit", x: 2, y: 2, width: CELL - 4, height: CELL - 4, rx: 10 }),
      taken ? draw("rect", { class: "ring", x: 7, y: 6, width: 86, height: 86, rx: taken[0] === "r" ? 18 : 38 })
        : draw("circle", { class: "dot", cx: 50, cy: 50, r: 15 })));
    }
    if (kept) this.targets.firstElementChild?.focus();
  }

  #choose(name) {
    this.chosen = name;
    this.#offer();
  }

  #pressed(event, act) {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  #clicked(name) {
    if (this.ignoreClick) return;
    const { placing } = this.options;
    if (!this.#cubesToMove().includes(name)) this.onWrong(name);
    else if (placing && this.chosen && this.chosen !== name && this.chosen[0] === name[0]) {
      const first = this.chosen;
      this.chosen = null;
      this.onSwap(first, name);
    } else this.#choose(this.chosen === name && this.#cubesToMove().length > 1 ? null : name);
  }

  #point(event) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(this.root.getScreenCTM().inverse());
  }

  #grab(event, name) {
    this.ignoreClick = false;
    if (event.button !== 0 || !this.#cubesToMove().includes(name)) return;
    const element = this.standing.get(name), point = this.#point(event);
    const [x, y] = this.#at(this.position.cubes[name]);
    this.dragged = {
      name, element, dx: point.x - x, dy: point.y - y, x: event.clientX, y: event.clientY, moved: false };
  }

  #drag(event) {
    const drag = this.dragged;
    if (!drag) return;
    if (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 7) return;
    if (!drag.moved) {
      drag.moved = true;
      this.root.setPointerCapture(event.pointerId);
      drag.element.classList.add("dragged");
      this.cubes.append(drag.element);
      this.#choose(drag.name);
    }
    const point = this.#point(event);
    drag.element.style.transform = `translate(${point.x - drag.dx}px, ${point.y - drag.dy}px)`;
  }

  #drop(event) {
    const drag = this.dragged;
    if (!drag?.moved) {
      this.dragged = null;
      return;
    }
    this.ignoreClick = true; // the click after a drag
    setTimeout(() => { this.ignoreClick = false; }, 0);
    const point = this.#point(event), { flip, placing } = this.options;
    const c = Math.floor((point.x - EDGE) / CELL), r = Math.floor((point.y - EDGE) / CELL);
    const square = [flip ? this.rows - 1 - r : r, flip ? this.columns - 1 - c : c].join();
    this.#letGo();
    if (placing) {
      const on = this.#cubesToMove().find((name) => this.position.cubes[name].join() === square);
      this.chosen = null;
      if (on && on !== drag.name && on[0] === drag.name[0]) this.onSwap(drag.name, on);
      else this.#offer();
      return;
    }
    const move = this.#moves().find(({ cube, to }) => cube === drag.name && to.join() === square);
    if (move) this.onMove(move.move);
    else if (this.position.cubes[drag.name].join() !== square) this.onWrong(null);
  }

  #letGo() {
    const drag = this.dragged;
    this.dragged = null;
    if (!drag) return;
    drag.element.classList.remove("dragged");
    const [x, y] = this.#at(this.position.cubes[drag.name]);
    drag.element.style.transform = `translate(${x}px, ${y}px)`;
  }
}
