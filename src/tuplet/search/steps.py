"""Monte-Carlo tree search step by step: what each simulation selected, expanded, played and backed up.

The search is that of `mcts.search`, asked for one simulation at a time; nothing is computed twice. What it did is read
from its tree, and the moves of its random games are played again from the same random numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.games.protocol import (
    LONGEST,
    MOST_MOVES,
    NO_STEP,
    ONGOING,
    Int,
    Words,
    apply,
    apply_outcome,
    ending,
    payoff,
    playout_step,
    probability,
)
from tuplet.kernel import as_seed, draw, kernel, log, stream
from tuplet.search import bandits, mcts
from tuplet.search.bandits import BANDITS, wants_prior, worth
from tuplet.search.tree import CHANCE, DRAWN, FULL, NO_NODE, ROOT, SIMULATIONS, UNPROVEN, USED, Tree, make_tree, reset
from tuplet.system.stop import Stop, Stopped
from tuplet.system.tables import Displayable, TextTable

Array = np.ndarray[Any, Any]
Json = dict[str, Any]

COMPARED = ("ucb1", "tuned", "puct")  # bandits
MOST_STEPS = 1000
NODES = 100_000  # of the tree
_PLAYED = 512  # moves of a random game that are kept
MEAN, VARIANCE, PRIOR, SHARE, EXPLORATION, WORTH = range(6)  # columns of `bandit_terms`


@kernel
def descend(game: Any, tree: Tree, options: mcts.Options, state: np.uint64) -> tuple[np.uint64, Int]:
    """The random stream's next state, and the leaf that the next simulation selects. The tree is not changed."""
    return mcts.select(game, tree, options, ROOT, state)


@kernel
def bandit_terms(tree: Tree, options: mcts.Options, node: Int, terms: Array) -> Int:
    """What a bandit makes of the children of a node: a row each, in `terms`; returns the child it selects.

    The mean is that of the player to move. The worth is the mean and the exploration, which for ucb1, tuned and puct
    does not depend on the mean. A child without visits has a worth of infinity.
    """
    mover = np.int64(tree.sides[node])
    first, count = np.int64(tree.first[node]), np.int64(tree.children[node])
    parent_visits = float(max(tree.visits[node], 1))
    for i in range(count):
        child = first + i
        terms[i, :] = 0.0
        terms[i, PRIOR] = tree.priors[child]
        terms[i, WORTH] = np.inf
        if tree.visits[child] > 0:
            arm = mcts.arm_of(tree, options, child, mover, parent_visits, np.uint64(0))
            terms[i, MEAN], terms[i, VARIANCE] = arm.mean, arm.variance
            terms[i, SHARE] = log(parent_visits) / arm.visits
            unseen = bandits.Arm(0.0, arm.variance, arm.visits, parent_visits, arm.prior, arm.bits)
            terms[i, EXPLORATION] = worth(options.bandit, unseen)
            terms[i, WORTH] = worth(options.bandit, arm)
    return mcts.best_child(tree, options, node, np.uint64(0))


@kernel
def record_playout(
    game: Any, position: Words, state: np.uint64, shortcuts: bool, moves: Array, played: Array
) -> tuple[np.uint64, Int, float]:
    """Play the random game of `playout`; its outcomes of chance and moves are written to `played`, a row each step.

    Returns the random stream's next state, the number of steps, and the result of player 0.
    """
    count = 0
    while count < LONGEST and ending(game, position) == ONGOING:
        state, position, outcome, move = playout_step(game, position, state, shortcuts, moves)
        if count < len(played):
            played[count, 0], played[count, 1] = outcome, move
        count += 1
    return state, count, payoff(game, position, ending(game, position), False)


@kernel
def spread(bandit: Any, variance: float, share: float) -> float:
    """UCB1-Tuned's bound of the variance, to be called from Python."""
    return bandits.spread(bandit, variance, share)


@kernel
def _apply_step(game: Any, position: Words, outcome: Int, move: Int) -> Words:
    if outcome != NO_STEP:
        position = apply_outcome(game, position, outcome)
    return apply(game, position, move) if move != NO_STEP else position


