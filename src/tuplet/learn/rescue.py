"""What to do with a run that cannot go on, or cannot be saved in its folder when it ends."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from pathlib import Path

from tuplet.errors import UserError
from tuplet.learn.checkpoints import Checkpoint, CheckpointWriter
from tuplet.learn.run import CONFIG, Run
from tuplet.learn.settings import save_settings


def rescue(run: Run, error: OSError, now: Checkpoint) -> None:
    """Save a run whole in another folder, the first that takes it, and say where.

    `run.folder` is then that folder, and `run.save_error` the reason.
    """
    failed, why, kept = run.folder, error.strerror or str(error), run.games
    for parent in (Path.cwd, lambda: Path(tempfile.gettempdir()), Path.home):
        folder = None
        try:
            folder = Path(tempfile.mkdtemp(prefix=f"{run.name}-", dir=parent()))
            run.folder = folder
            keeper = CheckpointWriter(run)
            keeper.save(now)
            keeper.write_lines()
            save_settings(folder / CONFIG, run.method, run.options)
        except (OSError, RuntimeError):  # no such folder, or that is full, too; nobody has a home
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            continue
        run.save_error = (
            f"{failed} could not be written ({why}): the run, {now.games:,} games, is saved in "
            f"{folder} instead; from there it can be resumed"
        )
        break
    else:
        run.folder, run.games = failed, kept
        run.save_error = (
            f"{failed} could not be written ({why}), nor the current folder, nor that of temporary "
            f"files: it keeps the checkpoint of game {run.games:,}, and what was learned in the "
            f"{now.games - run.games:,} games since is in memory only"
        )
    warnings.warn(run.save_error, stacklevel=3)


def lost(run: Run, error: Exception) -> None:
    """Say that others who learned for a run are gone: it ends here, and is saved."""
    again = f": go on with  tuplet resume {run.folder}" if run.folder else ""
    run.save_error = f"{error}{again}"
    warnings.warn(run.save_error, stacklevel=3)


def diverged(run: Run, games: int) -> ValueError:
    """What to say when weights have become no numbers; the last checkpoint stays as it is."""
    kept = f" {run.folder} keeps the checkpoint of game {run.games:,}." if run.folder else ""
    fix = "one thread" if run.options.threads > 1 else "a smaller alpha"
    return UserError(f"the weights are no longer finite numbers after {games:,} games: learn with {fix}.{kept}")
