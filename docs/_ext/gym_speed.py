"""How fast environments of 2048 are: `python docs/_ext/gym_speed.py`.

Ours as Gymnasium measures it, random moves included, and beside it what else is installed here:
pgx and jumanji (JAX; compiled loops of 32 steps, random moves and new games included), and
gymnasium-2048 (one board). What is not installed is left out; `pip install pgx jumanji
gymnasium-2048` gets them.

Speeds are steps a second, by the clock and by the time that processors gave: the two differ where
more than one core is at work, or where a machine has other things to do.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import numpy as np

Run = tuple[str, int, Callable[[], int]]  # what, how many boards, and steps made by a call
INSIDE = 32  # steps in a compiled loop of JAX


def ours(sizes: list[int], threads: int | None) -> Iterator[Run]:
    """Our vector environment, each way of showing boards, and the single one."""
    import gymnasium

    import tuplet.adapters.gym as adapter

    for observation in ("exponents", "onehot", "afterstates"):
        for count in sizes:
            envs: Any = gymnasium.make_vec(adapter.ID, count, observation=observation, threads=threads)
            envs.reset(seed=1)
            envs.action_space.seed(1)

            def step(envs: Any = envs, ended: Any = np.zeros(count, bool)) -> int:  # noqa: B008
                # As gymnasium.utils.performance.benchmark_vector_step, which came with 1.4: a step
                # that only begins a new game does not count.
                begun = int(ended.sum())
                ended[:] = envs.step(envs.action_space.sample())[2]
                return int(envs.num_envs) - begun

            yield f"tuplet, {observation}", count, step
    env: Any = gymnasium.make(adapter.ID)
    env.reset(seed=1)
    moves = np.random.default_rng(1).integers(0, 4, 4096).tolist()

    def one() -> int:
        for move in moves:
            if env.step(move)[2]:
                env.reset()
        return len(moves)

    yield "tuplet, single", 1, one


def by_gymnasium(sizes: list[int], seconds: float, threads: int | None) -> None:
    """Print what Gymnasium's own benchmark says, three times each."""
    import gymnasium
    from gymnasium.utils.performance import benchmark_vector_step

    import tuplet.adapters.gym as adapter

    for count in sizes:
        for _ in range(3):
            envs: Any = gymnasium.make_vec(adapter.ID, count, threads=threads)
            speed = benchmark_vector_step(envs, target_duration=seconds, seed=1)
            print(f"{count:>8,} boards {speed:>14,.0f} steps/s", flush=True)


def theirs_pgx(sizes: list[int], _: int | None) -> Iterator[Run]:
    """Pgx: an illegal move ends its games, so moves are drawn from the legal ones."""
    import jax
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make("2048")
    begin, play = jax.vmap(env.init), jax.vmap(auto_reset(env.step, env.init))
    for count in sizes:

        def some(state: Any, key: Any, count: int = count) -> Any:
            def step(state: Any, key: Any) -> Any:
                first, second = jax.random.split(key)
                logits = jax.numpy.where(state.legal_action_mask, 0.0, -1e9)
                moves = jax.random.categorical(first, logits)
                state = play(state, moves, jax.random.split(second, count))
                return state, state.rewards.sum()

            return jax.lax.scan(step, state, jax.random.split(key, INSIDE))[0]

        yield f"pgx {version('pgx')}", count, _looped(jax, begin, some, count)


def theirs_jumanji(sizes: list[int], _: int | None) -> Iterator[Run]:
    """Jumanji: an illegal move changes nothing."""
    import jax
    import jumanji
    from jumanji.wrappers import AutoResetWrapper

    env: Any = AutoResetWrapper(jumanji.make("Game2048-v1"))
    begin = jax.vmap(lambda key: env.reset(key)[0])
    play = jax.vmap(lambda state, move: env.step(state, move)[0])
    for count in sizes:

        def some(state: Any, key: Any, count: int = count) -> Any:
            def step(state: Any, key: Any) -> Any:
                state = play(state, jax.random.randint(key, (count,), 0, 4))
                return state, state.score.sum()

            return jax.lax.scan(step, state, jax.random.split(key, INSIDE))[0]

        yield f"jumanji {version('jumanji')}", count, _looped(jax, begin, some, count)


def _looped(jax: Any, begin: Any, some: Any, count: int) -> Callable[[], int]:
    """Calls of a compiled loop, each of which goes on where the last one ended."""
    held = [jax.jit(begin)(jax.random.split(jax.random.PRNGKey(0), count)), jax.random.PRNGKey(1)]
    compiled = jax.jit(some)

    def call() -> int:
        held[1], key = jax.random.split(held[1])
        held[0] = jax.block_until_ready(compiled(held[0], key))
        return INSIDE * count

    return call


def theirs_gymnasium_2048(_: list[int], __: int | None) -> Iterator[Run]:
    """gymnasium-2048: one board, in Python and NumPy."""
    import gymnasium
    import gymnasium_2048  # noqa: F401  # registers it

    env: Any = gymnasium.make("gymnasium_2048/TwentyFortyEight-v0", disable_env_checker=True).unwrapped
    env.reset(seed=1)
    moves = np.random.default_rng(1).integers(0, 4, 256).tolist()

    def one() -> int:
        for move in moves:
            if env.step(move)[2]:
                env.reset()
        return len(moves)

    yield f"gymnasium-2048 {version('gymnasium-2048')}", 1, one


MEASURED: dict[str, Callable[[list[int], int | None], Iterator[Run]]] = {
    "tuplet": ours,
    "pgx": theirs_pgx,
    "jumanji": theirs_jumanji,
    "gymnasium-2048": theirs_gymnasium_2048,
}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each line")
    parser.add_argument("--boards", default="1024,16384")
    parser.add_argument("--only", help="tuplet, pgx, jumanji or gymnasium-2048")
    parser.add_argument("--threads", type=int, help="of ours [default: one a core]")
    parser.add_argument("--gymnasium", action="store_true", help="ours, by Gymnasium's own clock")
    asked = parser.parse_args()
    sizes = [int(size) for size in asked.boards.split(",")]
    if asked.gymnasium:
        by_gymnasium(sizes, asked.seconds, asked.threads)
        return
    print(f"{'environment':24}{'boards':>8}{'steps/s':>14}{'by processor':>14}{'us/step':>10}")
    for name, measured in MEASURED.items():
        if asked.only not in (None, name):
            continue
        try:
            for what, count, call in measured(sizes, asked.threads):
                call()  # compiles
                steps, began, used = 0, time.perf_counter(), time.process_time()
                while time.perf_counter() - began < asked.seconds:
                    steps += call()
                clock, given = time.perf_counter() - began, time.process_time() - used
                print(
                    f"{what:24}{count:>8,}{steps / clock:>14,.0f}{steps / given:>14,.0f}{1e6 * given / steps:>10.3f}",
                    flush=True,
                )
        except ImportError as error:
            print(f"{name}: not installed ({error})")


if __name__ == "__main__":
    main()
