"""Recognise a file by its first bytes, for errors that name the command which takes it."""

from __future__ import annotations

import json
import re
from pathlib import Path

_WEIGHTS = "the weights of a network, for tuplet eval, analyze, play or convert"
_MAGIC = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\xfd7zXZ", f"an xz file: if tuplet packed it, {_WEIGHTS}"),
    (b"\x7fELF", "a program"),
    (b"<svg", "an SVG picture"),
    (b"<?xml", "an XML file"),
    (b"<!DOCTYPE html", "a web page"),
)
_EPISODE = re.compile(rb"[^|\n]{0,1000}@\d+\|(#[URDL]|[0-9A-Fa-f][1-9A-Ha-h]|\|)")
_HEAD = 1 << 16  # bytes looked at


def describe_file(path: str | Path) -> str:
    """A file or folder in a few words: "a saved match, for tuplet show"."""
    path = Path(path)
    if path.is_dir():
        if (path / "config.toml").is_file():
            return "the folder of a training run, for tuplet eval, analyze or plot"
        model = path / "model.safetensors"
        if model.is_file() and describe_file(model) == _WEIGHTS:
            return "a model folder of tuplet's, for tuplet eval, analyze, play or convert"
        return "a folder"
    if not path.is_file():
        return "no file" if path.exists() else "not there"
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return _by_magic(head) or _by_first_line(head.lstrip()) or "a file of unknown kind"


def _by_magic(head: bytes) -> str:
    """Recognise a file by its magic bytes."""
    if not head.strip():
        return "empty"
    for mark, what in _MAGIC:
        if head.startswith(mark):
            return what
    if head[8:9] == b"{":
        if b"tuplet-endgames" in head:
            return "a table of endgames, for tuplet analyze, review, or regret --table"
        if b"tuplet-solution" in head:
            return "a table of exact values, for tuplet analyze or tuplet regret --table"
        return _WEIGHTS if b"tuplet-network" in head else "a safetensors file of another program"
    return _WEIGHTS if head[13:27] == b"-tuple pattern" else ""


def _by_first_line(head: bytes) -> str:
    """Recognise a file by its first line."""
    first = head.partition(b"\n")[0]
    if first.startswith(b"{"):
        try:
            record = json.loads(first)
        except (ValueError, RecursionError):
            return "a JSON file" if b"\0" not in head else ""
        if record.get("kind") in ("match", "tournament") and "agents" in record:
            return f"a saved {record['kind']}, for tuplet show"
        if "start" in record:
            return "games as tuplet play saves them, for tuplet show --number 1"
        return "the metrics of a training run: name its folder" if "mean_score" in record else ("a JSON file")
    if _EPISODE.match(head):
        return "games of 2048, for tuplet review"
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:  # else a character was cut in two
            return ""
    return "a text file" if b"\0" not in head else ""
