"""Is a game or an agent of mine right? And if not, why?

`check_game` and `check_agent` play games and look at everything that tuplet will ask for. What is
wrong raises `CheckFailed`, an `AssertionError` that names each problem and its likely cause.
"""

from tuplet.testing.agents import check_agent
from tuplet.testing.games import check_game
from tuplet.testing.problems import CheckFailed

__all__ = ["CheckFailed", "check_agent", "check_game"]
