// EWN without a server: positions as the server describes them. The rules are kernels (games/ewn/rules.py).
import { Problem, quoted } from "./wasm-text.js";

const SIDES = ["red", "blue"];
const GONE = 0x7Fn, EMPTY = 0x7F7F7F7F7F7F7Fn, TOP = 56n;
const UNKNOWN = 7, CHOICE = 64, MOST_CUBES = 6, STRIDE = 9, AHEAD = 12;
const KNOWN_RULES = 8; // tables of known dice that are kept
const TERMINATIONS = [null, "corner", "elimination", "corner", "elimination"]; // by the number of the ending
const numberOf = (word, cube) => (word >> BigInt(8 * cube)) & 0xFFn;

/** A game of the family: `facts` are its board, cubes and die, and `value` the name of its rules (web/site.py). */
export class GameEwn {
  name; rows; columns; cubes; die; cycle; first_cube; red; blue; value; parts; kernels;

  constructor(parts, facts) {
    Object.assign(this, facts, { parts, kernels: parts.kernels });
    this.family = "ewn";
    this.sides = SIDES;
    this.players = 2;
    this.known = new Map(); // a known die -> its rules
  }

  /** The rules with a known die, in numbers from 0. */
  rulesFor(die = []) {
    const key = die.join();
    if (!this.known.has(key)) {
      const rules = this.#makeRules(this.kernels, die), moves = this.kernels.array("uint8", 128), calls = {};
      for (const name of ["legal", "apply", "ending", "side", "is_chance", "winner", "count_outcomes", "probability",
        "apply_outcome"]) calls[name] = this.kernels.bind(name, { game: rules, moves });
      this.known.set(key, { rules, calls, moves, die, copies: new Map() });
      if (this.known.size > KNOWN_RULES) this.known.delete(this.known.keys().next().value);
    }
    return this.known.get(key);
  }

  /** The same rules in the memory of another module. */
  rulesIn(kernels, { die, copies }) {
    if (!copies.has(kernels)) copies.set(kernels, this.#makeRules(kernels, die));
    return copies.get(kernels);
  }

  #makeRules(kernels, die) {
    const rules = kernels.value(this.value);
    if (!die.length) return rules;
    kernels.release(rules.cycle.at, rules.cycle.shape[0]);
    kernels.release(rules.arrival.at, rules.arrival.shape[0]);
    rules.cycle = kernels.array("uint8", 2 * die.length);
    kernels.items(rules.cycle).set([...die, ...die]);
    rules.arrival = kernels.array("uint8", 64 * die.length * MOST_CUBES * STRIDE);
    Object.assign(rules, { period: BigInt(2 * die.length), turns: BigInt(die.length) });
    kernels.bind("fill_arrival", { arrival: rules.arrival, movable: rules.movable, cycle: rules.cycle,
      turns: die.length, faces: this.cubes })();
    return rules;
  }

  square([row, column]) {
    return row * this.columns + column;
  }

  parse(text) {
    const words = text.split(/\s+/).filter(Boolean);
    if (words.length === 4) {
      const { name } = this.parts.game(words.shift());
      if (name !== this.name) throw new Problem(`this is a position of ${name}, not of ${this.name}`);
    }
    if (words.length !== 3) throw new Problem("a position is four words: game, board, side to move, die");
    const [board, turn, die] = words;
    if (!SIDES.includes(turn)) throw new Problem(`${quoted(turn)} is not a side: red or blue`);
    const cubes = this.#cubes(board);
    let ply = SIDES.indexOf(turn), values = [];
    if (this.die === "cycle") {
      const known = /^(\d{1,3}):(\d+)$/.exec(die);
      if (!known) throw new Problem(`the die of ${this.name} is a ply and its values, as in 0:1205...`);
      [ply, values] = [Number(known[1]), this.readDie(known[2])];
      if (ply >= 2 * values.length || (ply & 1) !== SIDES.indexOf(turn)) {
        throw new Problem(`at ply ${ply} it is not ${turn}'s turn`);
      }
    }
    const faces = Array.from({ length: this.cubes }, (_, i) => String(i + this.first_cube));
    const dice = { cycle: [die], free: ["*"], rolled: [...faces, "?"], chosen: [...faces, "?"] }[this.die];
    if (!dice.includes(die)) throw new Problem(`${quoted(die)} is not a die of ${this.name}`);
    const ruled = this.rulesFor(values);
    const face = faces.includes(die) ? Number(die) - this.first_cube : this.kernels.items(ruled.rules.cycle)[ply];
    return new PositionEwn(this, ruled, [cubes[0] | BigInt(ply) << TOP, cubes[1] | BigInt(face) << TOP]);
  }