@dataclass(frozen=True)
class SearchSteps(Displayable):
    """A tree search of a position, simulation by simulation; `as_json` has all of it.

    Results and values are those of the side that moves at the root: 0 lost, 1/2 drawn, 1 won. In a table of a bandit's
    terms the mean is that of the side that moves there.
    """

    game: str
    position: str  # the notation
    side: str  # that moves at the root
    settings: Json  # of the search: ucb and its constants, batch, expand, solver, shortcuts
    seed: int
    first: int  # the number of the first step
    tree: list[Json]  # the nodes before the first step
    steps: list[Json]
    done: bool  # the root is proven, or the tree is full: there are no more steps

    def as_json(self) -> Json:
        """The tree before the first step, and the steps."""
        return {
            "game": self.game,
            "position": self.position,
            "side": self.side,
            "settings": self.settings,
            "seed": self.seed,
            "first": self.first,
            "tree": self.tree,
            "steps": self.steps,
            "done": self.done,
        }

    def text_tables(self) -> list[TextTable]:
        """A table for each step: the nodes on its path and the new ones, before and after."""
        nodes = {each["node"]: each for each in [*self.tree, *(new for step in self.steps for new in step["expanded"])]}
        return [self._table(step, nodes) for step in self.steps]

    def _table(self, step: Json, nodes: dict[int, Json]) -> TextTable:
        def line(node: Json) -> str:
            move = node["move"] if node["chance"] is None else f"[{node['move']}]"
            return f"{line(nodes[node['parent']])} {move}".strip() if node["parent"] is not None else ""

        rows = []
        for change in step["backup"]:
            visits, values = change["visits"], change["value"]
            shown = ["-" if value is None else f"{value:.3f}" for value in values]
            rows.append([line(nodes[change["node"]]) or "root", *(f"{n:,}" for n in visits), *shown])
        games = sum(each["games"] for each in step["playouts"])
        kind = "expands, then " if step["expanded"] else ""
        title = f"{step['number']}: {kind}{games} random game{'' if games == 1 else 's'}"
        return TextTable(title, ("node", "visits", "after", "value", "after"), rows)


def search_steps(
    position: Any,
    ucb: str = "tuned",
    *,
    c: float | None = None,
    c1: float | None = None,
    c2: float | None = None,
    k: float | None = None,
    batch: int = 1,
    expand: int = 4,
    solver: bool = True,
    shortcuts: bool = True,
    first: int = 0,
    last: int = 100,
    seed: int = 0,
    stop: Stop | None = None,
) -> SearchSteps:
    """Search a position of a game for two, and return what each simulation did, from step `first` to before `last`.

    Step 0 expands the root and plays random games from each of its children. `ucb` is ucb1, tuned or puct; `c`, `c1`,
    `c2` and `k` are its constants. `batch` is the number of random games of a simulation, `expand` the visits after
    which a leaf gets children. The tree is that of the agent `mcts` with the same settings and seed. For each step:

    - `path`: the nodes from the root to the leaf, by number
    - `choices`: for each of them but the last, its children with the terms of the bandits, and which child is selected;
      `would` says what each of the three bandits would select here
    - `expanded`: the new nodes
    - `playouts`: the random games: from which node, their results, and the steps of the first one
    - `backup`: visits, value and total (the sum of the results of the first side) of each node, before and after
    """
    if position.game.players != 2:
        raise UserError(f"a search is shown step by step in games for two (got {position.game.name})")
    if position.over:
        raise UserError("the game is over")
    if position.is_chance:
        raise UserError(f"{position.chance_prompt()} first")
    if ucb not in COMPARED:
        raise UserError(f"ucb must be {', '.join(COMPARED[:-1])} or {COMPARED[-1]} (got {ucb!r})")
    for name, value, most in (("batch", batch, 100), ("expand", expand, 10_000)):
        if not 1 <= value <= most:
            raise UserError(f"{name} must be 1 to {most:,} (got {value:,})")
    if not 0 <= first < last:
        raise UserError(f"first must be 0 or more, and less than last (got {first} and {last})")
    if last > MOST_STEPS:
        raise UserError(f"last must be at most {MOST_STEPS:,} (got {last:,})")
    constants = {name: value for name, value in (("c", c), ("c1", c1), ("c2", c2), ("k", k)) if value is not None}
    options = mcts.Options(_bandit(ucb, constants), batch, expand, False, shortcuts, solver)
    tracer = _Tracer(position, options, ucb, seed)
    before = tracer.nodes(range(1)) if first == 0 else []
    steps = []
    for number in range(last):
        if number == first and first > 0:
            before = tracer.nodes(range(tracer.used))
        if tracer.done:
            break
        if stop is not None and stop.is_set():
            raise Stopped("stopped before the last step")
        step = tracer.step(number)
        if number >= first:
            steps.append(step)
    settings = {"ucb": ucb, **options.bandit._asdict(), "batch": batch, "expand": expand}
    settings |= {"solver": solver, "shortcuts": shortcuts}
    name, side = position.game.name, position.turn
    return SearchSteps(name, position.notation, side, settings, seed, first, before, steps, tracer.done)


