"""How many threads learn: what pays is found, kept, and looked at again when the speed changes."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tuplet import train
from tuplet.learn.parallel.thread_tuning import _APART, _SHARED, APART, KEEP, SELDOM, Hands

Speeds = Callable[[float], dict[int, float]]  # of each way, at a time


def learn(hands: Hands, speeds: Speeds, seconds: float, room: bool = True) -> tuple[float, list]:
    """What is learned in a time, in moves of one thread, and which way was taken when."""
    now, worth, ways = 0.0, 0.0, []
    while now < seconds:
        way, keep = hands.next(now, lambda: room)
        keep = min(keep, 10.0 if way == APART else keep, seconds - now)
        rate = speeds(now)[way]
        by = _APART if way == APART else _SHARED if way > 1 else 1.0
        worth += keep * rate * by
        ways.append((now, way))
        now += keep
        hands.heard(way, rate, now)
    return worth, ways


def good(_: float) -> dict[int, float]:
    return {1: 1.0, 2: 1.63, APART: 1.8}


def bad(_: float) -> dict[int, float]:
    return {1: 1.0, 2: 0.75, APART: 1.8}


@pytest.mark.parametrize("seconds", [60, 300, 1800])
def test_in_good_spells_threads_share(seconds: float) -> None:
    worth, ways = learn(Hands(2, 0.0), good, seconds)
    assert worth > 0.97 * seconds * 1.63 * _SHARED
    assert APART not in [way for _, way in ways]  # it could not win


@pytest.mark.parametrize("seconds", [60, 300, 1800])
@pytest.mark.parametrize("room", [True, False])
def test_in_bad_spells_it_is_never_worse_than_one_thread(seconds: float, room: bool) -> None:
    worth, ways = learn(Hands(2, 0.0), bad, seconds, room)
    assert worth > 0.97 * seconds
    if room:
        assert worth > 1.1 * seconds
        assert ways[-1][1] == APART
    else:
        assert APART not in [way for _, way in ways]


def test_a_spell_that_changes_is_noticed() -> None:
    def speeds(now: float) -> dict[int, float]:
        return good(now) if now < 600 or now > 1200 else bad(now)

    _, ways = learn(Hands(2, 0.0), speeds, 2000)
    assert next(now for now, way in ways if way != 2 and now > 600) < 620
    assert {way for now, way in ways if 640 < now < 1150} == {APART, 1, 2}
    back = [way for now, way in ways if now > 1200 + SELDOM + 30]
    assert back.count(2) > 0.8 * len(back)


def test_growth_that_slows_all_ways_down_changes_nothing() -> None:
    def speeds(now: float) -> dict[int, float]:
        return {way: rate * (1 if now < 100 else 0.4) for way, rate in good(now).items()}

    _, ways = learn(Hands(2, 0.0), speeds, 400)
    assert [way for now, way in ways if now > 110].count(1) <= 3


def test_on_many_cores_fewer_may_share() -> None:
    def speeds(_: float) -> dict[int, float]:
        return {1: 1.0, 2: 1.8, 4: 3.0, 8: 3.5, 16: 2.0, APART: 1.0}

    _, ways = learn(Hands(16, 0.0), speeds, 600)
    assert ways[-1][1] == 8


def test_others_are_due_by_the_clock_that_asks() -> None:
    began = 5000.0
    hands = Hands(4, began)
    for way, rate in ((4, 3.0), (1, 1.0), (4, 3.0), (4, 3.0)):  # two are not tried at once
        assert hands.next(began, lambda: True)[0] == way
        hands.heard(way, rate, began)
    assert hands.next(began + KEEP, lambda: True)[0] == 2


def test_a_training_begins_it_when_the_clock_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[float] = []

    class Watched(Hands):
        def __init__(self, most: int, now: float) -> None:
            times.append(now)
            super().__init__(most, now)

        def next(self, now: float, room: Callable[[], bool]) -> tuple[int, float]:
            times.append(now)
            return super().next(now, room)

    monkeypatch.setattr("tuplet.learn.training.Hands", Watched)
    before = time.perf_counter()
    train("0123 4567", games=50, threads=2, progress=False)
    assert [before, *times] == sorted([before, *times]) and len(times) > 1


def test_one_thread_that_went_first_need_not_be_tried_again_at_once() -> None:
    hands = Hands(2, 0.0)
    hands.heard(1, 1.0, 0.0)
    assert hands.next(0.0, lambda: False)[0] == 2
    hands.heard(2, 1.6, 1.5)
    assert hands.next(1.5, lambda: False)[0] == 2
    hands.heard(2, 0.7, 3.0)
    assert hands.next(3.0, lambda: False)[0] == 1
