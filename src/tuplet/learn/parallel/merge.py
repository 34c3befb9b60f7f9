"""Changes of a network's tables: listed, applied, and those of several learners merged.

Learners that start with the same tables and learn separately have each changed some weights. A weight
that one learner changed takes its value. For a weight that several changed, TC's sums are added up, as
if one learner had seen it all; the weight itself is the mean of their values, weighted by how much each
has learned there (how much its A has grown; equally for a learner without such a sum). Adding up their
changes instead would take each step as often as there are learners.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.kernel import allocating, kernel
from tuplet.system.files import atomic_write
from tuplet.system.tensors import write_header
from tuplet.values.packed import AnyNetwork
from tuplet.values.tables import index_type

Array = np.ndarray[Any, Any]
_STEP = 1 << 20  # weights that are compared at a time
_BLOCK = 1 << 14  # weights that are merged at a time: their counts fit into a cache


class Changes(NamedTuple):
    """Weights that have changed, and the learner's memory of them."""

    where: Array  # uint32 or uint64[n], ascending
    weights: Array  # float32[n]
    memory: Array  # float32[n, k]

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(part.nbytes for part in self)


def memory_of(net: AnyNetwork) -> Array:
    """A learner's memory of each weight: float32[weights, k], k may be 0."""
    return np.empty((len(net.weights), 0), np.float32) if net.memory is None else net.memory.values


def changes_between(before: AnyNetwork, after: AnyNetwork) -> Changes:
    """The weights and memory that differ, to the bit, between two networks of the same tables."""
    old, new = memory_of(before), memory_of(after)
    changed, parts = np.empty(_STEP, index_type(after.weights)), []
    for start in range(0, len(after.weights), _STEP):
        part = slice(start, start + _STEP)
        count = list_changed(
            before.weights[part].view(np.uint32),
            after.weights[part].view(np.uint32),
            old[part].reshape(-1).view(np.uint32),
            new[part].reshape(-1).view(np.uint32),
            new.shape[1],
            start,
            changed,
        )
        parts.append(changed[:count].copy())
    where = np.concatenate(parts)
    return Changes(where, np.take(after.weights, where), np.take(new, where, axis=0))


def apply(net: AnyNetwork, changes: Changes) -> None:
    """Write changes into a network's tables."""
    net.weights[changes.where] = changes.weights
    if changes.memory.shape[1]:
        memory_of(net)[changes.where] = changes.memory


def merge(net: AnyNetwork, parts: Sequence[Changes], merge_by: int | None = None) -> Changes:
    """Merge the changes of learners, in their order, into the network that they started with.

    `merge_by` is which number of a learner's memory says how much a weight has learned. Returns the
    merged changes.
    """
    own = memory_of(net)
    where, weights, memory = (np.concatenate(each) for each in zip(*parts, strict=True))
    ends = np.cumsum([0, *(len(part.where) for part in parts)])
    merged = np.empty_like(where)
    count = mean_of(net.weights, own, where, weights, memory, ends, -1 if merge_by is None else merge_by, merged)
    merged = merged[:count].copy()
    return Changes(merged, np.take(net.weights, merged), np.take(own, merged, axis=0))


@kernel
def list_changed(
    before: Array, after: Array, old: Array, new: Array, memory_per_weight: int, start: int, where: Array
) -> int:
    """Write to `where` which weights, or their memory, differ; returns how many."""
    n = np.uint64(0)
    for i in range(np.uint64(len(after))):
        differs = before[i] != after[i]
        for j in range(i * np.uint64(memory_per_weight), (i + np.uint64(1)) * np.uint64(memory_per_weight)):
            differs |= old[j] != new[j]
        where[n] = np.uint64(start) + i
        n += np.uint64(differs)
    return int(n)


@allocating("sums of a block")
def mean_of(
    weights: Array, own: Array, where: Array, theirs: Array, memory: Array, ends: Array, merge_by: int, merged: Array
) -> int:
    """Write the weighted mean of the learners' weights, and the sum of their memory.

    Learner k's changes are those from `ends[k]` to `ends[k + 1]`. Goes through the tables in blocks
    that fit into a cache. Writes to `merged` which weights have changed; returns how many.
    """
    memory_per_weight, learners, n = own.shape[1], len(ends) - 1, 0
    at = ends[:-1].copy()  # how far each learner's changes are merged
    counts = np.zeros(_BLOCK, np.uint16)
    plain, share, total = np.zeros(_BLOCK), np.zeros(_BLOCK), np.zeros(_BLOCK)
    sums = np.zeros((_BLOCK, memory_per_weight))
    for start in range(0, len(weights), _BLOCK):
        stop = min(start + _BLOCK, len(weights))
        for k in range(learners):
            j = at[k]
            while j < ends[k + 1] and where[j] < stop:
                place = np.int64(where[j])
                near, w, grown = place - start, np.float64(theirs[j]), 0.0
                if merge_by >= 0:
                    grown = max(np.float64(memory[j, merge_by]) - np.float64(own[place, merge_by]), 0.0)
                counts[near] += 1
                plain[near] += w
                share[near] += grown
                total[near] += w * grown
                for f in range(memory_per_weight):
                    sums[near, f] += np.float64(memory[j, f]) - np.float64(own[place, f])
                j += 1
            at[k] = j
        for i in range(stop - start):
            if counts[i] == 0:
                continue
            alike = counts[i] == 1 or share[i] <= 0
            weights[start + i] = plain[i] / counts[i] if alike else total[i] / share[i]
            for f in range(memory_per_weight):
                own[start + i, f] = np.float64(own[start + i, f]) + sums[i, f]
                sums[i, f] = 0
            plain[i] = share[i] = total[i] = counts[i] = 0
            merged[n] = start + i
            n += 1
    return n


def save_changes(path: Path, changes: Changes) -> None:
    """Write them as a safetensors file."""
    arrays = {"where": changes.where, "weights": changes.weights, "memory": changes.memory.reshape(-1)}
    kinds = {name: (array.dtype.str[1:], len(array)) for name, array in arrays.items()}
    with atomic_write(path) as file:
        starts, _ = write_header(file, {"format": "tuplet-changes"}, kinds)
        for name, array in arrays.items():
            file.seek(starts[name])
            file.write(array.tobytes())


def load_changes(path: str | Path) -> Changes:
    """Read them from a file."""
    from safetensors.numpy import load_file

    arrays = load_file(path)
    count = len(arrays["where"])
    memory = arrays["memory"].reshape(count, -1) if count else arrays["memory"].reshape(0, 0)
    return Changes(arrays["where"], arrays["weights"], memory)
