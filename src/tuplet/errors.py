"""The error of a user's input, as distinct from a bug of ours."""

from __future__ import annotations


class UserError(ValueError):
    """Bad input: what is wrong, what was given, and what to do, in one line.

    The command line and the server show its text. Any other exception is a bug of ours (or of code that a user
    supplied) and is shown as such, with its traceback.
    """
