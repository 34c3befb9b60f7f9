"""Problems that a check reports, each with its likely cause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb

from numba.core.errors import NumbaError

from tuplet.kernel import describe_error

MOST_PROBLEMS = 10  # problems that an error lists


class CheckFailed(AssertionError):  # noqa: N818
    """What is wrong, a line each."""

    def __init__(self, name: str, problems: list[str]) -> None:
        self.problems = problems
        lines = [f"- {problem}" for problem in problems[:MOST_PROBLEMS]]
        if len(problems) > MOST_PROBLEMS:
            lines.append(f"... and {len(problems) - MOST_PROBLEMS} more")
        super().__init__("\n".join([f"{name} is not right:", *lines]))


class Problems:
    """The problems of what has this name; the same problem is listed once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.where: object = ""  # the position that is being checked
        self.list: dict[str, str] = {}

    def require(self, good: object, what: str, cause: str) -> bool:
        """Add a problem unless `good` is true; returns whether it is."""
        if not good and what not in self.list:
            at = f" (at {self.where})" if self.where else ""
            self.list[what] = f"{what}{at}. Likely cause: {cause}."
        return bool(good)

    @contextmanager
    def catch(self, what: str, cause: str) -> Iterator[None]:
        """Add a problem if something raises."""
        try:
            yield
        except Exception as error:
            line = describe_error(error)
            if isinstance(error, NumbaError):
                cause = "np.uint64 mixed with other numbers, or something that cannot be compiled"
            elif not isinstance(error, CheckFailed):
                last = extract_tb(error.__traceback__)[-1]
                line += f" in {Path(last.filename).name}, line {last.lineno}"
            self.require(False, f"{what} raises {line}", cause)

    def raise_any(self) -> None:
        """Raise CheckFailed if there are problems."""
        if self.list:
            raise CheckFailed(self.name, list(self.list.values()))
