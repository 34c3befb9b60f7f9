"""How many threads learn: the best number is measured, kept, and measured again when the speed changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tuplet import train
from tuplet.learn.parallel.thread_tuning import KEEP, SELDOM, SHARED, ThreadTuner

Speeds = Callable[[float], dict[int, float]]  # of each number of threads, at a time


def learn(tuner: ThreadTuner, speeds: Speeds, seconds: float) -> tuple[float, list[tuple[float, int]]]:
    """What is learned in a time, in moves of one thread, and how many threads there were when."""
    now, worth, counts = 0.0, 0.0, []
    while now < seconds:
        count, keep = tuner.next(now)
        keep = min(keep, seconds - now)
        rate = speeds(now)[count]
        worth += keep * rate * (SHARED if count > 1 else 1.0)
        counts.append((now, count))
        now += keep
        tuner.record(count, rate, now)
    return worth, counts


def good(_: float) -> dict[int, float]:
    return {1: 1.0, 2: 1.63}


def bad(_: float) -> dict[int, float]:
    return {1: 1.0, 2: 0.75}


@pytest.mark.parametrize("seconds", [60, 300, 1800])
def test_in_good_spells_threads_share(seconds: float) -> None:
    worth, _ = learn(ThreadTuner(2, 0.0), good, seconds)
    assert worth > 0.97 * seconds * 1.63 * SHARED


@pytest.mark.parametrize("seconds", [60, 300, 1800])
def test_in_bad_spells_it_is_hardly_slower_than_one_thread(seconds: float) -> None:
    worth, counts = learn(ThreadTuner(2, 0.0), bad, seconds)
    assert worth > 0.97 * seconds
    assert counts[-1][1] == 1


def test_a_spell_that_changes_is_noticed() -> None:
    def speeds(now: float) -> dict[int, float]:
        return good(now) if now < 600 or now > 1200 else bad(now)

    _, counts = learn(ThreadTuner(2, 0.0), speeds, 2000)
    assert next(now for now, count in counts if count == 1 and now > 600) < 620
    during = [count for now, count in counts if 640 < now < 1150]
    assert during.count(1) > 0.8 * len(during)
    after = [count for now, count in counts if now > 1200 + SELDOM + 30]
    assert after.count(2) > 0.8 * len(after)


def test_growth_that_slows_all_down_changes_nothing() -> None:
    def speeds(now: float) -> dict[int, float]:
        return {count: rate * (1 if now < 100 else 0.4) for count, rate in good(now).items()}

    _, counts = learn(ThreadTuner(2, 0.0), speeds, 400)
    assert [count for now, count in counts if now > 110].count(1) <= 3


def test_on_many_cores_fewer_may_share() -> None:
    _, counts = learn(ThreadTuner(16, 0.0), lambda _: {1: 1.0, 2: 1.8, 4: 3.0, 8: 3.5, 16: 2.0}, 600)
    assert counts[-1][1] == 8


def test_others_are_tried_by_the_clock_of_the_first_call() -> None:
    began = 5000.0
    tuner = ThreadTuner(4, began)
    for count, rate in ((4, 3.0), (1, 1.0), (4, 3.0), (4, 3.0)):  # two threads are not tried at once
        assert tuner.next(began)[0] == count
        tuner.record(count, rate, began)
    assert tuner.next(began + KEEP)[0] == 2


def test_a_training_uses_one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[float] = []

    class Watched(ThreadTuner):
        def __init__(self, most: int, now: float) -> None:
            times.append(now)
            super().__init__(most, now)

        def next(self, now: float) -> tuple[int, float]:
            times.append(now)
            return super().next(now)

    monkeypatch.setattr("tuplet.learn.training.ThreadTuner", Watched)
    train("0123 4567", games=50, threads=2, progress=False)
    assert 0 <= times[0] < 1 and times == sorted(times) and len(times) > 1


def test_one_thread_that_went_first_is_not_tried_again_at_once() -> None:
    tuner = ThreadTuner(2, 0.0)
    tuner.record(1, 1.0, 0.0)
    assert tuner.next(0.0)[0] == 2
    tuner.record(2, 1.6, 1.5)
    assert tuner.next(1.5)[0] == 2
    tuner.record(2, 0.7, 3.0)
    assert tuner.next(3.0)[0] == 1
