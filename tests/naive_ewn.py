"""EWN written as plainly as possible, from the rules alone: what the kernels are compared with.

A game is a dictionary with `rows`, `columns`, `cubes`, `directions` (3 or 4), `die` ("rolled",
"cycle", "chosen" or "free"), `own` (whether one's own cubes may be captured), `red` and `blue`
(the starting squares), `values` (the known die), `first` (the number written on the first
cube), `hole` (whether the middle square swallows cubes) and `backward` (whether cubes may go
backwards to capture). Here cubes and dice are numbered from 0. A
position is a dictionary: `cubes` {(side, number): (row, column)}, the `ply`, and the `die`,
which is None until it is rolled or chosen, and always where any cube may move.

A move is (cube, direction), where directions from 4 on are those from 0 on backwards; ("die",
number) chooses the opponent's die. Where one's own cubes may
not be captured, they may all the same if nothing else is legal.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

STEPS = ((0, 1), (1, 0), (1, 1), (-1, 1))  # Red's: horizontal, vertical, diagonal, the fourth
SIX = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0))
THREE = ((0, 0), (0, 1), (1, 0))
ONE = ((0, 0),)
BLUE_6X7 = ((3, 6), (4, 5), (4, 6), (5, 4), (5, 5), (5, 6))

PERFT = Path(__file__).parent / "data" / "ewn" / "perft.json"

Game = dict[str, Any]
Position = dict[str, Any]


def make_game(
    rows: int = 5,
    columns: int = 5,
    red: tuple[tuple[int, int], ...] = SIX,
    blue: tuple[tuple[int, int], ...] | None = None,
    die: str = "rolled",
    directions: int = 3,
    own: bool = True,
    values: tuple[int, ...] = (),
    first: int = 1,
    hole: bool = False,
    backward: bool = False,
) -> Game:
    """A game; Blue starts on Red's squares turned by half, if nothing else is said."""
    blue = blue or tuple((rows - 1 - r, columns - 1 - c) for r, c in red)
    return {
        "rows": rows,
        "columns": columns,
        "cubes": len(red),
        "red": red,
        "blue": blue,
        "die": die,
        "directions": directions,
        "own": own,
        "values": values,
        "first": first,
        "hole": hole,
        "backward": backward,
    }


def first_position(game: Game, red: list[int], blue: list[int], first: str = "red") -> Position:
    """The numbers of the cubes on the starting squares, in the squares' order."""
    cubes = {("red", n): square for n, square in zip(red, game["red"], strict=True)}
    cubes.update({("blue", n): square for n, square in zip(blue, game["blue"], strict=True)})
    position = {"cubes": cubes, "ply": 0 if first == "red" else 1, "die": None}
    return with_known_die(game, position)


def with_known_die(game: Game, position: Position) -> Position:
    if game["die"] == "cycle":
        position["die"] = game["values"][position["ply"] % len(game["values"])]
    return position


def mover(position: Position) -> str:
    """Whose cubes move next."""
    return ("red", "blue")[position["ply"] % 2]


def opponent(side: str) -> str:
    return "blue" if side == "red" else "red"


def to_act(game: Game, position: Position) -> str:
    """Who has to decide something: to move, or to choose the opponent's die."""
    if game["die"] == "chosen" and position["die"] is None:
        return opponent(mover(position))
    return mover(position)


def must_roll(game: Game, position: Position) -> bool:
    return game["die"] == "rolled" and position["die"] is None


def result(game: Game, position: Position) -> tuple[str, str] | None:
    """The winner, and "corner" or "elimination"; None while the game goes on."""
    corners = {"red": (game["rows"] - 1, game["columns"] - 1), "blue": (0, 0)}
    for (side, _), square in position["cubes"].items():
        if square == corners[side]:
            return side, "corner"
    left = {side for side, _ in position["cubes"]}
    if len(left) == 1:
        return left.pop(), "elimination"
    return None


def movable(game: Game, position: Position) -> list[int]:
    """The mover's cubes that the die lets move, the lower first."""
    left = sorted(n for side, n in position["cubes"] if side == mover(position))
    if game["die"] == "free" or position["die"] in left:
        return left if game["die"] == "free" else [position["die"]]
    lower = [n for n in left if n < position["die"]]
    higher = [n for n in left if n > position["die"]]
    return lower[-1:] + higher[:1]


def square_after(position: Position, cube: int, direction: int) -> tuple[int, int]:
    side = mover(position)
    row, column = position["cubes"][side, cube]
    down, right = STEPS[direction % 4]
    sign = 1 if (side == "red") == (direction < 4) else -1
    return row + sign * down, column + sign * right


