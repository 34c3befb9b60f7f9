// Texts of the page without a server: numbers as Python writes them, settings, boards as people paste them.

export const MOVES = ["up", "right", "down", "left"];
const LARGEST = 17; // the exponent of 131072

/** What is wrong with a request; its message is what the server would answer. */
export class Problem extends Error {}

/** Seconds. */
export const now = () => performance.now() / 1000;

/** 1234567 -> "1,234,567" */
export const grouped = (number) => number.toLocaleString("en-US", { maximumFractionDigits: 0 });

/** A text in quotation marks, as Python has it in messages. */
export function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = text.replaceAll("\\", "\\\\").replaceAll(mark, `\\${mark}`)
    .replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r");
  return mark + inside + mark;
}

/** A number with a point, as Python writes it: 1.0, 0.2, 1e-05. */
export function decimal(number) {
  if (number !== 0 && Math.abs(number) < 1e-4) return number.toExponential().replace(/e-(\d)$/, "e-0$1");
  return Number.isInteger(number) ? number.toFixed(1) : String(number);
}

/** "a=1,b=2" -> {a: "1", b: "2"}; `spec` names it in messages. */
export function splitSettings(text, spec) {
  const values = {};
  for (const word of text.split(",").filter(Boolean)) {
    const at = word.indexOf("=");
    if (at < 0) throw new Problem(`${spec}: ${quoted(word)} is not a setting: write name=value`);
    const [name, value] = [word.slice(0, at).trim(), word.slice(at + 1).trim()];
    if (name in values) throw new Problem(`${spec}: ${name} is set twice`);
    values[name] = value;
  }
  return values;
}

/** A name and the settings behind its colon. */
export function splitSpec(spec) {
  const at = spec.indexOf(":");
  return at < 0 ? [spec.trim(), ""] : [spec.slice(0, at).trim(), spec.slice(at + 1).trim()];
}

// Boards of 2048 (games/g2048/board_text.py)

const EMPTY = new Set(".-_·*•∙□");
/** @type {[string, string][]} */
const FRAME_LETTERS = /** @type {any} */ ([...[..."│┃║╎╏┆┇┊┋▏▕"].map((each) => [each, "|"]),
  ...[..."─━═┄┅┈┉╌╍▁▔"].map((each) => [each, "-"]),
  ...[..."┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬╭╮╰╯"].map((each) => [each, "+"]), ...[..."{}()"].map((each) => [each, " "])]);
const FRAMES = new Map(FRAME_LETTERS);
const isTile = (number) => number >= 2 && number <= 1 << LARGEST && (number & (number - 1)) === 0;

/** The tiles of a text: rows where it has rows, else one list. */
function tilesOf(text) {
  if (text.length > 10_000) throw new Problem(`a text of ${grouped(text.length)} letters is not a board`);
  const shown = text.trim();
  const [given, asked] = partOf(shown);
  const wrong = () => new Problem(`${quoted(shown.length <= 80 ? shown : `${shown.slice(0, 77)}...`)} is not a board: `
    + "give its tiles row by row, as in 2,0,0,4,... (0 is empty)");
  // A comma at the end of a line is a habit, or stands before an empty cell.
  const ways = [true, false].map((habit) => rowsOf(given, habit, wrong));
  const even = (rows) => new Set(rows.map((row) => row.length)).size === 1;
  let rows = ways.find(even) ?? ways[0];
  const flat = rows.flat();
  const clear = flat.some((n) => n > 0 && !isPower(n)) && !flat.some(isTile);
  const outside = flat.filter((n) => !(n >= 0 && n <= LARGEST));
  if (asked && outside.length) throw new Problem(`exponents are 0 (empty) to ${LARGEST} (got ${outside[0]})`);
  if (asked || (clear && !outside.length)) rows = rows.map((row) => row.map((n) => (n ? 2 ** n : 0)));
  return rows.length > 1 && even(rows) ? rows : rows.flat();
}

const isPower = (number) => Number.isInteger(Math.log2(Math.abs(number)));

