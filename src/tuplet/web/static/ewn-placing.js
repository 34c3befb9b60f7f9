// Placing cubes before a game: they stand on their starting squares in any order.
import { post } from "./api.js";
import { fail } from "./shell.js";

const SIDES = ["red", "blue"];

/** The numbers of a side's cubes in the order of its starting squares. */
const order = (side, { starts, cells }) => starts[side].map(([row, column]) => cells[row][column].slice(1)).join("");

export class Placing {
  constructor(page) {
    this.page = page;
    this.sides = null; // the sides whose cubes are placed, by their first letters
  }

  /** Whether no cube has moved yet. */
  possible() {
    const { game: { position, steps }, state } = this.page;
    const home = SIDES.every((side) =>
      position.starts[side].every(([row, column]) => position.cells[row][column][0] === side[0]));
    return home && state.panel !== "watch" && !steps.some(({ move }) => move && !move.startsWith("="));
  }

  toggle() {
    const { page } = this;
    if (this.sides) {
      this.sides = null;
      page.changed(true);
      page.advance();
    } else if (this.possible()) {
      page.halt();
      this.sides = SIDES.filter((side) => page.state[side] === "you").map((side) => side[0]).join("") || "rb";
      page.draw(); // cubes can be clicked at once
      this.#arrange(...this.#orders());
    }
  }

  swap(one, two) {
    const [a, b] = [one.slice(1), two.slice(1)];
    const exchange = (text) => [...text].map((number) => (number === a ? b : number === b ? a : number)).join("");
    this.#arrange(...this.#orders().map((text, i) => (SIDES[i][0] === one[0] ? exchange(text) : text)));
  }

  async shuffle() {
    const { position } = await post("/api/position", { game: this.page.state.game });
    const shuffled = (text, i) => (this.sides.includes(SIDES[i][0]) ? order(SIDES[i], position) : text);
    this.#arrange(...this.#orders().map(shuffled));
  }

  /** Cubes as the server recommends them, drawn anew each time. */
  recommend() {
    return this.#arrange(...this.#orders().map((text, i) => (this.sides.includes(SIDES[i][0]) ? "recommended" : text)));
  }

  #orders() {
    return SIDES.map((side) => order(side, this.page.game.position));
  }

  async #arrange(red, blue) {
    const { game, state, changed, draw } = this.page;
    const { rng, position } = game;
    const die = position.known_die.length ? { die: position.known_die.join("") } : {};
    try {
      if (!await game.open({ game: state.game, red, blue, ...die })) return;
      game.begin(game.position, rng ?? game.rng);
      changed();
      draw();
    } catch (error) {
      fail(error);
    }
  }
}
