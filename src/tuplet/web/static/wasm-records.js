// Positions and games as texts, without a server: games/formats.py, games/record.py and games/g2048/formats.py.
import { MOVES, Problem, boardOf, grouped, quoted } from "./wasm-text.js";

const MOST = 1 << 20; // letters of a text
const FORMATS = ["record", "episode", "2048verse"];
const FORFEITS = ["late", "illegal", "crashed", "memory"];
const NEITHER = "this is neither a position nor a game: paste a board (its tiles row by row, 2,0,0,4,...), a "
  + "notation (ewn r1r2.../... red 3), or the line of a recorded game";

/** A game as it was played. */
class Record {
  names; start; info; moves; outcomes; position; winner; kind; reason;

  constructor(names, start, info = {}) {
    Object.assign(this, { names, start, info, moves: [], outcomes: [], position: start, winner: null, kind: null,
      reason: "" });
    this.#checkEnd();
  }

  play(move) {
    this.position = this.position.play(move);
    this.moves.push(move);
    this.#checkEnd();
  }

  applyOutcome(outcome) {
    this.position = this.position.applyOutcome(outcome);
    this.outcomes.push(String(outcome));
    this.#checkEnd();
  }

  #checkEnd() {
    if (this.position.over) [this.winner, this.kind] = [this.position.winner ?? null, this.position.json().kind];
  }

  /** The record as one line of JSON, as Python writes it. */
  get line() {
    const rolls = this.outcomes.map((each) => (/^(0|[1-9]\d*)$/.test(each) ? Number(each) : each));
    const values = { start: this.start.notation, moves: this.moves, rolls, winner: this.winner, kind: this.kind,
      reason: this.reason };
    const filled = Object.entries(values).filter(([, value]) => value !== null && value !== "" && value.length !== 0);
    return pythonJson([...this.start.game.sides.map((side, i) => [side, this.names[i]]), ...filled]);
  }
}

/** An object in one line, with a space behind each comma and colon. */
function pythonJson(entries) {
  const list = (values) => `[${values.map((each) => JSON.stringify(each)).join(", ")}]`;
  const plain = (value) => (Array.isArray(value) ? list(value) : JSON.stringify(value));
  const text = ([key, value]) => `${JSON.stringify(key)}: ${plain(value)}`;
  return `{${entries.map(text).join(", ")}}`;
}

/** Read a position or a game: {format, record, position}. `hint` is the game where the text does not say. */
export function parseText(parts, text, hint = null) {
  if (text.length > MOST) {
    throw new Problem(`the text is too long: ${grouped(text.length)} letters, and at most ${grouped(MOST)} are read`);
  }
  text = text.replace(/^\ufeff/, "").trimStart();
  if (!text.trim()) throw new Problem("there is nothing to read: paste a position or a game");
  const [format, record] = gameOf(parts, text, hint);
  if (record) return { format, record, position: record.position };
  const [kind, position] = positionOf(parts, text.trim(), hint);
  return { format: kind, record: null, position };
}

/** The answer of /api/read. */
export function readText(parts, text, hint) {
  const { format, record, position } = parseText(parts, text, hint);
  const read = { game: position.game.name, format, position: position.json() };
  if (!record) return { kind: "position", ...read };
  return { kind: "game", ...read, players: record.names, ...stepsOf(record), record: record.line };
}

const isEpisode = (text) => /^[^|\n]*@\d{1,18}\|/.test(text);
const NEW_VERSE = /^(\d{1,2}x\d{1,2})-[^_]{0,40}_/, OLD_VERSE = /^replay(?:[:_](\dx\d)?)?/;
const isVerse = (text) => NEW_VERSE.test(text) || OLD_VERSE.test(text);
const formatOf = (text) => (isEpisode(text) ? "episode" : isVerse(text) ? "2048verse" : "");

/** The format of a game and its record; the record is null if the text is not a game.
 * @returns {[string, Record|null]} */
function gameOf(parts, text, hint) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const formats = lines.map((line) => formatOf(line) || (line.startsWith("{") ? "record" : ""));
  if (lines.length > 1 && formats.every(Boolean) && formats[0] !== "2048verse") {
    throw new Problem(`these are ${grouped(lines.length)} lines, a game each: paste one of them`);
  }
  const format = formatOf(text);
  if (format === "episode") return [format, readEpisode(text, game2048(parts, hint))];
  if (format === "2048verse") return [format, readVerse(parts, text, hint)];
  const values = jsonObject(text);
  if (["match", "tournament"].includes(values.kind) && "agents" in values) {
    throw new Problem("this is the first line of a saved match: paste one of its games");
  }
  return "start" in values ? ["record", parseRecord(parts, values)] : ["", null];
}

