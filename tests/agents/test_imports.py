"""A match of EWN imports nothing of the learning of 2048."""

from __future__ import annotations

import subprocess
import sys

MATCH = """
import sys, tuplet
tuplet.match("hard", "easy", game="ewn", games=2, progress=False)
tuplet.analyze("ewn", None, "mcts:sims=50", progress=False)
print(*sorted(name for name in sys.modules if name.startswith("tuplet.")))
"""


def test_a_match_of_ewn_imports_no_learning() -> None:
    done = subprocess.run([sys.executable, "-c", MATCH], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "tuplet.agents.baselines" in loaded
    for package in ("tuplet.learn", "tuplet.values", "tuplet.exact", "tuplet.web", "tuplet.agents.learned"):
        assert not [name for name in loaded if name == package or name.startswith(f"{package}.")], package
