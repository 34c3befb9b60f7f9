"""`convert`: weights in another program's format, in tuplet's, or as a model folder."""

from __future__ import annotations

import json
import math
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tuplet.errors import UserError
from tuplet.learn.hub import MOST_CONFIG, Provenance, check_model_folder, write_model
from tuplet.learn.run import CONFIG, METRICS, read_metrics
from tuplet.learn.settings import Method, RunOptions
from tuplet.system.progress import ProgressOption, watching
from tuplet.system.settings import parse_size, setting_fields
from tuplet.system.tables import Displayable, TextTable, plural
from tuplet.values.external_formats import detect_format, read_external, write_external
from tuplet.values.network import COHERENCE, Network
from tuplet.values.packed import Packing, write_packed
from tuplet.values.tables import FirstCell
from tuplet.values.weights import MODEL, MODEL_CONFIG, WEIGHTS, digest, find_weights, read_weights, save_weights

Format = Literal["tuplet", "packed", "demo", "tdl2048", "framework", "framework-2017", "hub"]
ENDINGS: dict[str, Format] = {".safetensors": "tuplet", ".xz": "packed", ".bin": "demo", ".w": "tdl2048"}

# The settings of training that a packed file mentions.
_SETTINGS = ("learner", "alpha", "lam", "schedule", "grow", "games", "threads", "seed")


@dataclass(frozen=True)
class Conversion(Displayable):
    """The file that was read, and the one that was written."""

    source: Path
    target: Path
    read: str  # formats
    written: str
    network: Network
    packing: Packing | None = None  # of packed files, but for small networks without --size
    measured: dict[str, Any] | None = None  # for a model card

    @property
    def coherence(self) -> bool:
        """Whether TC's sums were written."""
        return self.network.has_learner_memory(COHERENCE) and self.written in ("tuplet", "tdl2048")

    def as_json(self) -> dict[str, Any]:
        """The keys that other tools read."""
        return {
            "from": self.read,
            "to": self.written,
            "net": self.network.name,
            "tables": len(self.network.tuples),
            "weights": len(self.network.weights),
            "coherence": self.coherence,
            **(self.packing.as_json() if self.packing else {}),
            **({"measured": self.measured} if self.measured else {}),
        }

    def text_tables(self) -> list[TextTable]:
        """Both files, and the network."""
        net = self.network
        rows = [["read", self.read, str(self.source)], ["written", self.written, str(self.target)]]
        notes = [f"network {net.name}: {len(net.tuples)} tables, {len(net.weights):,} weights"]
        if self.read.startswith("framework"):
            notes.append("(Framework files have no names: --net says which tuples, if not these)")
        if net.has_learner_memory(COHERENCE):
            kept = "with" if self.coherence else "without (this format has no place for them)"
            notes.append(f"TC's sums: {kept}")
        if self.packing:
            notes.append(str(self.packing))
        if self.measured:
            (low, high), digits = self.measured["ci95"], 3 if "opponent" in self.measured else 0
            notes.append(
                f"measured for its card: mean score {self.measured['mean_score']:,.{digits or 1}f}  "
                f"(95 %: {low:,.{digits}f} to {high:,.{digits}f}), {plural(self.measured['games'], 'game')}"
            )
        return [TextTable("", (), rows, notes, words=(0, 1, 2))]