function game2048(parts, hint, rows = 4, columns = 4) {
  const share = hint?.spawn4 ?? 0.1;
  return parts.sized(rows, columns, share > 0 && share < 1 ? share : 0.1);
}

function jsonObject(text) {
  if (!text.startsWith("{")) return {};
  try {
    const values = JSON.parse(text);
    return values !== null && typeof values === "object" && !Array.isArray(values) ? values : {};
  } catch {
    return {};
  }
}

const NOTATION = /^(?:(2048(?::\S+)?)\s+)?(\d+(?:,\d+)+(?:\/\d+(?:,\d+)+)+)((?:\s+\d+)?(?:\s+\?)?)$/;

function positionOf(parts, text, hint) {
  const values = jsonObject(text);
  const parsed = (notation) => parts.game(notation.trim().split(/\s+/)[0] ?? "").parse(notation);
  if (typeof values.notation === "string") return ["notation", parsed(values.notation)];
  const found = NOTATION.exec(text), [word] = text.split(/\s+/);
  if (found) {
    const rows = found[2].split("/"), columns = rows[0].split(",").length;
    const size = (n) => n >= 2 && n <= 4;
    if (!found[1] && !(size(rows.length) && size(columns))) {
      throw new Problem(`board must be 2x2 to 4x4 (got '${rows.length}x${columns}')`);
    }
    const game = found[1] ? parts.game(found[1]) : game2048(parts, hint, rows.length, columns);
    return ["notation", game.parse(`${found[2]}${found[3]}`)];
  }
  if (word.startsWith("ewn") || word.startsWith("2048:")) return ["notation", parsed(text)];
  if (hint && hint.family !== "2048") return ["notation", hint.parse(text)];
  try {
    const verse = /^(?:\S*2048verse\.com\/p\/)?([0-9a-h]{16})$/.exec(text);
    const tiles = verse && [...verse[1]].map((digit) => parseInt(digit, 18)).map((e) => (e ? 2 ** e : 0));
    let board;
    try {
      board = boardOf(tiles ?? text);
    } catch (error) {
      if (!hint || (hint.rows === 4 && hint.columns === 4)) throw error;
      board = boardOf(text, hint.rows, hint.columns);
    }
    return ["board", game2048(parts, hint, board.rows, board.columns).position(board)];
  } catch (error) {
    if ([...text].filter((letter) => /\p{L}/u.test(letter)).length > text.length / 2) throw new Problem(NEITHER);
    throw error;
  }
}

/** The first position where a player can move, and every step from there: [move, outcome, reward, notation]. */
function stepsOf(record) {
  let position = record.start, next = 0;
  const steps = [], apply = () => {
    if (!position.isChance || next >= record.outcomes.length) return null;
    const outcome = record.outcomes[next++];
    position = position.applyOutcome(outcome);
    return outcome;
  };
  while (apply() !== null);
  const start = position.notation;
  for (const move of record.moves) {
    const before = position.score ?? 0;
    position = position.play(move);
    const reward = (position.score ?? 0) - before, outcome = apply();
    steps.push([move, outcome, reward, position.notation]);
    for (let more = apply(); more !== null; more = apply()) steps.push([null, more, 0, position.notation]);
  }
  return { start, steps };
}

function parseRecord(parts, values) {
  const { start, moves = [], rolls = [] } = values, isText = (each) => typeof each === "string";
  const good = isText(start) && Array.isArray(moves) && moves.every(isText) && Array.isArray(rolls)
    && rolls.every((each) => isText(each) ? !/^(0|[1-9]\d*)$/.test(each) : Number.isInteger(each));
  if (!good) throw new Problem("not a game's record: start and moves are texts, rolls numbers");
  const position = parts.game(start.trim().split(/\s+/)[0] ?? "").parse(start), { sides } = position.game;
  const missing = sides.find((side) => !(side in values));
  if (missing) throw new Problem(`not a game's record: it does not say who was ${missing}`);
  const names = sides.map((side) => values[side]);
  if (![...names, values.reason ?? ""].every(isText)) {
    throw new Problem("not a game's record: names and reasons are texts");
  }
  const record = new Record(names, position);
  let next = 0;
  for (const move of moves) {
    while (record.position.isChance) {
      if (next >= rolls.length) throw new Problem("a roll of the die is missing");
      record.applyOutcome(rolls[next++]);
    }
    record.play(move);
  }
  while (next < rolls.length) record.applyOutcome(rolls[next++]);
  readEnd(record, values.winner ?? null, values.kind ?? null, String(values.reason ?? ""));
  return record;
}

