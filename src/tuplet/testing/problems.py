"""What a check finds: problems, each with its likely cause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb

from numba.core.errors import NumbaError

from tuplet.kernel import describe_error

MOST_PROBLEMS = 10  # that are describe_error


class CheckFailed(AssertionError):  # noqa: N818
    """What is wrong, a line each."""

    def __init__(self, what: str, problems: list[str]) -> None:
        self.problems = problems
        lines = [f"- {problem}" for problem in problems[:MOST_PROBLEMS]]
        if len(problems) > MOST_PROBLEMS:
            lines.append(f"... and {len(problems) - MOST_PROBLEMS} more")
        super().__init__("\n".join([f"{what} is not right:", *lines]))


class Problems:
    """What was found; each kind of problem once."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def unless(self, good: object, what: str, cause: str, where: object = "") -> bool:
        """Note a problem if something is not as it must be; returns whether it is."""
        if not good and what not in self.found:
            at = f" (at {where})" if where else ""
            self.found[what] = f"{what}{at}. Likely cause: {cause}."
        return bool(good)

    @contextmanager
    def during(self, what: str, cause: str, where: object = "") -> Iterator[None]:
        """Note a problem if something raises."""
        try:
            yield
        except Exception as error:
            line = describe_error(error)
            if isinstance(error, NumbaError):
                cause = "np.uint64 mixed with other numbers, or something that cannot be compiled"
            elif not isinstance(error, CheckFailed):
                last = extract_tb(error.__traceback__)[-1]
                line += f" in {Path(last.filename).name}, line {last.lineno}"
            self.unless(False, f"{what} raises {line}", cause, where)

    def tell(self, what: str) -> None:
        """Raise CheckFailed if anything was found."""
        if self.found:
            raise CheckFailed(what, list(self.found.values()))
