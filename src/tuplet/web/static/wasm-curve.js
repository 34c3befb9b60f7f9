// The curve of a run without a server: blocks of games, joined as learn/growing_curve.py joins them.

const BLOCK = 100; // games
const TILES = 18; // exponents
const Z = 1.959964;

/** The quantile of Student's t for a 95 % interval, to three digits from 24 games on. */
const quantile = (degrees) => Z + (Z ** 3 + Z) / (4 * degrees)
  + (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / (96 * degrees ** 2);

const rounded = (number, digits) => Math.round(number * 10 ** digits) / 10 ** digits;

/** A block of games: their number, sums, and how many reached each tile. */
class Block {
  end = 0; seconds = 0; played = 0; score = 0; squares = 0; moves = 0; busy = 0;
  reached = new Float64Array(TILES);

  add(other) {
    this.end = other.end;
    this.seconds = other.seconds;
    for (const part of ["played", "score", "squares", "moves", "busy"]) this[part] += other[part];
    other.reached.forEach((count, e) => { this.reached[e] += count; });
  }
}

/** The evaluations of a game for two: pairs of games with the same start and exchanged sides. */
export class EvaluationCurve {
  games = 0;
  seconds = 0;
  speed = null;
  #evaluations = [];

  add({ lengths, evaluations, seconds }) {
    const moves = lengths.reduce((sum, each) => sum + each, 0);
    if (moves && !evaluations.length) this.speed = Math.round(moves / Math.max(seconds - this.seconds, 1e-9));
    this.games += lengths.length;
    this.seconds = seconds;
    for (const { learned, points } of evaluations) {
      const pairs = Array.from({ length: points.length / 2 }, (_, i) => (points[2 * i] + points[2 * i + 1]) / 2);
      const mean = pairs.reduce((sum, each) => sum + each, 0) / pairs.length;
      const variance = pairs.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (pairs.length - 1);
      const half = quantile(pairs.length - 1) * Math.sqrt(variance / pairs.length);
      this.#evaluations.push({ games: learned, seconds: rounded(seconds, 3), mean, low: Math.max(mean - half, 0),
        high: Math.min(mean + half, 1) });
    }
  }

  get last() {
    return this.#evaluations.at(-1)?.mean ?? null;
  }

  json(points) {
    const all = this.#evaluations, { length } = all;
    const shown = length <= points ? all
      : Array.from({ length: points }, (_, n) => all[Math.floor((n + 1) * length / points) - 1]);
    const of = (part) => shown.map((each) => each[part]);
    return { games: of("games"), seconds: of("seconds"), mean: of("mean"), low: of("low"), high: of("high"), speed: [],
      tiles: {} };
  }
}

export class Curve {
  games = 0;
  seconds = 0;
  #blocks = [];
  #open = new Block();

  /** Games that were learned from: their scores, tiles (exponents) and lengths; `seconds` so far. */
  add({ scores, tiles, lengths, seconds }) {
    const began = this.seconds, each = scores.length ? (seconds - began) / scores.length : 0;
    scores.forEach((score, i) => {
      const open = this.#open;
      this.games += 1;
      open.played += 1;
      open.score += score;
      open.squares += score * score;
      open.moves += lengths[i];
      open.busy += each;
      for (let e = 0; e <= tiles[i]; e++) open.reached[e] += 1;
      if (this.games % BLOCK) return;
      open.end = this.games;
      open.seconds = began + (i + 1) * each;
      this.#blocks.push(open);
      this.#open = new Block();
    });
    this.seconds = seconds;
  }

  /** The mean score of the last thousand games. */
  get last() {
    const last = this.#blocks.slice(-10);
    return last.length ? last.reduce((sum, each) => sum + each.score, 0) / (BLOCK * last.length) : null;
  }

  /** Moves a second, of late. */
  get speed() {
    const last = this.#blocks.slice(-10), sum = (part) => last.reduce((total, each) => total + each[part], 0);
    return last.length ? Math.round(sum("moves") / Math.max(sum("busy"), 1e-9)) : null;
  }

  /** At most `points` joined blocks, as /api/run answers. */
  json(points) {
    let blocks = this.#blocks;
    if (blocks.length > points) { // those that end in the same part of the run are joined
      const parts = new Map();
      for (const block of blocks) {
        const part = Math.min(Math.floor((block.end - 1) * points / this.games), points - 1);
        if (!parts.has(part)) parts.set(part, new Block());
        parts.get(part).add(block);
      }
      blocks = [...parts.values()];
    }
    const of = (value) => blocks.map(value), mean = ({ score, played }) => score / played;
    const half = (block) => quantile(block.played - 1)
      * Math.sqrt(Math.max(block.squares / block.played - mean(block) ** 2, 0) / (block.played - 1));
    const exponents = Array.from({ length: TILES }, (_, e) => e).filter((e) => e > 0
      && blocks.some(({ reached }) => reached[e] > 0) && blocks.some(({ reached, played }) => reached[e] < played));
    return { games: of(({ end }) => end), seconds: of(({ seconds }) => rounded(seconds, 3)),
      mean: of((block) => rounded(mean(block), 1)), low: of((block) => rounded(mean(block) - half(block), 1)),
      high: of((block) => rounded(mean(block) + half(block), 1)),
      speed: of(({ moves, busy }) => Math.round(moves / Math.max(busy, 1e-9))),
      tiles: Object.fromEntries(exponents.map((e) =>
        [2 ** e, of(({ reached, played }) => rounded(100 * reached[e] / played, 2))])) };
  }
}
