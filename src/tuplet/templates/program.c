/* A program that plays ewn-6x7 with any referee of the course's protocol.
 *
 *     cc -O2 -o template template.c
 *     tuplet check ./template
 *     tuplet match exec:./template easy --games 20
 *
 * The protocol is characters without separators, on standard input and output. The program receives
 * 6 digits (Red's cubes on its starting squares), 6 digits (Blue's), 21 digits (the die), and f (it
 * moves first, as Red) or s (second, as Blue). Then moves are exchanged, two digits each: the cube,
 * and the direction. After a game y begins another; anything else ends. A move may take two seconds.
 * Other output goes to standard error: fprintf(stderr, ...).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 6, COLUMNS = 7, CUBES = 6, DIE = 21, MOST_MOVES = 8 };
enum { RED = 0, BLUE = 1, NO_WINNER = -1, GONE = -1 };

/* Squares are numbered row by row: row * COLUMNS + column. */
static const int STARTS[2][CUBES] = {{0, 1, 2, 7, 8, 14}, {27, 33, 34, 39, 40, 41}};
static const int GOALS[2] = {41, 0};                        /* the corner that each side wants to reach */
static const int DOWN[4] = {0, 1, 1, -1}, RIGHT[4] = {1, 0, 1, 1}; /* Red's steps; Blue's are the opposite */

typedef struct {
    int cube, direction;
} Move;

typedef struct {
    int cubes[2][CUBES]; /* the square of each side's cubes, or GONE */
    char die[DIE];       /* move n is made with number n % 21 */
    int ply;             /* moves made */
} Position;

static int turn(const Position *position) { return position->ply % 2; }

/* The square that a step leads to, or GONE beyond the board. */
static int target(const Position *position, Move move) {
    int side = turn(position), at = position->cubes[side][move.cube], sign = side == RED ? 1 : -1;
    int row = at / COLUMNS + sign * DOWN[move.direction], column = at % COLUMNS + sign * RIGHT[move.direction];
    return row >= 0 && row < ROWS && column >= 0 && column < COLUMNS ? row * COLUMNS + column : GONE;
}

/* The legal moves, and how many. The cube of the die's number moves; if it is gone, the nearest lower
 * or the nearest higher one that is left. Whatever stands on the target square is captured. */
static int legal_moves(const Position *position, Move *moves) {
    const int *own = position->cubes[turn(position)];
    int rolled = position->die[position->ply % DIE] - '0', lower = rolled, higher = rolled, count = 0;
    while (lower >= 0 && own[lower] == GONE) lower--;
    while (higher < CUBES && own[higher] == GONE) higher++;
    for (int choice = 0; choice < (lower == higher ? 1 : 2); choice++) {
        int cube = choice == 0 ? lower : higher;
        for (int direction = 0; cube >= 0 && cube < CUBES && direction < 4; direction++) {
            Move move = {cube, direction};
            if (target(position, move) != GONE) moves[count++] = move;
        }
    }
    return count;
}

/* The position after a move. */
static Position play(Position position, Move move) {
    int to = target(&position, move);
    for (int side = 0; side < 2; side++)
        for (int cube = 0; cube < CUBES; cube++)
            if (position.cubes[side][cube] == to) position.cubes[side][cube] = GONE;
    position.cubes[turn(&position)][move.cube] = to;
    position.ply++;
    return position;
}

/* RED or BLUE if one stands in its corner, or the other has no cubes; else NO_WINNER. */
static int winner(const Position *position) {
    for (int side = 0; side < 2; side++) {
        int left = 0;
        for (int cube = 0; cube < CUBES; cube++) {
            if (position->cubes[side][cube] == GOALS[side]) return side;
            left += position->cubes[1 - side][cube] != GONE;
        }
        if (left == 0) return side;
    }
    return NO_WINNER;
}

/* How many steps a side's nearest cube has to go. */
static int distance(const Position *position, int side) {
    int nearest = ROWS + COLUMNS;
    for (int cube = 0; cube < CUBES; cube++) {
        int at = position->cubes[side][cube];
        if (at == GONE) continue;
        int rows = abs(GOALS[side] / COLUMNS - at / COLUMNS), columns = abs(GOALS[side] % COLUMNS - at % COLUMNS);
        int steps = rows > columns ? rows : columns;
        if (steps < nearest) nearest = steps;
    }
    return nearest;
}

/* How good a position is for `me`. */
static int value(const Position *position, int me) {
    int won = winner(position);
    if (won != NO_WINNER) return won == me ? 100 : -100;
    return distance(position, 1 - me) - distance(position, me);
}

/* Put your idea here. This one wins if it can, else takes the step after which its best cube is nearest
 * to the corner, compared with the opponent's; among equal moves, a random one. */
static Move choose(const Position *position) {
    Move moves[MOST_MOVES], best = {0, 0};
    int count = legal_moves(position, moves), largest = -1000, equal = 0;
    for (int i = 0; i < count; i++) {
        Position after = play(*position, moves[i]);
        int found = value(&after, turn(position));
        if (found > largest) equal = 0;
        if (found >= largest && rand() % ++equal == 0) best = moves[i];
        if (found > largest) largest = found;
    }
    return best;
}

/* Read the next character from the referee; the program ends at the end of the input. */
static char receive(void) {
    int character;
    do character = getchar();
    while (character != EOF && isspace(character));
    if (character == EOF) exit(0);
    return (char)character;
}

static void play_game(void) {
    Position position = {.ply = 0};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < CUBES; i++) position.cubes[side][receive() - '0'] = STARTS[side][i];
    for (int i = 0; i < DIE; i++) position.die[i] = receive();
    int me = receive() == 'f' ? RED : BLUE;
    while (winner(&position) == NO_WINNER) {
        Move move;
        if (turn(&position) == me) {
            move = choose(&position);
            printf("%d%d", move.cube, move.direction);
            fflush(stdout); /* else the referee waits for ever */
        } else {
            move.cube = receive() - '0';
            move.direction = receive() - '0';
        }
        position = play(position, move);
    }
}

int main(void) {
    srand((unsigned)time(NULL));
    do play_game();
    while (receive() == 'y');
    return 0;
}
