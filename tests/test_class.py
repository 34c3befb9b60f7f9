"""docs/class.md: every command and every piece of code runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pages import arguments_of, blocks
from tuplet.testing import programs

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "class.md").read_text(encoding="utf-8")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the page speaks of; checks make one trial, for there are many commands."""
    plan = programs._plan
    monkeypatch.setattr(programs, "_plan", lambda games: plan(games)[:1])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    program = ROOT / "examples" / "ewn_program.py"
    for name in ("agent", "agent.py", "submissions/alice.py", "submissions/carol/run"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(program, path)
        path.chmod(0o644 if path.suffix else 0o755)
    return tmp_path


def test_the_pages_commands_and_code_run(tuplet, here: Path) -> None:
    lines = "".join(blocks("sh", PAGE)).splitlines()
    assert len(lines) == 12
    for line in lines:
        words = arguments_of(line)
        if "--games" in words:
            words[words.index("--games") + 1] = "2"
        if "--positions" in words:
            words[words.index("--positions") + 1] = "20"
        done = tuplet(*words, cwd=here)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
    assert (here / "again.csv").read_bytes() == (here / "table.csv").read_bytes()
    for piece in blocks("python", PAGE):
        exec(piece, {})