function readEnd(record, winner, kind, reason) {
  const over = record.kind !== null, { sides } = record.start.game;
  const ended = (who, how) => (who ? `${who} won (${how})` : `it was drawn (${how})`);
  if (!over && FORFEITS.includes(kind) && (sides.includes(winner) || (winner === null && sides.length === 1))) {
    Object.assign(record, { winner, kind, reason });
  } else if (!over && (winner !== null || kind !== null)) {
    throw new Problem(`the moves do not show that ${ended(winner, kind)}`);
  } else if (over && (winner !== record.winner || kind !== record.kind)) {
    throw new Problem(`the moves show that ${ended(record.winner, record.kind)}, not ${ended(winner, kind)}`);
  }
}

// Lines of the 2048-Framework

const DIGITS = "0123456789ABCDEFGHI";
const STEP = /(?:#([URDL])|([0-9A-Fa-f])([1-9A-Ha-h]))(?:\[([0-9]{1,18})\])?(?:\((-?[0-9]{1,18})\))?/y;

/** The record of a game that begins with an empty board. */
function emptyRecord(game, name) {
  const exponents = Array(game.rows * game.columns).fill(0);
  return new Record([name], game.position({ ...game, exponents }), { opening: [] });
}

/** Record a placement: one of the first two tiles, or the tile after a move. */
function place(record, cell, tile) {
  const { position, info } = record, { game } = position, exponents = position.exponents;
  if (!(cell < exponents.length) || exponents[cell]) {
    throw new Problem(`cell ${cell} is not an empty cell of this board`);
  }
  if (info.opening.length >= 2) {
    record.applyOutcome(`${tile}@${cell}`);
    return;
  }
  exponents[cell] = Math.log2(tile);
  record.start = record.position = game.position({ ...game, exponents });
  record.kind = record.start.json().kind;
  info.opening.push([cell, tile]);
}

function stampOf(text) {
  const found = /^([^\n]*)@(\d{1,18})$/.exec(text);
  return found && [found[1], found[2]];
}

function readEpisode(line, game) {
  const parts = line.trimEnd().split("|"), opened = stampOf(parts[0]), closed = stampOf(parts.at(-1));
  if (parts.length !== 3 || !opened || !closed) {
    throw new Problem("a game's record looks like SLIDER:PLACER@TIME|MOVES|WINNER@TIME");
  }
  const record = emptyRecord(game, opened[0].split(":")[0]);
  let count = 0;
  STEP.lastIndex = 0;
  for (let at = 0; at < parts[1].length; count++) {
    STEP.lastIndex = at;
    const step = STEP.exec(parts[1]);
    if (!step) throw new Problem(`no move can be read at ...${quoted(parts[1].slice(at, at + 8))}`);
    const [, slide, cell, tile, reward] = step;
    if (Boolean(slide) !== (count >= 2 && count % 2 === 0)) {
      throw new Problem("a game is two placements, then a slide and a placement in turns");
    }
    if (slide) {
      const move = MOVES.find((each) => each[0].toUpperCase() === slide), before = record.position.score;
      record.play(move);
      const earned = record.position.score - before;
      if (earned !== Number(reward ?? 0)) {
        throw new Problem(`move ${count + 1} (${move}) earns ${earned}, not ${reward ?? 0}`);
      }
    } else place(record, parseInt(cell, 16), 2 ** DIGITS.indexOf(tile.toUpperCase()));
    at = STEP.lastIndex;
  }
  return record;
}

/** The first two tiles, in the order of their cells. */
function openingOf(record) {
  if (record.info.opening?.length) return record.info.opening;
  const { start } = record;
  const placed = start.tiles.flatMap((tile, cell) => (tile ? [[cell, tile]] : []));
  if (placed.length !== 2 || start.score || start.isChance || Math.max(...start.tiles) > 4) {
    throw new Problem("this game does not begin with two tiles: write it as a record");
  }
  return placed;
}

const outcomeOf = (record, number) => record.outcomes[number].split("@").map(Number).reverse();

function writeEpisode(record) {
  const { start } = record;
  if (start.game.rows !== 4 || start.game.columns !== 4) {
    throw new Problem("the Framework's line is for boards of 4x4: write it as a record");
  }
  const placed = ([cell, tile]) => cell.toString(16).toUpperCase() + DIGITS[Math.log2(tile)];
  let position = start, line = openingOf(record).map(placed).join("");
  record.moves.forEach((move, number) => {
    const after = position.play(move), reward = after.score - position.score;
    line += `#${move[0].toUpperCase()}${reward ? `[${reward}]` : ""}`;
    if (number >= record.outcomes.length) return;
    line += placed(outcomeOf(record, number));
    position = after.applyOutcome(record.outcomes[number]);
  });
  const name = record.names[0].replace(/[|@:\s]+/g, " ").trim();
  return `${name}:random@0|${line}|${record.moves.length > record.outcomes.length ? name : "random"}@0`;
}

// Games of 2048verse (games/g2048/format_2048verse.py)

const letters = (from, to) => Array.from({ length: to - from }, (_, i) => String.fromCodePoint(from + i)).join("");
const LETTERS = `${letters(48, 58)}${letters(97, 123)}${letters(65, 91)}${letters(0xC0, 0x100)}¤¾`;
const OLD_LETTERS = `${letters(0x20, 0x7F)}ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒá`;
const TURNS = ["up", "down", "left", "right"];

function spawnsOf(text) {
  const head = NEW_VERSE.exec(text);
  if (!head) {
    const old = OLD_VERSE.exec(text);
    return [old[1] ?? "4x4", [...text.slice(old[0].length)].map((letter, number) => {
      const bits = OLD_LETTERS.indexOf(letter);
      if (bits < 0 || (number < 2 && bits >= 32)) {
        throw new Problem(`2048verse: ${quoted(letter)} is not a tile, number ${grouped(number + 1)}`);
      }
      return [MOVES[bits >> 5], 2 << (bits >> 4 & 1), bits & 3, bits >> 2 & 3];
    })];
  }
  const body = text.slice(head[0].length).trimEnd();
  if (body.length % 3) {
    throw new Problem(`2048verse: a tile is three letters, and ${grouped(body.length)} are no whole number of them: `
      + "something is missing");
  }
  return [head[1], (body.match(/.{3}/gs) ?? []).map((three) => {
    const digits = [...three].map((letter) => LETTERS.indexOf(letter));
    if (Math.min(...digits) < 0) throw new Problem(`2048verse: ${quoted(three)} is not a tile`);
    const bits = digits[0] << 14 | digits[1] << 7 | digits[2];
    if ((bits >> 2 & 3) > 1) throw new Problem(`2048verse: ${quoted(three)} is neither a 2 nor a 4`);
    return [TURNS[bits & 3], 2 << (bits >> 2 & 3), bits >> 7 & 7, bits >> 4 & 7];
  })];
}

function readVerse(parts, text, hint) {
  const [board, spawns] = spawnsOf(text.replace(/[\r\n]+$/, ""));
  const size = /^([234])x([234])$/.exec(board);
  if (!size) throw new Problem(`board must be 2x2 to 4x4 (got ${quoted(board)})`);
  const [rows, columns] = [Number(size[1]), Number(size[2])];
  const record = emptyRecord(game2048(parts, hint, rows, columns), "player");
  spawns.forEach(([move, tile, row, column], number) => {
    try {
      if (row >= rows || column >= columns) {
        throw new Problem(`row ${row + 1}, column ${column + 1} is not on a board of ${rows}x${columns}`);
      }
      if (number >= 2) record.play(move);
      place(record, row * columns + column, tile);
    } catch (error) {
      throw new Problem(`2048verse, tile ${grouped(number + 1)}: ${error.message}`);
    }
  });
  if (spawns.length < 2) throw new Problem("2048verse: a game begins with two tiles, and this text has fewer");
  return record;
}

function writeVerse(record) {
  if (record.moves.length > record.outcomes.length) {
    throw new Problem("2048verse has a tile after each move: after the last none has appeared");
  }
  const { rows, columns } = record.start.game;
  const placed = [...openingOf(record), ...record.outcomes.map((_, number) => outcomeOf(record, number))];
  const moves = ["up", "up", ...record.moves];
  return `${rows}x${columns}-1_${placed.map(([cell, tile], i) => {
    const bits = 0x7FF << 10 | Math.floor(cell / columns) << 7 | cell % columns << 4 | Number(tile === 4) << 2
      | TURNS.indexOf(moves[i]);
    return [14, 7, 0].map((shift) => LETTERS[bits >> shift & 0x7F]).join("");
  }).join("")}`;
}

/** A game as text; the answer of /api/write. */
export function writeText(parts, game, start, steps, format, names) {
  const known = FORMATS.join(", ");
  if (!FORMATS.includes(format)) throw new Problem(`format must be one of ${known} (got ${quoted(format)})`);
  const position = game.parse(start), { sides } = position.game;
  const given = names ?? sides;
  if (given.length !== sides.length || !given.every((name) => typeof name === "string")) {
    throw new Problem(`names must be ${sides.length} text${sides.length > 1 ? "s" : ""}, one for each side`);
  }
  const record = new Record(given, position);
  steps.forEach(([move, outcome], number) => {
    try {
      if (move !== null) record.play(move);
      if (outcome !== null) record.applyOutcome(outcome);
    } catch (error) {
      throw new Problem(`step ${grouped(number + 1)}: ${error.message}`);
    }
  });
  if (format === "record") return record.line;
  if (game.family !== "2048") {
    throw new Problem(`a game of ${game.name} is written as record (got ${quoted(format)})`);
  }
  return format === "episode" ? writeEpisode(record) : writeVerse(record);
}