def _bandit(ucb: str, constants: dict[str, float]) -> Any:
    kind: Any = BANDITS[ucb]
    for name, value in constants.items():
        if name not in kind._fields:
            raise UserError(f"{ucb} has no {name}: it has {' and '.join(kind._fields)}")
        if not 0 <= value <= 1e6:
            raise UserError(f"{name} must be 0 to 1,000,000 (got {value:g})")
    return kind(**{name: float(value) for name, value in constants.items()})


class _Tracer:
    """A search that says what it does."""

    def __init__(self, position: Any, options: mcts.Options, ucb: str, seed: int) -> None:
        self.position, self.rules, self.options, self.ucb = position, position.rules, options, ucb
        self.tree = make_tree(NODES)
        reset(self.rules, self.tree, position.words)
        self.state = np.uint64(stream(as_seed(seed), np.uint64(0)))
        self.root_side = int(self.tree.sides[ROOT])
        self.bandits = {name: options._replace(bandit=BANDITS[name]()) for name in COMPARED}
        self.bandits[ucb] = options
        self.terms, self.moves = np.zeros((MOST_MOVES, 6)), np.zeros(MOST_MOVES, np.uint8)
        self.played = np.zeros((_PLAYED, 2), np.int32)

    @property
    def used(self) -> int:
        return int(self.tree.counters[USED])

    @property
    def done(self) -> bool:
        """Whether the search has ended."""
        return bool(self.tree.proven[ROOT] != UNPROVEN or self.tree.counters[FULL])

    def words(self, node: int) -> Words:
        return np.uint64(self.tree.word0[node]), np.uint64(self.tree.word1[node])

    def children(self, node: int) -> range:
        first = int(self.tree.first[node])
        return range(first, first + int(self.tree.children[node])) if first != NO_NODE else range(0)

    def side(self, node: int) -> str:
        """Who acts at a node: a side, "chance", or "" where the game is over."""
        if self.tree.endings[node] != ONGOING:
            return ""
        return "chance" if self.tree.sides[node] == CHANCE else str(self.position.sides[int(self.tree.sides[node])])

    def nodes(self, numbers: range) -> list[Json]:
        """Nodes as plain values."""
        found = []
        for node in numbers:
            parent, code = int(self.tree.parents[node]), int(self.tree.moves[node])
            move, chance = "", None
            if parent != NO_NODE:
                before = self.position.at(self.words(parent))
                if self.tree.sides[parent] == CHANCE:
                    move = before.game.outcome_text(before.words, code)
                    chance = float(probability(self.rules, before.words, code))
                else:
                    move = before.move_text(code)
            found.append(
                {
                    "node": node,
                    "parent": None if parent == NO_NODE else parent,
                    "move": move,
                    "chance": chance,
                    "side": self.side(node),
                    "position": self.position.at(self.words(node)).notation,
                    **self.figures(node),
                }
            )
        return found

    def figures(self, node: int) -> Json:
        """Visits, the sum of results, and the value to the side that moves at the root."""
        visits, total = int(self.tree.visits[node]), float(self.tree.totals[node])
        proven = int(self.tree.proven[node])
        value = None if not visits else total / visits if self.root_side == 0 else 1.0 - total / visits
        sure = None if proven == UNPROVEN else 0.5 if proven == DRAWN else float(proven == self.root_side)
        return {"visits": visits, "value": value, "total": total, "proven": sure}

    def step(self, number: int) -> Json:
        """Make a simulation, and say what it did."""
        tree, state = self.tree, self.state
        leaf = ROOT
        if number:
            after, selected = descend(self.rules, tree, self.options, state)
            state, leaf = np.uint64(after), int(selected)
        path = self.path(leaf)
        choices = [self.choice(node, then) for node, then in pairwise(path)]
        used, known = self.used, bool(tree.endings[leaf] != ONGOING or tree.proven[leaf] != UNPROVEN)
        before = {node: self.figures(node) for node in path}
        target = int(tree.counters[SIMULATIONS]) + 1
        self.state = np.uint64(mcts.search(self.rules, tree, self.options, target, np.inf, self.state))
        new = range(used, self.used)
        simulated = [*new] or [leaf]
        if new and tree.sides[leaf] == CHANCE:  # the descent went on through an outcome, unless all are proven
            simulated = [node for node in new if tree.visits[node]] or [leaf]
            known = simulated == [leaf]
            if not known:
                state = np.uint64(draw(state)[0])
                path.append(simulated[0])
                choices.append(self.choice(leaf, simulated[0]))
        if new and not wants_prior(self.options.bandit) and tree.sides[leaf] != CHANCE:
            mcts.set_priors(self.rules, tree, self.bandits["puct"], leaf)  # for comparison: this search ignores them
        playouts = []
        for node in simulated:
            over = known or bool(tree.endings[node] != ONGOING)
            state, games = self.playouts(node, state, over)
            playouts.append(games)
        if state != self.state:
            raise UserError(
                f"the random games of {self.position.game.name} cannot be shown step by step: its playout has no "
                "playout_step that draws the same random numbers"
            )
        changed = dict.fromkeys([*path, *new])
        nothing = {"visits": 0, "value": None, "total": 0.0, "proven": None}
        return {
            "number": number,
            "simulations": int(tree.counters[SIMULATIONS]),
            "path": path,
            "choices": choices,
            "expanded": self.nodes(new),
            "playouts": playouts,
            "backup": [self.change(node, before.get(node, nothing)) for node in changed],
        }

    def path(self, node: int) -> list[int]:
        """The nodes from the root to a node."""
        found = [node]
        while (node := int(self.tree.parents[node])) != NO_NODE:
            found.append(node)
        return found[::-1]

    def choice(self, node: int, selected: int) -> Json:
        """A node on the path: its children, and the one that was selected."""
        rows: list[Json] = []
        would: dict[str, int] = {}
        if self.tree.sides[node] == CHANCE:
            rows = [{"node": n, "visits": int(self.tree.visits[n])} for n in self.children(node)]
            compared = {}
        else:
            compared = self.bandits
            would[self.ucb] = selected
        for name, options in compared.items():
            would.setdefault(name, int(bandit_terms(self.tree, options, node, self.terms)))
            for i, child in enumerate(self.children(node)):
                terms = self.terms[i]
                if len(rows) <= i:
                    rows.append(self.seen(child, terms))
                rows[i]["bandits"][name] = self.bandit_row(options.bandit, name, child, terms)
        visits = int(self.tree.visits[node])
        chosen = {"node": node, "side": self.side(node), "visits": visits, "selected": selected}
        return {**chosen, "children": rows, "would": would}

    def seen(self, child: int, terms: Array) -> Json:
        """What is the same for all bandits."""
        visits = int(self.tree.visits[child])
        figures = {"mean": float(terms[MEAN]) if visits else None}
        figures |= {"variance": float(terms[VARIANCE]) if visits else None, "prior": float(terms[PRIOR])}
        proven = int(self.tree.proven[child]) != UNPROVEN
        return {"node": child, "visits": visits, **figures, "proven": proven, "bandits": {}}

    def bandit_row(self, bandit: Any, name: str, child: int, terms: Array) -> Json:
        """The terms of a bandit's formula; None for a child without visits, whose worth is infinite."""
        if not self.tree.visits[child]:
            return {"exploration": None, "worth": None}
        row = {"exploration": float(terms[EXPLORATION]), "worth": float(terms[WORTH])}
        if name == "tuned":
            row["spread"] = float(spread(bandit, terms[VARIANCE], terms[SHARE]))
        return row

    def playouts(self, node: int, state: np.uint64, over: bool) -> tuple[np.uint64, Json]:
        """The random games that were played from a node: the state after them, and their results."""
        results, steps = [], []
        for game in range(0 if over else self.options.batch):
            state, count, result = record_playout(
                self.rules, self.words(node), state, self.options.shortcuts, self.moves, self.played
            )
            state = np.uint64(state)
            results.append(float(result) if self.root_side == 0 else 1.0 - float(result))
            if game == 0:
                steps = list(self.replayed(self.words(node), min(int(count), _PLAYED)))
        return state, {"node": node, "games": self.options.batch, "known": over, "results": results, "steps": steps}

    def replayed(self, words: Words, count: int) -> Iterator[Json]:
        """The steps of a random game."""
        for outcome, move in self.played[:count].tolist():
            position = self.position.at(words)
            rolled = None
            if outcome != NO_STEP:
                rolled = position.game.outcome_text(position.words, outcome)
                position = self.position.at(_apply_step(self.rules, words, outcome, NO_STEP))
            text = None if move == NO_STEP else position.move_text(move)
            words = _apply_step(self.rules, words, outcome, move)
            words = np.uint64(words[0]), np.uint64(words[1])
            yield {"outcome": rolled, "move": text, "position": self.position.at(words).notation}

    def change(self, node: int, before: Json) -> Json:
        """The figures of a node before and after."""
        after = self.figures(node)
        pairs = {name: [before[name], after[name]] for name in ("visits", "value", "total")}
        return {"node": node, **pairs, "proven": after["proven"]}
