"""`tuplet convert`: a weight file in another program's format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from tuplet.values.network import Network

Format = Literal["tuplet", "packed", "demo", "tdl2048", "framework", "framework-2017"]
_ENDINGS: dict[str, Format] = {
    ".safetensors": "tuplet", ".xz": "packed", ".bin": "demo", ".w": "tdl2048",
}  # fmt: skip


def convert(
    source: Path,
    target: Path,
    /,
    *,
    to: Format | None = None,
    net: str | None = None,
    first: Literal["low", "high"] = "low",
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Write a network's weights in the format of another program, or in tuplet's.

    Parameters
    ----------
    source
        A run folder or a weight file: tuplet's (packed, too), TDL2048-Demo's, TDL2048+'s or the
        2048-Framework's.
    target
        The file to write. An existing one is replaced when the new one is complete.
    to
        Its format; packed is small, rounds weights, and only plays. [default: by its ending:
        .safetensors tuplet, .xz packed, .bin demo, .w tdl2048]
    net
        The tuples of a Framework file, which has no names: "0123 4567 ...". [default: the named
        network with tables of the same sizes]
    first
        Whether a tuple's first cell is the lowest or the highest digit of an index in a Framework
        file (if both are such files: in the source).
    json_
        Print one JSON object.

    """
    from tuplet.cli.progress import weights_progress
    from tuplet.formats.foreign import kind_of, read_foreign, write_foreign
    from tuplet.formats.packed import write_packed
    from tuplet.formats.weights import find_weights, load_network, save_network

    kind = to or _ENDINGS.get(target.suffix)
    if kind is None:
        raise ValueError(
            f"in which format is {target} to be? end it in {', '.join(_ENDINGS)}, or say --to"
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
    with weights_progress() as begin:
        watch = begin("reading")
        if written_by is None or written_by == "tuplet" or written_by == "packed":
            network = load_network(path)
        else:
            order = first if nameless else "low"
            network = read_foreign(path, written_by, net=net or "", first=order, watch=watch)
        watch = begin("writing")
        if kind == "tuplet":
            save_network(network, target)
        elif kind == "packed":
            write_packed(network, target)
        else:
            order = "low" if nameless or not kind.startswith("framework") else first
            write_foreign(network, target, kind, first=order, watch=watch)
    report = {
        "from": written_by,
        "to": kind,
        "net": network.name,
        "tables": len(network.tuples),
        "weights": len(network.weights),
        "coherence": network.coherence is not None and kind in ("tuplet", "tdl2048"),
    }
    if json_:
        print(json.dumps(report))
    else:
        _table(source, target, report, network)


def _table(source: Path, target: Path, report: Mapping[str, object], network: Network) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, padding=(0, 2), show_header=False)
    table.add_row("read", str(report["from"]), escape(str(source)))
    table.add_row("written", str(report["to"]), escape(str(target)))
    console.print(table, soft_wrap=True)
    console.print(
        f"network [bold]{network.name}[/]: {len(network.tuples)} tables, "
        f"{len(network.weights):,} weights",
        soft_wrap=True,
    )
    if str(report["from"]).startswith("framework"):
        console.print("(Framework files have no names: --net says which tuples, if not these)")
    if network.coherence is not None:
        kept = "with" if report["coherence"] else "without (this format has no place for them)"
        console.print(f"TC's sums: {kept}", soft_wrap=True)
