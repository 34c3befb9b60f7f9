// How good a move is, by the share of the value that it gives up (games/analysis.py).

const GOOD = 0.01, BAD = 0.05, EQUAL = 1e-9; // shares

/** A loss as a share of the best move's value, 0 to 1; 0 where rounding alone made it. */
export function lostShare(loss, value) {
  if (loss <= EQUAL * Math.abs(value)) return 0;
  return value ? Math.min(1, loss / Math.abs(value)) : 1;
}

/** How good a move is that gives up a share of the best one's value. */
export const bandOf = (share) => (!share ? "best" : share < GOOD ? "good" : share > BAD ? "bad" : "inaccurate");
