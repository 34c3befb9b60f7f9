"""A match of EWN imports nothing of the learning of 2048."""

from __future__ import annotations

import os
import subprocess
import sys

MATCH = """
import sys, tuplet
tuplet.make_agent("hard", "ewn")
tuplet.match("easy", "easy", game="ewn", games=2, progress=False)
tuplet.analyze("ewn", None, "mcts:sims=5", progress=False)
print(*sorted(name for name in sys.modules if name.startswith("tuplet.")))
"""


def test_a_match_of_ewn_imports_no_learning() -> None:
    # Interpreted: the cache of compiled kernels loads every type that a kernel was ever compiled for.
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", MATCH], capture_output=True, text=True, check=True, env=env)
    loaded = done.stdout.split()
    assert "tuplet.agents.baselines" in loaded
    for package in ("tuplet.learn", "tuplet.values", "tuplet.exact", "tuplet.web", "tuplet.agents.learned"):
        assert not [name for name in loaded if name == package or name.startswith(f"{package}.")], package