def convert(
    source: str | Path,
    target: str | Path,
    *,
    to: Format | None = None,
    net: str | None = None,
    first: FirstCell = "low",
    size: int | str | None = None,
    progress: ProgressOption = None,
) -> Conversion:
    """Write the weights of a run folder or of any weight file in another format.

    The format follows from the ending of `target`: .safetensors is tuplet's, .xz is packed (small,
    with rounded weights, for play only), .bin is TDL2048-Demo's, .w is TDL2048+'s; or `to` names it:
    "hub" writes a model folder with a model card, for which 1,000 games are played. `net` and `first`
    are for Framework files, which do not name their tuples: the tuples, and whether a tuple's first
    cell is the lowest or the highest digit of an index (in the source, if both are such files).
    `size` is for packed files: the most bytes (32_000_000, or "32M"); weights are rounded as coarsely
    as necessary.
    """
    target = Path(target)
    kind = to or ENDINGS.get(target.suffix)
    if kind is None:
        raise UserError(f"the format of {target} is not clear: use an ending of {', '.join(ENDINGS)}, or --to")
    if kind == "hub":
        check_model_folder(target)
    elif target.is_dir():
        raise UserError(f"{target} is a folder: name the file to write")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.name} cannot be written: there is no folder {target.parent}")
    path = find_weights(source)
    written_by = detect_format(path)
    nameless = str(written_by).startswith("framework")
    if net and not nameless:
        raise UserError(f"--net is for Framework files: {path} names its tuples itself")
    if first != "low" and not (nameless or kind.startswith("framework")):
        raise UserError("--first is for Framework files, and neither file is one")
    if size is not None and kind != "packed":
        raise UserError(f"--size is for packed files: {target} is a {kind} file")
    most = parse_size(str(size)) if size is not None else None
    packing: Packing | None = None
    measured: dict[str, Any] | None = None
    notes: dict[str, str] = {}
    with watching(progress) as watch:
        if written_by is None or written_by == "tuplet" or written_by == "packed":
            network, notes, _ = read_weights(path)
        else:
            order = first if nameless else "low"
            network = read_external(path, written_by, net=net or "", first=order, watch=watch)
        if kind == "tuplet":
            save_weights(network, target)
        elif kind == "packed":
            packing = write_packed(network, target, size=most, notes=_packed_notes(path, notes), watch=watch)
        elif kind == "hub":
            measured = write_model(network, target, _provenance(path, notes, written_by), watch)
        else:
            order = "low" if nameless or not kind.startswith("framework") else first
            write_external(network, target, kind, first=order, watch=watch)
    return Conversion(Path(source), target, str(written_by), kind, network, packing, measured)


def _packed_notes(path: Path, notes: dict[str, str]) -> dict[str, str]:
    """The settings of training that a packed file mentions."""
    known = _settings(path)[0] | notes  # the games that were played, not those that were planned
    return {name: str(known[name])[:200] for name in _SETTINGS if known.get(name) not in (None, "")}


def _settings(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of training and the last line of metrics, if the weights are in a run or model folder."""
    config = path.parent / {WEIGHTS: CONFIG, MODEL: MODEL_CONFIG}.get(path.name, "")
    if path.name == WEIGHTS and not config.exists():  # perhaps the best of a population
        config = next(
            (
                run / CONFIG
                for run in path.parent.iterdir()
                if (run / CONFIG).is_file() and (run / WEIGHTS).is_file() and digest(run) == digest(path)
            ),
            config,
        )
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):  # optional
        if config.is_file() and config.stat().st_size <= MOST_CONFIG:
            text = config.read_text(encoding="utf-8")
            if path.name == MODEL:
                content = json.loads(text)
                return dict(content["trained"]), dict(content["learned"])
            lines = read_metrics(config.with_name(METRICS))
            known = {name for kind in (Method, RunOptions) for name, _, _ in setting_fields(kind)}
            settings = {
                name: value
                for name, value in tomllib.loads(text).items()
                if name in known and (isinstance(value, str) or math.isfinite(value))
            }
            return settings, lines[-1] if lines else {}
    return {}, {}


def _provenance(path: Path, notes: dict[str, str], kind: str | None) -> Provenance:
    """How the weights were trained, for a model card."""
    settings, learned = _settings(path)
    learned = {name: learned.get(name) for name in ("games", "elapsed_s", "mean_score")}
    if notes.get("games", "").isdecimal():
        learned["games"] = int(notes["games"])
    score = learned.pop("mean_score")  # other games than 2048 have none
    if not settings or not all(isinstance(each, int | float) for each in learned.values()):
        learned = {}
    elif isinstance(score, int | float):
        learned["mean_score"] = score
    settings = settings or _packed_notes(path, notes)
    return Provenance(f"the file {path.name} (format {kind})", settings, learned)
