"""The command line: one module per command. Results go to standard output, progress and
errors to standard error; bad input is one line and exit code 2.
"""

from __future__ import annotations

import atexit
import io
import os
import re
import signal
import sys
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from cyclopts import App, CycloptsError, Group, MissingArgumentError, Parameter

import tuplet
from tuplet.cli.agent import agent
from tuplet.cli.analyze import analyze
from tuplet.cli.ascii_fallback import ERRORS
from tuplet.cli.bench import bench
from tuplet.cli.check import check
from tuplet.cli.cluster import cluster
from tuplet.cli.common import INTERRUPTED
from tuplet.cli.compare import compare
from tuplet.cli.convert import convert
from tuplet.cli.eval import eval_
from tuplet.cli.list import list_
from tuplet.cli.match import match
from tuplet.cli.new import new
from tuplet.cli.options import shown_default, with_whole_numbers
from tuplet.cli.play import play
from tuplet.cli.plot import plot
from tuplet.cli.regret import regret
from tuplet.cli.reproduce import reproduce
from tuplet.cli.review import review
from tuplet.cli.serve import serve
from tuplet.cli.show import show
from tuplet.cli.solve import solve
from tuplet.cli.sweep import sweep
from tuplet.cli.tournament import tournament
from tuplet.cli.train import train
from tuplet.system.stop import Stopped
from tuplet.system.text import in_one_line

app = App(
    name="tuplet",
    help="Train and evaluate agents for 2048 and EinStein würfelt nicht!",
    version=tuplet.__version__,
    help_format="markdown",  # fills paragraphs to the width of the terminal
    default_parameter=Parameter(negative=(), show_default=shown_default),
    suppress_keyboard_interrupt=False,  # `run` has a word for it
)
COMMANDS: dict[str, tuple[Any, ...]] = {
    "Play and analyse": (play, serve, analyze, review),
    "Train and evaluate players of 2048": (train, eval_, compare, plot),
    "Play matches": (match, tournament, show, agent, check),
    "Solve small boards": (solve, regret),
    "Experiment": (sweep, reproduce),
    "Tools": (list_, new, convert, bench, cluster),
}
for title, commands in COMMANDS.items():
    group = Group.create_ordered(title)
    for command in commands:
        if isinstance(command, App):
            command.group, command.default_parameter = group, app.default_parameter
            app.command(command)
        else:
            app.command(with_whole_numbers(command), name=command.__name__.strip("_"), group=group)
options = Group.create_ordered("Options")
for flag in ("--help", "--version"):
    app[flag].group = options


def main() -> None:
    """Run the command that was typed and exit."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115  # until the end
    code = run(sys.argv[1:])
    if threading.active_count() > 1 or code == INTERRUPTED:
        # Somebody's agent may never answer, or be compiling, where an orderly exit would pull
        # LLVM from under it. What must be done at the end is done; nobody is waited for. (Nor is
        # the half second in which the compiler is taken down, where somebody said stop.)
        atexit._run_exitfuncs()
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run a command; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):  # a sign that a terminal lacks costs no result
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERRORS)
    asked = False  # to stop: Numba may make something else of it while it compiles

    def stop(*_: object) -> None:
        nonlocal asked
        asked = True
        raise KeyboardInterrupt

    kinds: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)  # the same to us
    if threading.current_thread() is not threading.main_thread():
        kinds = ()
    before = [signal.signal(kind, stop) for kind in kinds]
    shown, warnings.showwarning = warnings.showwarning, _warn
    try:
        result = app(
            [_as_value(each) for each in arguments],
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except CycloptsError as error:
        return complain(_in_one_line(error))
    except KeyboardInterrupt:
        print("\ntuplet: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Stopped as stopped:
        print(f"\ntuplet: interrupted: {in_one_line(str(stopped))}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError as error:
        own = type(error) is MemoryError and error.args  # not NumPy's, which tells of arrays
        return complain(str(error) if own else "there is not enough memory")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return complain(f"{where}{error.strerror or error}")
    except ValueError as error:
        return complain(_of_option(str(error), arguments))
    except ModuleNotFoundError as error:
        if "pip install" not in str(error):  # it is no extra that is missing
            raise
        return complain(str(error))
    except Exception as error:
        if not asked and type(error).__module__.startswith("numba."):  # somebody's own code
            from tuplet.kernel import describe_error

            return complain(describe_error(error))
        if not asked:
            raise
        print("\ntuplet: interrupted", file=sys.stderr)
        return INTERRUPTED
    finally:
        warnings.showwarning = shown
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """A warning of the library, in one line."""
    print(f"tuplet: {in_one_line(str(message))}", file=sys.stderr)


def complain(text: str) -> int:
    """One line on standard error; returns the exit code for bad input."""
    print(f"tuplet: {in_one_line(text)}", file=sys.stderr)
    return 2


def _as_value(argument: str) -> str:
    """An argument such that a board that begins with a hyphen is not taken for an option."""
    return f" {argument}" if _BOARD.match(argument) else argument


_BOARD = re.compile(r"-[\d\s|.,_-]*[\d\s|.,_]+[\s|,]")


def _in_one_line(error: CycloptsError) -> str:
    """What Cyclopts complains of, without its box, in one line, and where help is."""
    text = " ".join(str(error).split())
    chain = error.command_chain or ()
    if isinstance(error, MissingArgumentError) and chain and error.argument is not None:
        name = error.argument.name
        text = f"{name} needs a value." if name[0] == "-" else f"{chain[-1]}: {name} is missing."
    text = re.sub(r"^Invalid value for (\S+): (?=must be )", r"\1 ", text)
    command = " ".join(("tuplet", *chain))
    return f"{text}  ({command} --help says more)"


def _of_option(text: str, arguments: list[str]) -> str:
    """A message about an argument of Python, "lam must be ...", for the one who typed --lambda."""
    name, must, rest = text.partition(" must be ")
    if must and name.isidentifier():
        _, apps, _ = app.parse_commands(arguments)
        for each in apps[-1].assemble_argument_collection():
            if each.field_info.name == name and each.name.startswith("--"):
                return f"{each.name}{must}{rest}"
    return text
