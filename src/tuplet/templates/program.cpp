// A program that plays ewn-6x7 with any referee of the course's protocol.
//
//     c++ -std=c++17 -O2 -o template template.cpp
//     tuplet check ./template
//     tuplet match exec:./template easy --games 20
//
// The protocol is characters without separators, on standard input and output. The program receives
// 6 digits (Red's cubes on its starting squares), 6 digits (Blue's), 21 digits (the die), and f (it
// moves first, as Red) or s (second, as Blue). Then moves are exchanged, two digits each: the cube,
// and the direction. After a game y begins another; anything else ends. A move may take two seconds.
// Other output goes to standard error: std::cerr.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int ROWS = 6, COLUMNS = 7, CUBES = 6, DIE = 21;

enum Side { RED, BLUE };

constexpr Side other(Side side) { return side == RED ? BLUE : RED; }

struct Square {
    int row, column;
    bool operator==(const Square &to) const { return row == to.row && column == to.column; }
};

struct Move {
    int cube, direction;
};

constexpr std::array<std::array<Square, CUBES>, 2> STARTS = {{
    {{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {2, 0}}},
    {{{3, 6}, {4, 5}, {4, 6}, {5, 4}, {5, 5}, {5, 6}}},
}};
constexpr std::array<Square, 2> GOALS = {{{5, 6}, {0, 0}}};                    // the corner that each side wants to reach
constexpr std::array<Square, 4> STEPS = {{{0, 1}, {1, 0}, {1, 1}, {-1, 1}}};   // Red's; Blue's are the opposite

struct Position {
    std::array<std::array<std::optional<Square>, CUBES>, 2> cubes;  // of Red and of Blue; none if it is gone
    std::string die;                                                // move n is made with number n % 21
    int ply = 0;                                                    // moves made

    Side turn() const { return ply % 2 == 0 ? RED : BLUE; }

    // The cube of the die's number; if it is gone, the nearest lower and higher ones left.
    std::vector<int> movable() const {
        const auto &own = cubes[turn()];
        int lower = die[ply % DIE] - '0', higher = lower;
        while (lower >= 0 && !own[lower]) --lower;
        while (higher < CUBES && !own[higher]) ++higher;
        if (lower == higher) return {lower};
        std::vector<int> found;
        if (lower >= 0) found.push_back(lower);
        if (higher < CUBES) found.push_back(higher);
        return found;
    }

    // The square that a step leads to; none beyond the board.
    std::optional<Square> target(Move move) const {
        const int sign = turn() == RED ? 1 : -1;
        const Square at = *cubes[turn()][move.cube], step = STEPS[move.direction];
        const Square to = {at.row + sign * step.row, at.column + sign * step.column};
        if (to.row < 0 || to.row >= ROWS || to.column < 0 || to.column >= COLUMNS) return std::nullopt;
        return to;
    }

    // Whatever stands on the target square is captured.
    std::vector<Move> legal_moves() const {
        std::vector<Move> moves;
        for (const int cube : movable())
            for (int direction = 0; direction < 4; ++direction)
                if (target({cube, direction})) moves.push_back({cube, direction});
        return moves;
    }

    // The position after a move; this one stays as it is.
    Position play(Move move) const {
        Position after = *this;
        const auto to = target(move);
        for (auto &side : after.cubes)
            for (auto &at : side)
                if (at == to) at.reset();
        after.cubes[turn()][move.cube] = to;
        ++after.ply;
        return after;
    }

    // The side that stands in its corner, or whose opponent has no cubes.
    std::optional<Side> winner() const {
        for (const Side side : {RED, BLUE}) {
            const auto &own = cubes[side], &others = cubes[other(side)];
            if (std::find(own.begin(), own.end(), GOALS[side]) != own.end()) return side;
            if (std::none_of(others.begin(), others.end(), [](const auto &at) { return at.has_value(); })) return side;
        }
        return std::nullopt;
    }
};

// How many steps a side's nearest cube has to go.
int distance(const Position &position, Side side) {
    int nearest = ROWS + COLUMNS;
    for (const auto &at : position.cubes[side])
        if (at)
            nearest = std::min(nearest, std::max(std::abs(GOALS[side].row - at->row),
                                                 std::abs(GOALS[side].column - at->column)));
    return nearest;
}

// How good a position is for `me`.
int value(const Position &position, Side me) {
    if (const auto won = position.winner()) return *won == me ? 100 : -100;
    return distance(position, other(me)) - distance(position, me);
}

// Put your idea here. This one wins if it can, else takes the step after which its best cube is nearest
// to the corner, compared with the opponent's; among equal moves, a random one.
Move choose(const Position &position) {
    static std::mt19937 random{std::random_device{}()};
    auto moves = position.legal_moves();
    std::shuffle(moves.begin(), moves.end(), random);
    return *std::max_element(moves.begin(), moves.end(), [&](Move a, Move b) {
        return value(position.play(a), position.turn()) < value(position.play(b), position.turn());
    });
}

// Read the next character from the referee; the program ends at the end of the input.
char receive() {
    char character;
    if (!(std::cin >> character)) std::exit(0);
    return character;
}

void play_game() {
    Position position;
    for (const Side side : {RED, BLUE})
        for (const Square square : STARTS[side]) position.cubes[side].at(receive() - '0') = square;
    for (int i = 0; i < DIE; ++i) position.die += receive();
    const Side me = receive() == 'f' ? RED : BLUE;
    while (!position.winner()) {
        Move move{};
        if (position.turn() == me) {
            move = choose(position);
            std::cout << move.cube << move.direction << std::flush;  // else the referee waits for ever
        } else {
            move.cube = receive() - '0';
            move.direction = receive() - '0';
        }
        position = position.play(move);
    }
}

}  // namespace

int main() {
    do play_game();
    while (receive() == 'y');
}
