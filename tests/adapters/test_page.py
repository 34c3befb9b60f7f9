"""docs/tools.md: what it says can be done, is done here, in its order."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pages import DOCS, arguments_of
from tuplet.learn.hub import READING

pytestmark = pytest.mark.slow

PAGE = (DOCS / "tools.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```$", PAGE, re.S | re.M)
NEEDED = {"tensorboard": "tensorboardX", "openspiel": "pyspiel"}


class Heard(ModuleType):
    """A stand-in for a library that is too large to be installed for a test: it hears calls."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        def call(*told: Any, **named: Any) -> Heard:
            self.calls.append((name, told, named))
            return self

        return call


def test_the_page_does_what_it_says(tuplet: Any, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    heard = {name: Heard(name) for name in ("wandb", "mlflow")}
    for name, module in heard.items():
        monkeypatch.setitem(sys.modules, name, module)
    for kind, code in BLOCKS:
        if "optuna" in code:
            continue  # at a small scale, in test_optuna.py
        for word, library in NEEDED.items():
            if word in code.lower() and "pip" not in code:
                pytest.importorskip(library)
        if kind == "sh":
            for line in code.splitlines():
                if line.startswith("tuplet "):
                    done = tuplet(*arguments_of(line), cwd=tmp_path)
                    assert done.returncode == 0, (line, done.stderr)
        else:
            monkeypatch.chdir("first" if code == READING else tmp_path)
            exec(compile(code, "tools.md", "exec"), {"__name__": "__main__"})
    assert [name for name, *_ in heard["wandb"].calls] == ["init", "log", "log", "finish"]
    logs = [(told[0], by) for name, told, by in heard["wandb"].calls if name == "log"]
    assert [by["step"] for _, by in logs] == [1000, 2000]
    assert all(told["mean_score"] > 1000 and told["256"] > 0 for told, _ in logs)
    logs = [(told, by["step"]) for name, told, by in heard["mlflow"].calls if name == "log_metric"]
    assert [step for _, step in logs] == [1000, 2000]
    assert all(name == "mean_score" and score > 1000 for (name, score), _ in logs)
