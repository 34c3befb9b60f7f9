"""`tuplet convert`: weights in another program's format, or as a model hub has them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tuplet.cli.display import showing
from tuplet.cli.working import Json, show_result

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
    json_: Json = False,
) -> None:
    """Write a network's weights in the format of another program, or in tuplet's.

    Parameters
    ----------
    source
        A run folder, a model folder or a weight file: tuplet's (packed, too), TDL2048-Demo's,
        TDL2048+'s or the 2048-Framework's.
    target
        The file to write, or the model folder. An existing one is replaced when the new one is
        complete.
    to
        Its format; packed is small, rounds weights, and only plays; hub is a model folder, with a
        card for which 1,000 games are played. [default: by its ending:
        .safetensors tuplet, .xz packed, .bin demo, .w tdl2048]
    net
        The tuples of a Framework file, which has no names: "0123 4567 ...". [default: the named
        network with tables of the same sizes]
    first
        Whether a tuple's first cell is the lowest or the highest digit of an index in a Framework
        file (if both are such files: in the source).
    size
        Packed files: so many bytes at most, as in 32M; weights are rounded as coarsely as that
        takes. [default: rounded so that it cannot be told in play]

    """
    import tuplet

    with showing() as progress:  # Ctrl-C: the file is written whole, or not at all
        result = tuplet.convert(
            source, target, to=to, net=net, first=first, size=size, progress=progress
        )
    show_result(result, json_)
