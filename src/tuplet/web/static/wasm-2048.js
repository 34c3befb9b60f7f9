// 2048 without a server: positions as the server describes them. The rules are kernels (games/g2048/rules.py).
import { MOVES, Problem, boardOf, decimal, grouped, quoted, splitSettings, splitSpec } from "./wasm-text.js";

const LARGEST_SUM = (1 << 18) - 4; // of all tiles of a board

export class Game2048 {
  rows; columns; spawn4; kernels; parts; slide; spawn; opening;

  /** `parts` has the kernels, the facts of the build, and `table(length)`, the rows that a kernel has slid. */
  constructor(parts, rows, columns, spawn4) {
    Object.assign(this, { rows, columns, spawn4, kernels: parts.kernels, parts });
    this.family = "2048";
    this.sides = ["player"];
    this.players = 1;
    const settings = rows === 4 && columns === 4 ? [] : [`board=${rows}x${columns}`];
    if (spawn4 !== 0.1) settings.push(`spawn4=${decimal(spawn4)}`);
    this.name = settings.length ? `2048:${settings.join(",")}` : "2048";
    this.rules = { across: parts.table(columns), down: parts.table(rows), rows, columns,
      cells: BigInt(parts.facts.cells[`${rows}x${columns}`]), fours: BigInt(Math.round(spawn4 * 2 ** 32)), start: 0n };
    for (const name of ["slide", "spawn", "opening"]) this[name] = this.kernels.bind(name, { rules: this.rules });
  }

  static read(parts, spec) {
    const [name, text] = splitSpec(spec);
    if (name !== "2048") throw new Problem(`${quoted(spec)} is not 2048, nor 2048:board=3x3,spawn4=0.2`);
    const { board = "4x4", spawn4 = "0.1", ...rest } = splitSettings(text, spec);
    const [other] = Object.keys(rest);
    if (other) throw new Problem(`${spec}: ${other} is not a setting; there are board, spawn4`);
    const size = /^([234])x([234])$/i.exec(board);
    if (!size) throw new Problem(`${spec}: board must be 2x2 to 4x4 (got ${quoted(board)})`);
    const share = spawn4.trim() === "" ? NaN : Number(spawn4);
    if (Number.isNaN(share)) throw new Problem(`${spec}: could not convert string to float: ${quoted(spawn4)}`);
    if (!(share >= 0 && share <= 1)) throw new Problem(`${spec}: spawn4 must be 0 to 1 (got ${decimal(share)})`);
    return [Number(size[1]), Number(size[2]), share];
  }

  /** A board as a position of this game. */
  position({ rows, columns, exponents }, score = 0, due = false) {
    if (rows !== this.rows || columns !== this.columns) {
      throw new Problem(`${this.name} has a board of ${this.rows}x${this.columns}, not ${rows}x${columns}`);
    }
    const sum = exponents.reduce((total, e) => total + (e ? 2 ** e : 0), 0);
    if (sum > LARGEST_SUM) {
      throw new Problem(`the tiles of a board add up to ${grouped(LARGEST_SUM)} at most, which no game exceeds `
        + `(got ${grouped(sum)})`);
    }
    if (due && exponents.every(Boolean)) throw new Problem("no tile can appear on a full board: leave out the ?");
    let low = 0n, high = 0n;
    exponents.forEach((exponent, i) => {
      const shift = BigInt(4 * this.cellOf(i));
      low |= BigInt(exponent & 15) << shift;
      high |= BigInt(exponent >> 4) << shift;
    });
    return new Position2048(this, low, high, score, due);
  }

  /** Where a cell, numbered row by row, stands on the kernels' board of 4x4. */
  cellOf(i) {
    return 4 * Math.floor(i / this.columns) + i % this.columns;
  }

  parse(text) {
    const words = text.split(/\s+/).filter(Boolean);
    if (words.length > 1 && words[0].startsWith("2048") && words[1].includes("/")) {
      const named = this.parts.game(words[0]);
      if (named.name !== this.name) throw new Problem(`this is a position of ${words[0]}, not of ${this.name}`);
      words.shift();
    }
    if (!words.length || !words[0].includes("/")) return this.position(boardOf(text, this.rows, this.columns));
    const due = words.at(-1) === "?", points = due ? words.slice(1, -1) : words.slice(1);
    if (points.length > 1 || !points.every((word) => /^\d+$/.test(word))) {
      throw new Problem("a board is 2,0,0,4/0,0,8,2/..., then the points, then ? before a tile");
    }
    const number = (tile) => {
      if (!/^\d+$/.test(tile)) throw new Problem(`${quoted(tile)} is not a tile`);
      return Number(tile);
    };
    const rows = words[0].split("/").map((row) => row.split(",").map(number));
    return this.position(boardOf(rows), points.length ? Number(points[0]) : 0, due);
  }

  /** The random stream's next state, and a board with two tiles. */
  initial(state) {
    const [next, board] = this.opening({ state });
    return [next, new Position2048(this, board, 0n)];
  }
}

