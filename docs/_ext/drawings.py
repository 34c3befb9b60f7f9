"""The diagrams of docs/methods: `python docs/_ext/drawings.py` draws them again.

They are kept as files, so that pages show them wherever they are read; a test says whether they are
what would be drawn now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import drawn_2048
import drawn_search
from pencil import Drawing

FOLDER = Path(__file__).parent.parent / "methods"

DRAWINGS: Mapping[str, Callable[[], Drawing]] = {
    "ntuple-index": drawn_2048.index,
    "ntuple-isomorphs": drawn_2048.isomorphs,
    "td-afterstate": drawn_2048.td_afterstate,
    "td-state": drawn_2048.td_state,
    "td-end": drawn_2048.td_end,
    "selection-afterstate": drawn_2048.select_afterstate,
    "selection-state": drawn_2048.select_state,
    "tc-rate": drawn_2048.tc,
    "mcts-tree": drawn_search.tree,
    "ucb-bars": drawn_search.ucb,
    "ucb-curves": drawn_search.ucb_curves,
    "rich-results": drawn_search.rich,
    "temperature": drawn_search.temperature,
}

if __name__ == "__main__":
    for name, draw in DRAWINGS.items():
        (FOLDER / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")
        print(f"docs/methods/{name}.svg")
