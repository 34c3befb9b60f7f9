"""`tuplet reproduce`: run an experiment again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tuplet.cli.working import Json, show_result, working


def reproduce(
    name: str | None = None,
    /,
    *,
    board: str | None = None,
    games: int | None = None,
    seed: int | None = None,
    threads: int = 1,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json_: Json = False,
) -> None:
    """Run a study again and print its table. Without a name: list the studies.

    Parameters
    ----------
    name
        The study.
    board
        A board's size, where the study is about small boards. [default: the study's]
    games
        Games to learn from. [default: the study's]
    seed
        The same seed gives the same result. [default: 0]
    threads
        How many of its runs are done at a time; the result is the same for any number.
    output
        Draw the study's picture: .svg, .png or .pdf.

    """
    import tuplet
    from tuplet.studies.reproduce import STUDIES

    if name is None:
        if json_:
            print(json.dumps(STUDIES))
        else:
            for study, about in STUDIES.items():
                print(f"{study}  {about}")
        return
    with working(quiet=json_) as work:
        result = tuplet.reproduce(
            name, board=board, games=games, seed=seed, threads=threads, output=output,
            **work._asdict(),
        )  # fmt: skip
    show_result(result, json_)