def legal(game: Game, position: Position) -> list[Any]:
    if game["die"] == "chosen" and position["die"] is None:
        return [("die", number) for number in range(game["cubes"])]
    moves: list[Any] = []
    captures: list[Any] = []  # of one's own
    own = [s for (side, _), s in position["cubes"].items() if side == mover(position)]
    forward = range(game["directions"])
    for cube in movable(game, position):
        for direction in [*forward, *(4 + d for d in forward if game["backward"])]:
            row, column = square_after(position, cube, direction)
            if not (0 <= row < game["rows"] and 0 <= column < game["columns"]):
                continue
            if direction >= 4 and (row, column) not in position["cubes"].values():
                continue
            forbidden = (row, column) in own and not game["own"]
            (captures if forbidden else moves).append((cube, direction))
    return moves or captures


def play(game: Game, position: Position, move: Any) -> Position:
    """The position after a move; the one given stays as it is."""
    if move[0] == "die":
        return {**position, "die": move[1]}
    target = square_after(position, *move)
    cubes = {cube: square for cube, square in position["cubes"].items() if square != target}
    cubes[mover(position), move[0]] = target
    if game["hole"] and target == (game["rows"] // 2, game["columns"] // 2):
        del cubes[mover(position), move[0]]
    return with_known_die(game, {"cubes": cubes, "ply": position["ply"] + 1, "die": None})


def roll(position: Position, number: int) -> Position:
    return {**position, "die": number}


def children(game: Game, position: Position) -> list[Position]:
    """The positions after each thing that can happen next: rolls, or moves."""
    if result(game, position):
        return []
    if must_roll(game, position):
        return [roll(position, number) for number in range(game["cubes"])]
    return [play(game, position, move) for move in legal(game, position)]


def perft(game: Game, position: Position, depth: int) -> int:
    """How many ways there are to go `depth` steps on; a roll is a step, and so is a choice."""
    if depth == 0:
        return 1
    return sum(perft(game, child, depth - 1) for child in children(game, position))


def random_position(game: Game, source: random.Random) -> Position:
    """Cubes anywhere but on their goals, some gone, either side to move; nobody has won yet."""
    squares = [(r, c) for r in range(game["rows"]) for c in range(game["columns"])]
    if game["hole"]:
        squares.remove((game["rows"] // 2, game["columns"] // 2))
    source.shuffle(squares)
    if source.random() < 0.5:  # near together, so that much is captured
        row, column = source.choice(squares)
        squares.sort(key=lambda s: max(abs(s[0] - row), abs(s[1] - column)))
    cubes: dict[tuple[str, int], tuple[int, int]] = {}
    for side, goal in (("red", (game["rows"] - 1, game["columns"] - 1)), ("blue", (0, 0))):
        # More cubes than that might not leave a square to stand on.
        most = min(game["cubes"], (len(squares) - 2) // 2)
        for number in source.sample(range(game["cubes"]), source.randint(1, most)):
            square = next(s for s in squares if s != goal and s not in cubes.values())
            cubes[side, number] = square
    period = 2 * len(game["values"]) or 2
    position = {"cubes": cubes, "ply": source.randrange(period), "die": None}
    if game["die"] in ("rolled", "chosen") and source.random() < 0.8:
        position["die"] = source.randrange(game["cubes"])
    return with_known_die(game, position)


def text(game: Game, move: Any) -> str:
    """A move as tuplet writes it."""
    if move[0] == "die":
        return f"={move[1] + game['first']}"
    return f"{move[0] + game['first']}{move[1]}"


def notation(name: str, position: Position, game: Game | None = None) -> str:
    """A position as tuplet writes it: of one of MEMBERS, or of the game given."""
    game = game or MEMBERS[name]
    first = game["first"]
    at = {square: f"{side[0]}{n + first}" for (side, n), square in position["cubes"].items()}
    board = "/".join("".join(at.get((r, c), ".") for c in range(game["columns"])) for r in range(game["rows"]))
    die = "?" if position["die"] is None else str(position["die"] + first)
    if game["die"] == "cycle":
        values = "".join(str(v + first) for v in game["values"])
        die = f"{position['ply'] % (2 * len(game['values']))}:{values}"
    elif game["die"] == "free":
        die = "*"
    return f"{name} {board} {mover(position)} {die}"


def named(name: str, source: random.Random) -> Game:
    """The game of `ewn:board=3x3,cubes=2,...`, with a random known die if it has one."""
    settings = dict(pair.split("=") for pair in name.partition(":")[2].split(","))
    rows, columns = map(int, settings.get("board", "5x5").split("x"))
    cubes = int(settings.get("cubes", 6))
    values = tuple(source.randrange(cubes) for _ in range(int(settings.get("cycle", 0))))
    die = "cycle" if values else settings.get("die", "rolled")
    red = {1: ONE, 2: THREE[:2], 3: THREE, 6: SIX}[cubes]
    directions, own = int(settings.get("directions", 3)), settings.get("own", "yes") == "yes"
    hole, backward = (settings.get(each) == "yes" for each in ("hole", "backward"))
    return make_game(rows, columns, red, None, die, directions, own, values, hole=hole, backward=backward)


def from_words(game: Game, words: tuple[Any, Any]) -> Position:
    """A position of tuplet's two words: a byte for each cube, then ply and die."""
    cubes = {
        (side, number): divmod(square, game["columns"])
        for side, word in zip(("red", "blue"), words, strict=True)
        for number in range(6)
        if (square := int(word) >> 8 * number & 0xFF) != 0x7F
    }
    die = int(words[1]) >> 56
    return {"cubes": cubes, "ply": int(words[0]) >> 56, "die": die if die < 6 else None}


class Exact:
    """The exact values of a game's positions, by looking at everything that can happen."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._known: dict[Any, tuple[float, str | None]] = {}

    def __call__(self, position: Position) -> tuple[float, str | None]:
        """How often Red wins if both play perfectly; and who wins whatever happens, if anybody."""
        game = self.game
        ply = position["ply"] % (2 * len(game["values"]) or 2)
        key = frozenset(position["cubes"].items()), ply, position["die"]
        if key not in self._known:
            self._known[key] = self._value(position)
        return self._known[key]

    def _value(self, position: Position) -> tuple[float, str | None]:
        game = self.game
        over = result(game, position)
        if over:
            return float(over[0] == "red"), over[0]
        values, sure = zip(*(self(child) for child in children(game, position)), strict=True)
        agreed = sure[0] if len(set(sure)) == 1 else None
        if must_roll(game, position):
            return sum(values) / len(values), agreed
        side = to_act(game, position)
        best = max(values) if side == "red" else min(values)
        return best, side if side in sure else agreed


def dice(cubes: int, values: int, seed: int = 4) -> tuple[int, ...]:
    source = random.Random(seed)
    return tuple(source.randrange(cubes) for _ in range(values))


# By the name that tuplet gives it: the same game in the plain version.
MEMBERS = {
    "ewn": make_game(),
    "ewn-6x7": make_game(6, 7, blue=BLUE_6X7, die="cycle", directions=4, values=dice(6, 21), first=0),
    "ewn:board=3x3,cubes=3": make_game(3, 3, THREE),
    "ewn:board=3x3,cubes=1,directions=4": make_game(3, 3, ONE, directions=4),
    "ewn:board=9x9,directions=4": make_game(9, 9, directions=4),
    "ewn:board=4x8,own=no": make_game(4, 8, own=False),
    "ewn:board=4x4,cubes=3,die=free,own=no": make_game(4, 4, THREE, die="free", own=False),
    "ewn:board=9x4,die=free,directions=4": make_game(9, 4, die="free", directions=4),
    "ewn:die=chosen": make_game(die="chosen"),
    "ewn:board=4x4,cubes=3,die=chosen,directions=4,own=no": make_game(
        4, 4, THREE, die="chosen", own=False, directions=4
    ),
    "ewn:board=5x7,cycle=60": make_game(5, 7, die="cycle", values=dice(6, 60)),
    "ewn:cubes=3,cycle=1,own=no": make_game(5, 5, THREE, die="cycle", values=(1,), own=False),
    "ewn:board=7x7,cycle=8,directions=4,own=no": make_game(
        7, 7, die="cycle", values=dice(6, 8), own=False, directions=4
    ),
    "ewn:hole=yes": make_game(hole=True),
    "ewn:backward=yes": make_game(backward=True),
    "ewn:board=3x5,cubes=3,directions=4,own=no,hole=yes,backward=yes": make_game(
        3, 5, THREE, directions=4, own=False, hole=True, backward=True
    ),
    "ewn:cubes=3,die=free,backward=yes": make_game(5, 5, THREE, die="free", backward=True),
}


def write_perft() -> None:
    """Count from starts, and from positions with cubes gone; `python tests/naive_ewn.py`."""
    counted, source = [], random.Random(2048)
    depths = {"ewn": 7, "ewn-6x7": 8}
    for name, game in MEMBERS.items():
        numbers = list(range(game["cubes"]))
        positions = [first_position(game, numbers, numbers)]
        if name in depths:
            red, blue = source.sample(numbers, 6), source.sample(numbers, 6)
            positions += [first_position(game, red, blue)]
            positions += [random_position(game, source) for _ in range(6)]
        for position in positions:
            depth = depths.get(name, 5)
            counts = [perft(game, position, d) for d in range(1, depth + 1)]
            if counts[-1]:  # else it is over so soon that it tells little
                counted.append({"position": notation(name, position), "counts": counts})
    lines = ",\n".join(json.dumps(entry) for entry in counted)
    PERFT.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    write_perft()
