"""Checks for games, agents and programs of users.

`check_game` and `check_agent` play games and check everything that tuplet will use. They raise `CheckFailed`, an
`AssertionError` that names each problem and its likely cause. `tuplet.check` does the same for programs.
"""

from tuplet.testing.agents import CheckFailed, check_agent
from tuplet.testing.games import check_game

__all__ = ["CheckFailed", "check_agent", "check_game"]
