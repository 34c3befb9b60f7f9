"""The average of networks.

A network's value is a sum of weights, so the mean of several networks' values is the value of one
network with the means of their weights (0 where a network lacks a tuple). Playing by an ensemble's
mean value costs no more than playing by one network.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tuplet.errors import UserError
from tuplet.values.network import Network
from tuplet.values.patterns import Tuple, format_tuples


def average(networks: Sequence[Network]) -> Network:
    """The network whose values are the means of these networks' values."""
    if not networks:
        raise UserError("an average needs at least one network")
    first = networks[0]
    for name in ("size", "stages", "target", "gamma", "spawn4"):
        own = {getattr(net, name) for net in networks}
        if len(own) > 1:
            raise UserError(f"networks with different {name} have no average (got {sorted(own)})")
    tuples: list[Tuple] = []
    for net in networks:
        tuples += [cells for cells in net.tuples if cells not in tuples]
    mean = Network(
        format_tuples(tuples, first.size),
        board=first.size,
        stages=first.stages,
        target=first.target,
        gamma=first.gamma,
        spawn4=first.spawn4,
    )
    for t, cells in enumerate(tuples):
        have = [net for net in networks if cells in net.tuples]
        before: list[Any] = [np.float32(0)] * len(have)  # the tables of the previous stage
        for stage in range(1 << len(first.stages)):
            tables = [net.table(stage * len(net.tuples) + net.tuples.index(cells)) for net in have]
            unread = np.logical_and.reduce([np.isnan(table) for table in tables])
            before = [np.where(np.isnan(table), earlier, table) for table, earlier in zip(tables, before, strict=True)]
            total = np.zeros(len(unread))
            for table in before:
                total += table
            mean.table(stage * len(tuples) + t)[:] = np.where(
                unread, np.float32(np.nan), (total / len(networks)).astype(np.float32)
            )
    return mean
