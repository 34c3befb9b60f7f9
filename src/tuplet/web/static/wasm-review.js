// The review of a game of 2048 without a server (arena/review.py): what each move cost, and what was luck.
import { IDLE, makeAgent } from "./wasm-agents.js";
import { bandOf, lostShare } from "./wasm-bands.js";
import { parseText } from "./wasm-records.js";
import { Problem, grouped } from "./wasm-text.js";

const EPISODE = "me:random@0|0121#D31#L[4]72|@0";
const BANDS = ["best", "good", "inaccurate", "bad"];
const ACCURACY_MEANS = "Accuracy: 100 % means that every move was as good as the judge's best; 0 % that the moves "
  + "gave up as much of the expected score as random moves would, or more.";

const sum = (moves, name) => moves.reduce((total, move) => total + move[name], 0);

/** The answer of /api/review. `progress(done, all)` is called after each move. */
export async function review(parts, { record: text, agent = null, depth = null, time = null }, control = IDLE,
  progress = (_done, _all) => {}) {
  const { record } = parseText(parts, text);
  if (!record || record.start.game.family !== "2048") {
    throw new Problem(`record must be a game of 2048 in one line, such as ${EPISODE}`);
  }
  const { game } = record.start, { rows, columns } = game;
  if (agent === null && rows * columns < 16) {
    throw new Problem(`the review of a game on ${rows}x${columns} needs tuplet serve: this page has no server`);
  }
  const judge = await makeAgent(parts, agent, game, { depth, time, spawn4: game.spawn4 });
  if (!judge.learned) throw new Problem(`${judge.name} has no values to judge by: name a run or weights`);
  const { moves, left } = await judged(judge, record, control, progress);
  const board = record.position, losses = sum(moves, "loss");
  const counts = Object.fromEntries(BANDS.map((band) => [band, moves.filter((move) => move.band === band).length]));
  const atRandom = sum(moves, "random_share");
  judge.close();
  return { player: record.names[0], score: board.score, mean_loss: losses / moves.length,
    best_share: counts.best / moves.length, blunders: counts.bad, moves,
    game: parts.sized(rows, columns, judge.spawn4).name, judge: judge.name, depth: judge.depth, time: judge.time,
    accuracy_means: ACCURACY_MEANS,
    accuracy: atRandom ? 100 * Math.max(0, 1 - sum(moves, "lost_share") / atRandom) : 100, counts,
    first_value: moves[0].expected, luck: sum(moves, "luck"), drift: sum(moves, "drift"), losses, left };
}

const valued = ({ moves }) => moves.filter((move) => move.value !== null);
const top = (moves) => moves.reduce((best, move) => Math.max(best, move.value), -Infinity);

/** All moves, and the value of the last board. */
async function judged(judge, record, control, progress) {
  const moves = [], all = record.moves.length;
  let known = null, value = 0;
  for (const [position, played, after, came] of turns(record)) {
    known ??= valued(await judge.values(position, control));
    const found = came && await judge.values(came, control), coming = came ? valued(found) : [];
    value = coming.length ? top(coming) : 0;
    const mean = await meanOf(judge, after, came, found, value, control);
    if (control.stopped()) throw new Problem(`stopped after ${grouped(moves.length)} of ${grouped(all)} moves`);
    if (!came) value = mean;
    const best = known.find((move) => move.value === top(known)), own = known.find((move) => move.move === played);
    const loss = best.value - own.value, share = lostShare(loss, best.value), reward = after.score - position.score;
    const atRandom = known.reduce((total, move) => total + lostShare(best.value - move.value, best.value), 0);
    moves.push({ number: moves.length + 1, board: position.tiles, played, best: best.move, played_value: own.value,
      value: best.value, loss, band: bandOf(share), reward, luck: value - mean, drift: reward + mean - own.value,
      mean_value: mean, score: position.score, expected: position.score + best.value, lost_share: share,
      random_share: atRandom / known.length });
    known = coming;
    progress(moves.length, all);
    await control.rest?.(0);
  }
  if (!moves.length) throw new Problem("the game has no moves to review");
  return { moves, left: value };
}

/** The mean value of an after-state over all tiles; `found` are the values of the board that one of them made. */
async function meanOf(judge, after, came, found, value, control) {
  const [mean, depth] = await judge.expected(after, control);
  if (!came || depth === found.reached || control.stopped()) return mean;
  const values = valued(await judge.values(came, control, depth));
  return value - ((values.length ? top(values) : 0) - mean);
}

/** Each position that was moved on, the move, the position after it, and that with the next tile; null where the
 * record ends before. */
function* turns(record) {
  const outcomes = [...record.outcomes];
  let position = record.start;
  if (position.isChance) position = position.applyOutcome(outcomes.shift());
  for (const move of record.moves) {
    const after = position.play(move), tile = outcomes.shift() ?? null;
    const came = tile === null ? null : after.applyOutcome(tile);
    yield [position, move, after, came];
    position = came;
  }
}
