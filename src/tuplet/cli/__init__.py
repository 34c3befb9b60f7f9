"""The command line: a module for each group of commands. Results go to standard output, progress and
errors to standard error; bad input is one line and exit code 2.
"""

from __future__ import annotations

import atexit
import io
import os
import re
import sys
import threading
import traceback
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from cyclopts import App, CycloptsError, Group, MissingArgumentError, Parameter

import tuplet
from tuplet.cli.ascii_fallback import ERRORS
from tuplet.cli.common import INTERRUPTED, handling_signals, quiet
from tuplet.cli.compete import agent, check, grade, match, show, tournament
from tuplet.cli.extend import cluster, doctor, fetch, list_, new
from tuplet.cli.learn import convert, plot, population, resume, train
from tuplet.cli.measure import bench, compare, eval_, export, regret, reproduce, solve
from tuplet.cli.options import add_command, shown_default
from tuplet.cli.play import analyze, play, review, serve
from tuplet.cli.sweep import sweep
from tuplet.errors import UserError
from tuplet.system.stop import Stopped
from tuplet.system.text import in_one_line

COMMANDS: dict[str, tuple[Any, ...]] = {
    "Play": (play, serve, analyze, review),
    "Learn": (train, resume, population, plot, convert),
    "Measure": (eval_, compare, solve, regret, sweep, reproduce, bench, export),
    "Compete": (match, tournament, grade, show, check, agent),
    "Extend": (new, list_, fetch, doctor, cluster),
}
GLOBAL = (
    "Every command takes -q or --quiet (no progress, no notes) and --debug (a traceback with the error). Times are "
    "written 5ms, 0.2s, 10m or 2h; a bare number is seconds. Files that exist are not overwritten: saved work is "
    "continued by the same command, anything else is refused unless you add --force.\n\nExamples:\n\n"
    "  tuplet serve\n  tuplet train --budget 10m --out runs/first\n  tuplet match hard normal --games 200"
)
REPORT = "This is a bug in tuplet: please report it with the traceback that --debug shows"

app = App(
    name="tuplet",
    help="Train and evaluate agents for 2048 and EinStein würfelt nicht!",
    help_epilogue=GLOBAL,
    version=tuplet.__version__,
    help_format="plaintext",  # paragraphs are single lines, which are wrapped at any width
    default_parameter=Parameter(negative=(), show_default=shown_default),
    suppress_keyboard_interrupt=False,  # `run` has a word for it
)


def _register() -> None:
    for title, commands in COMMANDS.items():
        group = Group.create_ordered(title)
        for command in commands:
            if isinstance(command, App):
                command.group, command.default_parameter = group, app.default_parameter
                app.command(command)
            else:
                add_command(app, command, group=group)
    options = Group.create_ordered("Options")

    @app.command(name="--install-completion", group=options)
    def install_completion() -> None:
        """Install completion of commands and options for your shell (bash, zsh, fish)."""
        from cyclopts.completion.detect import ShellDetectionError

        try:
            file = app.install_completion()
        except ShellDetectionError:
            raise UserError("your shell is unknown: set SHELL to the path of bash, zsh or fish") from None
        # Where an agent is expected, let bash complete a run folder or a weight file.
        script = file.read_text(encoding="utf-8")
        file.write_text(script.replace("\ncomplete -F ", "\ncomplete -o default -F "), encoding="utf-8")
        print(f"Installed: {file}. Start a new shell to use it.")

    for flag in ("--help", "--version"):
        app[flag].group = options


_register()


