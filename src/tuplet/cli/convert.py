"""`tuplet convert`: weights in another program's format, or as a model hub has them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tuplet.cli.common import Force, Json, check_writable, progress_display, show_result

Format = Literal["tuplet", "packed", "demo", "tdl2048", "framework", "framework-2017", "hub"]


def convert(
    source: Path,
    target: Path,
    /,
    *,
    to: Format | None = None,
    net: str | None = None,
    first: Literal["low", "high"] = "low",
    size: str | None = None,
    force: Force = False,
    json_: Json = False,
) -> None:
    """Convert a network's weights to another program's format, or to tuplet's.

    Parameters
    ----------
    source
        A run folder, a model folder, or a weight file of tuplet (packed or not), TDL2048-Demo,
        TDL2048+ or the 2048-Framework.
    target
        The file or model folder to write.
    to
        The format to write. packed is small, with rounded weights, and is for playing only. hub is
        a model folder; 1,000 games are played for its model card. [default: by the file's ending:
        .safetensors tuplet, .xz packed, .bin demo, .w tdl2048]
    net
        The tuples of a 2048-Framework file, which does not name them: "0123 4567 ...". [default:
        the named network with tables of the same sizes]
    first
        2048-Framework files: whether a tuple's first cell is the lowest or the highest digit of the
        index. If both files are of this kind, this is about the source.
    size
        packed: the largest size of the file, such as 32M. Weights are rounded until it fits.
        [default: rounded so little that play is not affected]

    Examples
    --------
    tuplet convert runs/first weights.bin
    tuplet convert runs/first small.xz --size 32M
    tuplet convert runs/first model --to hub

    """
    import tuplet

    if to != "hub":  # a model folder is brought up to date, any other is refused
        check_writable(target, force=force)
    with progress_display() as progress:  # Ctrl-C: the file is written whole, or not at all
        result = tuplet.convert(source, target, to=to, net=net, first=first, size=size, progress=progress)
    show_result(result, json_)
