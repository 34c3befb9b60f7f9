// Placing cubes before a game: they stand on their starting squares in any order.

import { post } from "./api.js";
import { fail } from "./shell.js";

const SIDES = ["red", "blue"];

/** The numbers of a side's cubes in the order of its starting squares. */
const order = (side, { starts, cells }) => starts[side].map(([row, column]) => cells[row][column].slice(1)).join("");

export class Placing {
  /** `table`: sitting, state, halt(), changed(jump), advance(), draw(). */
  constructor(table) {
    this.table = table;
    this.sides = null; // whose cubes are being placed, as letters
  }

  /** Whether no cube has moved yet. */
  possible() {
    const { sitting: { position, steps }, state } = this.table;
    const home = SIDES.every((side) => position.starts[side].every(([row, column]) => position.cells[row][column][0] === side[0]));
    return home && state.panel !== "watch" && !steps.some(([move]) => move && !move.startsWith("="));
  }

  toggle() {
    const { table } = this;
    if (this.sides) {
      this.sides = null;
      table.changed(true);
      table.advance();
    } else if (this.possible()) {
      table.halt();
      this.sides = SIDES.filter((side) => table.state[side] === "you").map((side) => side[0]).join("") || "rb";
      this.#arrange(...this.#orders());
    }
  }

  swap(one, two) {
    const [a, b] = [one.slice(1), two.slice(1)];
    const exchange = (text) => [...text].map((number) => (number === a ? b : number === b ? a : number)).join("");
    this.#arrange(...this.#orders().map((text, i) => (SIDES[i][0] === one[0] ? exchange(text) : text)));
  }

  async shuffle() {
    const { position } = await post("/api/position", { game: this.table.state.game });
    this.#arrange(...this.#orders().map((text, i) => (this.sides.includes(SIDES[i][0]) ? order(SIDES[i], position) : text)));
  }

  #orders() {
    return SIDES.map((side) => order(side, this.table.sitting.position));
  }

  async #arrange(red, blue) {
    const { sitting, state, changed, draw } = this.table;
    const { rng, position } = sitting;
    const known = position.coming_die.length ? { die: position.notation.split(":").at(-1) } : {};
    try {
      await sitting.begin({ game: state.game, red, blue, ...known });
      sitting.rng = rng ?? sitting.rng;
      changed();
      draw();
    } catch (error) {
      fail(error);
    }
  }
}
