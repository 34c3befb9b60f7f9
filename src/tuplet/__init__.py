"""tuplet: learning and search in two stochastic board games.

>>> import tuplet
>>> net = tuplet.Network("5x4")
>>> run = tuplet.train(net, games=200, progress=False)
>>> net.best_move([2, 2, 0, 0] + 12 * [0]) in tuplet.MOVES
True
"""

import re as _re
from importlib import import_module as _import_module
from pathlib import Path as _Path
from typing import Any as _Any

# `__init__.pyi` lists every public name and where it lives. They are imported when first used:
# `tuplet --help` must not wait for the compiler.
_STUB = _Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOMES = {
    name: home
    for home, names in _re.findall(r"^from ([\w.]+) import (\([^)]*\)|.+)", _STUB, _re.M)
    for name in _re.findall(r"as (\w+)", names)
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> _Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tuplet' has no attribute {name!r}")
    return getattr(_import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