  readDie(die) {
    const values = [...die].map((digit) => Number(digit) - this.first_cube);
    if (values.length !== this.cycle) {
      throw new Problem(`the known die of ${this.name} has ${this.cycle} values, not ${values.length}`);
    }
    if (values.some((value) => !(value >= 0 && value < this.cubes))) {
      throw new Problem(`the die shows ${this.first_cube} to ${this.first_cube + this.cubes - 1}`);
    }
    return values;
  }

  #cubes(text) {
    const words = [EMPTY, EMPTY];
    const rows = text.split("/").map((row) => row.match(/\.|[rb]\d|./g) ?? []);
    if (rows.length !== this.rows || rows.some((row) => row.length !== this.columns)) {
      throw new Problem(`a board of ${this.name} has ${this.rows} rows of ${this.columns} squares`);
    }
    rows.forEach((row, r) => row.forEach((cell, c) => {
      if (cell === ".") return;
      const cube = Number(cell.slice(1) || -1) - this.first_cube, side = "rb".indexOf(cell[0]);
      if (side < 0 || !(cube >= 0 && cube < this.cubes)) {
        throw new Problem(`${quoted(cell)} is not a cube of ${this.name}: r1 is red's, b1 blue's`);
      }
      if (numberOf(words[side], cube) !== GONE) throw new Problem(`${cell} is on the board twice`);
      words[side] ^= (GONE ^ BigInt(this.square([r, c]))) << BigInt(8 * cube);
    }));
    if (words.every((word) => word === EMPTY)) throw new Problem("the board has no cubes");
    return words;
  }

  /** A first position: the cubes' numbers on the starting squares, and the known die. */
  setup(red = "", blue = "", die = "") {
    const numbers = Array.from({ length: this.cubes }, (_, i) => i + this.first_cube);
    const words = [EMPTY, EMPTY];
    [[red, this.red], [blue, this.blue]].forEach(([order, squares], side) => {
      const cubes = order ? [...order].map(Number) : numbers;
      if ([...cubes].sort().join() !== numbers.join()) {
        throw new Problem(`${SIDES[side]}'s cubes are ${numbers[0]} to ${numbers.at(-1)} in some order, `
          + `not ${cubes.join("")}`);
      }
      squares.forEach((square, i) => {
        words[side] ^= (GONE ^ BigInt(this.square(square))) << BigInt(8 * (cubes[i] - this.first_cube));
      });
    });
    const ruled = this.rulesFor(this.readDie(die));
    return new PositionEwn(this, ruled, [words[0], words[1] | BigInt(this.kernels.items(ruled.rules.cycle)[0]) << TOP]);
  }

  /** The random stream's next state, and a first position: the cubes' places and a known die. */
  initial(state) {
    const pick = (count) => {
      const [next, bits] = this.parts.draw({ state });
      state = next;
      return Number(((bits >> 32n) * BigInt(count)) >> 32n);
    };
    const shuffled = () => {
      const numbers = Array.from({ length: this.cubes }, (_, i) => i + this.first_cube);
      for (let last = numbers.length - 1; last > 0; last--) {
        const other = pick(last + 1);
        [numbers[last], numbers[other]] = [numbers[other], numbers[last]];
      }
      return numbers.join("");
    };
    const red = shuffled(), blue = shuffled();
    const die = Array.from({ length: this.cycle }, () => pick(this.cubes) + this.first_cube).join("");
    return [state, this.setup(red, blue, die)];
  }
}

export class PositionEwn {
  game; ruled; words; calls;

  constructor(game, ruled, words) {
    Object.assign(this, { game, ruled, words, calls: ruled.calls });
  }

  at(words) {
    return new PositionEwn(this.game, this.ruled, words);
  }

  get ply() {
    return Number(this.words[0] >> TOP);
  }

  get face() {
    return Number(this.words[1] >> TOP);
  }

  get die() {
    return this.face < MOST_CUBES ? this.face + this.game.first_cube : null;
  }

  get choosesDie() {
    return this.game.die === "chosen" && this.face === UNKNOWN;
  }

  get ending() {
    return this.calls.ending({ position: this.words });
  }

  get over() {
    return this.ending !== 0;
  }

  get isChance() {
    return this.calls.is_chance({ position: this.words }) && !this.over;
  }

  get turn() {
    return SIDES[this.calls.side({ position: this.words })];
  }

  get winner() {
    return this.over ? SIDES[this.calls.winner({ ended: this.ending })] : null;
  }

  get legalActions() {
    if (this.over || this.isChance) return [];
    const count = this.calls.legal({ position: this.words });
    return [...this.game.kernels.items(this.ruled.moves).subarray(0, count)];
  }

  get legalMoves() {
    return this.legalActions.map((action) => this.moveText(action));
  }

  moveText(action) {
    const { first_cube: first } = this.game;
    return action >= CHOICE ? `=${action - CHOICE + first}` : `${(action >> 3) + first}${action & 7}`;
  }