export class Position2048 {
  game; low; high; score; isChance;
  slid = null;

  constructor(game, low, high, score = 0, due = false) {
    Object.assign(this, { game, low, high, score, isChance: due });
  }

  get exponents() {
    return Array.from({ length: this.game.rows * this.game.columns }, (_, i) => {
      const shift = BigInt(4 * this.game.cellOf(i));
      return Number((this.low >> shift) & 15n) + 16 * Number((this.high >> shift) & 1n);
    });
  }

  get tiles() {
    return this.exponents.map((exponent) => (exponent ? 2 ** exponent : 0));
  }

  get cells() {
    const { tiles, game: { rows, columns } } = this;
    return Array.from({ length: rows }, (_, r) =>
      tiles.slice(r * columns, (r + 1) * columns).map((tile) => (tile ? String(tile) : "")));
  }

  get empty() {
    return this.exponents.flatMap((exponent, i) => (exponent ? [] : [i]));
  }

  /** The moves that change the board: {up: [low, high, reward], ...}. */
  get afterStates() {
    this.slid ??= Object.fromEntries(MOVES
      .map((name, move) => [name, this.game.slide({ board: this.low, high: this.high, move })])
      .filter(([, [low, high]]) => low !== this.low || high !== this.high));
    return this.slid;
  }

  get legalMoves() {
    return this.isChance ? [] : Object.keys(this.afterStates);
  }

  get over() {
    return !this.isChance && !Object.keys(this.afterStates).length;
  }

  get turn() {
    return "player";
  }

  get notation() {
    const rows = this.cells.map((row) => row.map((tile) => tile || "0").join(",")).join("/");
    return `${this.game.name} ${rows} ${this.score}${this.isChance ? " ?" : ""}`;
  }

  play(text) {
    const name = MOVES.find((move) => text && move.startsWith(text.toLowerCase()));
    if (!name) throw new Problem(`${quoted(text)} is not a move: up, right, down or left (or 0, 1, 2, 3)`);
    if (this.isChance) throw new Problem("a tile must appear first");
    if (!(name in this.afterStates)) throw new Problem(`${name} changes nothing on this board`);
    const [low, high, reward] = this.afterStates[name];
    return new Position2048(this.game, low, high, this.score + Number(reward), true);
  }

  /** Where each tile goes in a move. */
  motion(text) {
    const { game, exponents } = this;
    const move = MOVES.findIndex((each) => each.startsWith(text.toLowerCase()));
    const targets = game.parts.targets, { rows, columns } = game;
    const meeting = game.parts.motion({ rows, columns, board: this.low, high: this.high, move });
    const to = game.kernels.items(targets);
    return exponents.flatMap((exponent, i) => {
      if (!exponent) return [];
      const target = to[game.cellOf(i)];
      const merged = ((meeting >> BigInt(4 * target)) & 1n) === 1n;
      return [{ from: i, to: Math.floor(target / 4) * columns + target % 4, merged }];
    });
  }

  get outcomes() {
    if (!this.isChance) return {};
    const { empty, game: { spawn4 } } = this;
    const shares = [[2, 1 - spawn4], [4, spawn4]].filter(([, share]) => share > 0);
    return Object.fromEntries(empty.flatMap((cell) =>
      shares.map(([tile, share]) => [`${tile}@${cell}`, share / empty.length])));
  }

  applyOutcome(outcome) {
    const text = String(outcome);
    if (!(text in this.outcomes)) {
      throw new Problem(`${quoted(text)} cannot happen: a tile is 2@CELL or 4@CELL, cells from 0`);
    }
    const [tile, cell] = text.split("@").map(Number);
    return new Position2048(this.game, this.low | BigInt(Math.log2(tile)) << BigInt(4 * this.game.cellOf(cell)),
      this.high, this.score);
  }

  /** The random stream's next state, and a tile that appears. */
  randomOutcome(state) {
    const [next, bits] = this.game.parts.draw({ state });
    const added = BigInt(this.game.spawn({ board: this.low, high: this.high, bits })) ^ BigInt(this.low);
    const cell = this.empty.find((i) => (added >> BigInt(4 * this.game.cellOf(i))) & 15n);
    return [next, `${1n << ((added >> BigInt(4 * this.game.cellOf(cell))) & 15n)}@${cell}`];
  }

  get caption() {
    const ended = this.tiles.some(Boolean) ? "game over" : "an empty board";
    const state = this.isChance ? "a tile must appear" : this.over ? ended : "to move";
    return `${grouped(this.score)} points, ${state}`;
  }

  json() {
    const { game, over } = this;
    return { game: game.name, notation: this.notation, cells: this.cells, sides: game.sides, turn: this.turn,
      caption: this.caption, legal_moves: this.legalMoves, is_chance: this.isChance, outcomes: this.outcomes, over,
      winner: null, kind: over ? "stuck" : null, score: this.score, tiles: this.tiles, spawn4: game.spawn4 };
  }
}
