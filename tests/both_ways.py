"""A script run compiled and interpreted: kernels have to do the same both ways."""

from __future__ import annotations

import os
import subprocess
import sys


def in_both_ways(script: str, lines: list[str]) -> tuple[str, str]:
    """What a script prints compiled and interpreted, given lines of input.

    A warning, as of an overflow, is an error.
    """
    outputs = []
    for disabled in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    return outputs[0], outputs[1]