  outcomeText(outcome) {
    return String(outcome + this.game.first_cube);
  }

  actionOf(move) {
    const action = this.legalActions.find((each) => this.moveText(each) === move);
    if (action !== undefined) return action;
    if (this.over) throw new Problem("the game is over");
    if (this.isChance) throw new Problem("the die must be rolled first");
    throw new Problem(`${quoted(move)} is not legal here: ${this.legalMoves.join(", ")}`);
  }

  play(move) {
    return this.at(this.calls.apply({ position: this.words, move: this.actionOf(move) }));
  }

  get outcomes() {
    if (!this.isChance) return {};
    const count = this.calls.count_outcomes({ position: this.words });
    return Object.fromEntries(Array.from({ length: count }, (_, outcome) =>
      [this.outcomeText(outcome), this.calls.probability({ position: this.words, outcome })]));
  }

  applyOutcome(outcome) {
    const text = String(outcome);
    if (!/^\d+$/.test(text)) throw new Problem(`${quoted(text)} cannot happen: a number is rolled`);
    if (!this.isChance) throw new Problem("there is nothing to roll here");
    const face = Number(text) - this.game.first_cube;
    const { cubes, name } = this.game;
    if (!(face >= 0 && face < cubes)) throw new Problem(`the die of ${name} has no ${Number(text)}`);
    return this.at(this.calls.apply_outcome({ position: this.words, outcome: face }));
  }

  /** The random stream's next state, and a number rolled. */
  randomOutcome(state) {
    const [next, bits] = this.game.parts.draw({ state });
    return [next, this.outcomeText(Number(((bits >> 32n) * BigInt(this.game.cubes)) >> 32n))];
  }

  get knownDie() {
    return this.ruled.die.map((value) => value + this.game.first_cube);
  }

  comingDie(plies) {
    const known = this.knownDie;
    return Array.from({ length: known.length ? plies : 0 }, (_, i) => known[(this.ply + i) % known.length]);
  }

  /** The square of each cube, such as r1. */
  get cubes() {
    const { first_cube: first, columns } = this.game;
    const cubes = {};
    SIDES.forEach((side, i) => {
      for (let cube = 0; cube < MOST_CUBES; cube++) {
        const square = numberOf(this.words[i], cube), at = Number(square);
        if (square !== GONE) cubes[`${side[0]}${cube + first}`] = [Math.floor(at / columns), at % columns];
      }
    });
    return cubes;
  }

  get cells() {
    const rows = Array.from({ length: this.game.rows }, () => Array(this.game.columns).fill(""));
    for (const [name, [row, column]] of Object.entries(this.cubes)) rows[row][column] = name;
    return rows;
  }

  get notation() {
    const board = this.cells.map((row) => row.map((cell) => cell || ".").join("")).join("/");
    const die = this.game.die === "cycle" ? `${this.ply}:${this.knownDie.join("")}`
      : this.die ?? (this.face === UNKNOWN ? "?" : "*");
    return `${this.game.name} ${board} ${SIDES[this.ply & 1]} ${die}`;
  }

  get kind() {
    return TERMINATIONS[this.ending];
  }

  get caption() {
    if (this.winner !== null) return `${this.winner} has won (${this.kind})`;
    if (this.choosesDie) return `${this.turn} to choose the die`;
    if (this.isChance) return `${this.turn} to roll`;
    const die = this.die === null ? "any cube" : `die ${this.die}`, coming = this.comingDie(8).slice(1).join("");
    return `${this.turn} to move, ${die}${coming ? `, then ${coming}...` : ""}`;
  }

  /** The square that a move leads to; null for a choice of the die. */
  target(action) {
    if (action >= CHOICE) return null;
    const side = SIDES.indexOf(this.turn), square = Number(numberOf(this.words[side], action >> 3));
    const to = this.game.kernels.items(this.ruled.rules.targets)[(side * 128 + square) * 8 + (action & 7)];
    return [Math.floor(to / this.game.columns), to % this.game.columns];
  }

  json() {
    const { game, legalActions } = this;
    return { game: game.name, notation: this.notation, cells: this.cells, sides: SIDES, turn: this.turn,
      caption: this.caption, legal_moves: legalActions.map((action) => this.moveText(action)),
      is_chance: this.isChance, outcomes: this.outcomes, over: this.over, winner: this.winner, kind: this.kind,
      die: this.die, die_rule: game.die, known_die: this.knownDie, coming_die: this.comingDie(AHEAD),
      chooses_die: this.choosesDie,
      targets: Object.fromEntries(legalActions.map((action) => [this.moveText(action), this.target(action)])),
      cubes: this.cubes, goals: { red: [game.rows - 1, game.columns - 1], blue: [0, 0] }, first: game.first_cube,
      count: game.cubes, starts: { red: game.red, blue: game.blue } };
  }
}
