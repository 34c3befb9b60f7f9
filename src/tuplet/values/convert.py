"""Weights in another program's format, or in tuplet's."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tuplet.system.progress import Show, watching
from tuplet.system.settings import bytes_from
from tuplet.system.sheet import Sheet, Shown
from tuplet.values.fitted import Packing, write_fitted
from tuplet.values.foreign import SUMS, First, kind_of, read_foreign, write_foreign
from tuplet.values.network import Network
from tuplet.values.packed import FORMAT, MOST_WEIGHTS, write_packed
from tuplet.values.weights import WEIGHTS, find_weights, read_weights, save_weights

Format = Literal["tuplet", "packed", "demo", "tdl2048", "framework", "framework-2017"]
ENDINGS: dict[str, Format] = {
    ".safetensors": "tuplet", ".xz": "packed", ".bin": "demo", ".w": "tdl2048",
}  # fmt: skip

# What a packed player says of how it was made: of a run's settings, and of its weight file.
_SETTINGS = ("learner", "alpha", "lam", "schedule", "grow", "games", "threads", "seed")
_CONFIG = "config.toml"
_MOST_CONFIG = 1 << 16  # bytes


@dataclass(frozen=True)
class Conversion(Shown):
    """What was read, and what was written."""

    source: Path
    target: Path
    read: str  # formats
    written: str
    network: Network
    packing: Packing | None = None  # of packed files of version 2

    @property
    def coherence(self) -> bool:
        """Whether TC's sums were written, too."""
        return self.network.recalls(SUMS) and self.written in ("tuplet", "tdl2048")

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return {
            "from": self.read, "to": self.written, "net": self.network.name,
            "tables": len(self.network.tuples), "weights": len(self.network.weights),
            "coherence": self.coherence,
            **(self.packing.as_json() if self.packing else {}),
        }  # fmt: skip

    def sheets(self) -> list[Sheet]:
        """Both files, and the network."""
        net = self.network
        rows = [["read", self.read, str(self.source)], ["written", self.written, str(self.target)]]
        notes = [f"network {net.name}: {len(net.tuples)} tables, {len(net.weights):,} weights"]
        if self.read.startswith("framework"):
            notes.append("(Framework files have no names: --net says which tuples, if not these)")
        if net.recalls(SUMS):
            kept = "with" if self.coherence else "without (this format has no place for them)"
            notes.append(f"TC's sums: {kept}")
        if self.packing:
            notes.append(str(self.packing))
        return [Sheet("", (), rows, notes, words=(0, 1, 2))]


def convert(
    source: str | Path,
    target: str | Path,
    *,
    to: Format | None = None,
    net: str | None = None,
    first: First = "low",
    size: int | str | None = None,
    progress: Show = None,
) -> Conversion:
    """Write a network's weights, a run folder's or any weight file's, in another format.

    The ending of `target` says which: .safetensors tuplet's, .xz packed (small, rounds weights, and
    only plays), .bin TDL2048-Demo's, .w TDL2048+'s; or `to` does. `net` and `first` are for
    Framework files, which have no names: their tuples, and whether a tuple's first cell is the
    lowest or the highest digit of an index (if both are such files: in the source). `size` is for
    packed files: so many bytes at most (32_000_000, or "32M"); weights are rounded as coarsely as
    that takes.
    """
    target = Path(target)
    kind = to or ENDINGS.get(target.suffix)
    if kind is None:
        raise ValueError(
            f"in which format is {target} to be? end it in {', '.join(ENDINGS)}, or say --to"
        )
    if target.is_dir():
        raise ValueError(f"{target} is a folder: name the file to write")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} to")
    path = find_weights(source)
    written_by = kind_of(path)
    nameless = str(written_by).startswith("framework")
    if net and not nameless:
        raise ValueError(f"--net is for Framework files: {path} says itself which tuples it has")
    if first != "low" and not (nameless or kind.startswith("framework")):
        raise ValueError("--first is for Framework files, and neither file is one")
    if size is not None and kind != "packed":
        raise ValueError(f"--size is for packed files: {target} is to be a {kind} file")
    most = bytes_from(str(size)) if size is not None else None
    packing: Packing | None = None
    notes: dict[str, str] = {}
    with watching(progress) as watch:
        if written_by is None or written_by == "tuplet" or written_by == "packed":
            network, notes, _ = read_weights(path)
        else:
            order = first if nameless else "low"
            network = read_foreign(path, written_by, net=net or "", first=order, watch=watch)
        if kind == "tuplet":
            save_weights(network, target)
        elif kind == "packed" and (most is not None or len(network.weights) > MOST_WEIGHTS[FORMAT]):
            packing = write_fitted(
                network, target, size=most, notes=_made(path, notes), watch=watch
            )
        elif kind == "packed":
            write_packed(network, target)
        else:
            order = "low" if nameless or not kind.startswith("framework") else first
            write_foreign(network, target, kind, first=order, watch=watch)
    return Conversion(Path(source), target, str(written_by), kind, Network.of(network), packing)


def _made(path: Path, notes: dict[str, str]) -> dict[str, str]:
    """How weights were learned, as far as they and the settings beside them say so."""
    made: dict[str, str] = {}
    config = path.with_name(_CONFIG)
    if path.name == WEIGHTS and config.is_file() and config.stat().st_size <= _MOST_CONFIG:
        with suppress(ValueError):  # a packed player needs no settings
            made |= tomllib.loads(config.read_text(encoding="utf-8"))
    made |= notes  # the games that were played, not those that were planned
    return {name: str(made[name])[:200] for name in _SETTINGS if made.get(name) not in (None, "")}