/** The part of a text that has the numbers, of a JSON object's if it is one; whether they are exponents. */
function partOf(text) {
  const found = /^exponents\b[\s:=]*/.exec(text);
  if (found) return [text.slice(found[0].length), true];
  let values = {};
  try {
    values = text.startsWith("{") ? JSON.parse(text) : {};
  } catch { /* not JSON */ }
  for (const name of ["board", "tiles", "grid", "cells", "exponents"]) {
    const part = values[name];
    if (Array.isArray(part) || typeof part === "string") {
      return [typeof part === "string" ? part : JSON.stringify(part), name === "exponents"];
    }
  }
  return [text, false];
}

function rowsOf(text, habit, wrong) {
  // eslint-disable-next-line no-control-regex
  let plain = text.replace(/\x1b\[[0-9;:]*[A-Za-z]/g, "")
    .replace(/[A-Za-z_][\w.]*(?=\()|,?\s*\bdtype=\w+|["'`]/g, "");
  plain = [...plain].map((letter) => FRAMES.get(letter) ?? letter).join("").replaceAll("\\n", "\n");
  return plain.split(/[\n/;]|\][\s,]*\[/)
    .map((line) => cellsOf(line.replace(/[[\]]/g, " "), habit, wrong)).filter((row) => row.length);
}

function cellsOf(line, habit, wrong) {
  if (/^[\s|+\-=:]*$/.test(line) && /--|==|\+|:-|-:/.test(line)) return []; // a frame
  line = line.replace(/^ +| +$/g, "");
  const tile = (word) => {
    if (EMPTY.has(word)) return 0;
    const digits = word.replace(/(\d)\.0*$/, "$1");
    if (!/^[+-]?\d+$/.test(digits)) throw wrong();
    return Number(digits);
  };
  const inner = [["|", line.replace(/^\|/, "").replace(/\|$/, "")], ["\t", line],
    [",", habit ? line.replace(/,$/, "") : line]];
  for (const [mark, part] of inner) {
    const parts = part.split(mark).map((each) => each.split(/\s+/).filter(Boolean));
    const gaps = parts.length > 1 && parts.some((each) => !each.length) && parts.every((each) => each.length <= 1);
    if (gaps) return parts.map((each) => (each.length ? tile(each[0]) : 0));
  }
  return (line.match(/[^\s,|+]+/g) ?? []).filter((word) => !/^[-=_]{2,}$/.test(word)).map(tile);
}

/** The exponents of a board: {rows, columns, exponents}. `tiles` is a text, a list of tiles, or one of rows. */
export function boardOf(tiles, rows = null, columns = null) {
  const isText = typeof tiles === "string";
  let given = isText ? tilesOf(tiles) : tiles;
  if (given.length && given.every(Array.isArray)) {
    if (new Set(given.map((row) => row.length)).size > 1) throw new Problem("the rows of a board are of one length");
    [rows, columns] = [given.length, given[0].length];
    given = given.flat();
  }
  if (rows === null || columns === null) {
    const side = { 16: 4, 9: 3, 4: 2 }[given.length || (rows ?? columns ?? 4) ** 2];
    if (!side) {
      throw new Problem(`a board has 16 tiles, row by row, not ${given.length} `
        + "(0 or . is an empty cell; name rows and columns for other sizes)");
    }
    [rows, columns] = [rows ?? side, columns ?? side];
  }
  if (!(rows >= 2 && rows <= 4 && columns >= 2 && columns <= 4)) {
    throw new Problem(`a board has 2 to 4 rows and columns, not ${rows}x${columns}`);
  }
  if (given.length !== rows * columns) {
    throw new Problem(`a ${rows}x${columns} board has ${rows * columns} tiles, not ${given.length} `
      + "(0 or . is an empty cell)");
  }
  const hint = isText && given.every((tile) => tile <= LARGEST)
    ? "; if these are exponents, write: exponents 1,0,0,2,..." : "";
  const exponents = given.map((tile, cell) => {
    if (tile === 0) return 0;
    if (isTile(tile)) return Math.log2(tile);
    throw new Problem(`${tile} is not a tile (row ${Math.floor(cell / columns) + 1}, column ${cell % columns + 1}): `
      + `tiles are 0 (empty), 2, 4, 8, ... ${1 << LARGEST}${hint}`);
  });
  return { rows, columns, exponents };
}
