"""Diagnoses: what a program probably did wrong, judged by what it sent."""

from __future__ import annotations

from typing import NamedTuple

from tuplet.agents.protocol import fallback_rules as rules
from tuplet.agents.protocol.fallback_rules import FallbackPosition

DIRECTIONS = ("horizontal", "vertical", "diagonal forward", "the fourth diagonal")
NAMES = ("Red", "Blue")


class Advice(NamedTuple):
    """The likely cause of a problem, and what to do about it."""

    cause: str
    fix: str


RESET = Advice(
    "something of the game before is left: the position, the number of the ply, or input",
    "set up everything anew when a game begins: both sides' cubes, the die, the ply, your side",
)
ONE_GAME = Advice(
    "it plays one game only",
    "after a game read one character: y means that another setup follows, anything else is the end",
)
FLUSH = Advice(
    "it keeps its output in a buffer, which is sent only when it ends",
    "flush after each move: print(move, end='', flush=True), std::cout << std::flush, fflush(stdout)",
)
LINES = Advice(
    "it waits for the end of a line, but the protocol has none",
    'read characters, not lines: sys.stdin.read(1), std::cin >> c, scanf(" %c", &c)',
)
BUSY = Advice(
    "it thinks for too long, or for ever", "look at the clock while searching, and leave a tenth of the time unused"
)
WAITS = Advice(
    "it waits, for input that does not come, it seems: it expects more, or has missed something",
    "a setup is 33 digits and f or s, a move two digits, nothing between or behind them",
)
CAPTURED = Advice(
    "the cube was captured, and it does not know",
    "apply the opponent's moves, and take what stands on the target off the board",
)
NEARLY = Advice("it uses nearly all of its time", "leave a tenth of it unused")
BEYOND = Advice(
    "it reads or writes beyond an array, or through a bad pointer",
    "compile with -g -fsanitize=address, and play the moves below",
)
LAST_WORDS = Advice(
    "see its last words below (!), if there are any",
    "run it by hand with the same input: what it was sent stands below",
)
TWICE = Advice(
    "it moves when it is not its turn, or sends a move twice",
    "one move for each question: the setup with f, or the opponent's move, while the game goes on",
)
BEHIND = Advice(
    "it starts other processes, and does not end them", "end and wait for what it has started before it ends"
)
EXIT_CODE = Advice(
    "something fails, or returns that code, on the way out", "end with code 0: return 0 from main, sys.exit(0)"
)
END_OF_INPUT = Advice(
    "it does not notice the end of its input",
    "end when it does: in Python read(1) returns '', in C getchar() returns EOF, in C++ std::cin >> c is false",
)
END_OF_GAMES = Advice(
    "it does not read the character after a game, or goes on whatever it is",
    "after a game read one character, and end unless it is y",
)
CHATTER = Advice(
    "it prints something else than moves to standard output",
    "print it to standard error: print(..., file=sys.stderr), std::cerr, fprintf(stderr, ...)",
)
SPACES = Advice(
    "it prints spaces or ends of lines around its moves, as print() and std::endl do",
    "send the two digits alone: print(move, end='', flush=True), std::cout << move << std::flush",
)


def out_of_turn(text: str) -> Advice:
    """Why a text came that was not requested."""
    return TWICE if text.isdecimal() else CHATTER


def diagnose_move(position: FallbackPosition, sent: str, before: FallbackPosition | None) -> Advice:
    """Why `sent`, which should begin with a legal move, does not. `before` is the position of its last move."""
    move = sent.strip()[:2]
    if len(move) < 2 or not set(move) <= set("0123456789"):
        return CHATTER
    own, side = position.cubes[position.turn], NAMES[position.turn]
    alive = [cube for cube in range(rules.CUBES) if own[cube] != rules.GONE]
    cube, direction = int(move[0]), int(move[1])
    if before is not None and move in rules.legal_moves(before) and cube not in alive:
        return CAPTURED
    if cube >= rules.CUBES:
        return Advice(f"there is no cube {cube}", "cubes are numbered from 0 to 5")
    if cube not in {int(each[0]) for each in rules.legal_moves(position)}:
        return _diagnose_cube(position, move, alive)
    if direction > 3:
        return Advice(f"there is no direction {direction}", "directions are 0 to 3")
    row, column = divmod(own[cube], rules.COLUMNS)
    return Advice(
        f"cube {cube} stands in row {row + 1}, column {column + 1} of 6x7, and direction "
        f"{direction} ({DIRECTIONS[direction]}) leads off the board for {side}",
        "Red's directions 0 to 3 are right, down, right-down, right-up; Blue's left, up, left-up, left-down",
    )


def _diagnose_cube(position: FallbackPosition, move: str, alive: list[int]) -> Advice:
    """Why a cube was moved that may not move now: the facts, and possible causes."""
    face = position.die[position.ply % rules.DIE]
    may = sorted({move[0] for move in rules.legal_moves(position)})
    fact = f"the die shows {face}, so that only cube {face} may move"
    if int(face) not in alive:
        fact = f"the die shows {face}, whose cube is gone: only cube {' or '.join(may)} may move"
    perhaps, fixes = [], []
    if int(move[0]) not in alive:
        perhaps.append(f"it does not know that its cube {move[0]} is gone")
        fixes.append("apply every move to the board, captures of own cubes included")
    elif int(face) not in alive:
        perhaps.append("it looks for the nearest cubes wrongly")
        fixes.append("the nearest lower and the nearest higher number that are left may move")
    if move[::-1] in rules.legal_moves(position):
        perhaps.append("the direction comes first")
        fixes.append("a move is the cube, then the direction")
    for off, word in ((1, "next"), (-1, "one before")):
        other = position.die[(position.ply + off) % rules.DIE]
        if move in rules.legal_moves(position._replace(die=other * rules.DIE)):
            perhaps.append(f"it reads the die one off (the {word} is {other})")
            fixes.append("ply n, counted from 0 over both sides' moves, uses value n mod 21")
    if _is_other_sides(position, move):
        perhaps.append("the sides are exchanged")
        fixes.append("the first six digits are Red's cubes, the next Blue's; f is Red, s Blue")
    if not perhaps:
        perhaps.append("its board is not the referee's")
        fixes.append("print the board to standard error after each move, and compare")
    return Advice(f"{fact}; perhaps {', or '.join(perhaps)}", "; ".join(dict.fromkeys(fixes)))


def _is_other_sides(position: FallbackPosition, move: str) -> bool:
    """True if the move is legal for the other side, now or one ply before, or with the cubes swapped."""
    faces = [position.die[(position.ply - back) % rules.DIE] for back in (0, 1)]
    as_other = position._replace(ply=1 - position.turn)
    swapped = position._replace(cubes=(position.cubes[1], position.cubes[0]))
    tried = [each._replace(die=face * rules.DIE) for face in faces for each in (as_other, swapped)]
    return any(move[0] == each.die[0] and move in rules.legal_moves(each) for each in tried)
