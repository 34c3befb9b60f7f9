"""The average of networks plays by the mean of their values."""

from __future__ import annotations

import numpy as np
import pytest

import tuplet
from tuplet import Network, average

BOARDS = [
    [2, 4, 8, 16, 0, 2, 64, 32, 4, 8, 256, 128, 0, 2, 512, 1024],
    [2, 2] + 14 * [0],
    [64, 32, 4, 2, 128, 2, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0],
]


def learned(net: str, seed: int, **settings: object) -> Network:
    return tuplet.train(net, games=100, seed=seed, **settings).network


@pytest.mark.parametrize("nets", [["0123 4567"] * 3, ["0123 4567", "0145", "0123"], ["0123 0145", "0145 4567"]])
def test_its_values_are_the_mean_of_theirs(nets: list[str]) -> None:
    members = [learned(net, seed) for seed, net in enumerate(nets)]
    mean = average(members)
    for board in BOARDS:
        expected = np.mean([member.value(board) for member in members])
        assert mean.value(board) == pytest.approx(expected, rel=1e-5)
        assert expected != 0


def test_stages_count_as_they_would_be_read() -> None:
    members = [learned("0123 4567", seed, stages="64") for seed in range(3)]
    never = Network("0123 4567", stages="64")  # reads the first stage everywhere
    members.append(never)
    mean = average(members)
    for board in BOARDS:
        expected = np.mean([member.value(board) for member in members])
        assert mean.value(board) == pytest.approx(expected, rel=1e-5)


def test_an_optimistic_start_counts_where_nothing_was_learned() -> None:
    members = [Network("0123", initial=800.0), Network("0123 4567", initial=400.0)]
    assert average(members).value(BOARDS[0]) == pytest.approx(600)


def test_values_that_mean_different_things_have_no_average() -> None:
    with pytest.raises(ValueError, match="different target"):
        average([Network("0123"), Network("0123", target="state")])
    with pytest.raises(ValueError, match="different size"):
        average([Network("012", board="3x3"), Network("0123")])
    with pytest.raises(ValueError, match="at least one network"):
        average([])