def main() -> None:
    """Run the command that was typed and exit."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115  # until the end
    code = run(sys.argv[1:])
    if threading.active_count() > 1 or code == INTERRUPTED:
        # A user's agent may never answer, or be compiling, where an orderly exit would pull LLVM
        # from under it. What must be done at the end is done, without waiting for its threads. (Nor
        # is the half second spent in which the compiler is taken down, after Ctrl-C.)
        atexit._run_exitfuncs()
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run a command; returns the exit code.

    A `UserError`, an OSError and a wrong option are one line and 2. Any other exception is a bug of
    tuplet's: it is said to be one, and the code is 1.
    """
    for stream in (sys.stdout, sys.stderr):  # a character that a terminal lacks costs no result
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERRORS)
    interrupted = False  # Numba may make another exception of it while it compiles

    def interrupt(*_: object) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    show_warning, warnings.showwarning = warnings.showwarning, _warn
    debug, arguments = _take(arguments, "--debug")
    is_quiet, arguments = _take(arguments, "--quiet", "-q")
    token = quiet.set(is_quiet)
    try:
        with handling_signals(interrupt, "SIGINT", "SIGTERM"):
            result = app(
                [_as_value(each) for each in arguments],
                exit_on_error=False,
                print_error=False,
                result_action="return_value",
            )
            sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except Exception as error:
        if debug and not isinstance(error, Stopped | BrokenPipeError | CycloptsError):
            traceback.print_exc()
        return _explain(error, interrupted, arguments)
    except KeyboardInterrupt:
        return _interrupted()
    finally:
        quiet.reset(token)
        warnings.showwarning = show_warning


def _explain(error: Exception, interrupted: bool, arguments: list[str]) -> int:
    """Say in one line what went wrong; returns the exit code."""
    if isinstance(error, Stopped):
        return _interrupted(f": {in_one_line(str(error))}")
    if isinstance(error, BrokenPipeError):  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, CycloptsError):
        return complain(_usage_error(error))
    if isinstance(error, UserError):
        return complain(_with_option(str(error), arguments))
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return complain(f"{where}{error.strerror or error}")
    if isinstance(error, MemoryError):
        own = type(error) is MemoryError and error.args  # not NumPy's, which tells of arrays
        return complain(str(error) if own else "there is not enough memory")
    if isinstance(error, ModuleNotFoundError) and "pip install" in str(error):  # an extra is missing
        return complain(str(error))
    if interrupted:
        return _interrupted()
    if type(error).__module__.startswith("numba."):  # a user's own kernel
        from tuplet.kernel import describe_error

        return complain(describe_error(error))
    from tuplet.system.user_code import locate_error

    text, located = f"{type(error).__name__}: {error}", locate_error(error)
    if located != text:  # in a file that is neither tuplet's nor a library's
        return complain(f"your code failed with {located}; --debug shows the traceback")
    return complain(f"internal error: {text}. {REPORT}", code=1)


def _interrupted(why: str = "") -> int:
    print(f"\ntuplet: interrupted{why}", file=sys.stderr)
    return INTERRUPTED


def _take(arguments: list[str], *flags: str) -> tuple[bool, list[str]]:
    """Whether one of these flags is among the arguments, and the others."""
    rest = [each for each in arguments if each not in flags]
    return len(rest) < len(arguments), rest


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning of the library in one line."""
    print(f"tuplet: {in_one_line(str(message))}", file=sys.stderr)


def complain(text: str, code: int = 2) -> int:
    """Print one line on standard error; returns the exit code."""
    print(f"tuplet: {in_one_line(text)}", file=sys.stderr)
    return code


def _as_value(argument: str) -> str:
    """An argument such that a board that begins with a hyphen is not taken for an option."""
    return f" {argument}" if _BOARD.match(argument) else argument


_BOARD = re.compile(r"-[\d\s|.,_-]*[\d\s|.,_]+[\s|,]")


def _usage_error(error: CycloptsError) -> str:
    """An error of Cyclopts without its box, in one line, with where to find help."""
    text = " ".join(str(error).split())
    chain = error.command_chain or ()
    if isinstance(error, MissingArgumentError) and chain and error.argument is not None:
        name = error.argument.name
        text = f"{name} needs a value." if name[0] == "-" else f"{chain[-1]}: {name} is missing."
    text = re.sub(r"^Invalid value for (\S+): (?=must be )", r"\1 ", text)
    command = " ".join(("tuplet", *chain))
    return f"{text}  ({command} --help says more)"


def _with_option(text: str, arguments: list[str]) -> str:
    """A message about a parameter of Python, "lam must be ...", with the option: "--lambda must be ..."."""
    name, must, rest = text.partition(" must be ")
    if must and name.isidentifier():
        _, apps, _ = app.parse_commands(arguments)
        for each in apps[-1].assemble_argument_collection():
            if each.field_info.name == name and each.name.startswith("--"):
                return f"{each.name}{must}{rest}"
    return text
