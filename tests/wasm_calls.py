"""Calls of kernels, made here and in WebAssembly, and their results as plain values."""

from __future__ import annotations

import json
import shutil
import subprocess
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tuplet.kernel.wasm import Build, pack

DRIVER = Path(__file__).parent / "wasm_calls.mjs"


class Call(NamedTuple):
    """A call of an exported kernel: a text among its arguments names a value; arrays to look at afterwards."""

    kernel: str
    arguments: dict[str, Any]
    show: Sequence[str] = ()  # "value.field": the whole array
    checksum: Sequence[str] = ()  # the same: its CRC-32


def plain(value: Any) -> Any:
    """A result as plain values that are equal only if all bits are; integers are texts."""
    if isinstance(value, tuple | list | np.ndarray):
        return [plain(each) for each in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return float(value).hex() if value == value else "nan"
    return value


def named(values: Mapping[str, Any], path: str) -> Any:
    """A value, or a part of one: "work.root_values"."""
    name, *fields = path.split(".")
    value = values[name]
    for field in fields:
        value = getattr(value, field)
    return value


def call_here(
    kernels: Mapping[str, Callable[..., Any]], values: Mapping[str, Any], calls: Sequence[Call]
) -> list[list[Any]]:
    """The result of each call, and what it shows, in this process."""
    answers = []
    for call in calls:
        given = {k: named(values, v) if isinstance(v, str) else v for k, v in call.arguments.items()}
        result = kernels[call.kernel](**given)
        shown = [plain(named(values, path)) for path in call.show]
        sums = [zlib.crc32(np.ascontiguousarray(named(values, path)).tobytes()) for path in call.checksum]
        answers.append([plain(result), shown, sums])
    return answers


def node() -> str:
    """Node, which runs WebAssembly as a browser does; without it the test is skipped."""
    path = shutil.which("node")
    if path is None:
        pytest.skip("there is no Node to run WebAssembly in (Debian: apt-get install nodejs)")
    return path


def call_in_wasm(build: Build, values: Mapping[str, Any], calls: Sequence[Call], folder: Path) -> list[list[Any]]:
    """The same, in Node."""
    described, data = pack(values)
    (folder / "kernels.wasm").write_bytes(build.module)
    (folder / "data.bin").write_bytes(data)
    asked = [
        [
            call.kernel,
            {k: v if isinstance(v, str) else {"is": _number(v)} for k, v in call.arguments.items()},
            list(call.show),
            list(call.checksum),
        ]
        for call in calls
    ]
    head = {"layout": build.layout, "values": described}
    (folder / "calls.json").write_text(json.dumps({"head": head, "calls": asked}))
    done = subprocess.run([node(), str(DRIVER), str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [_floats(answer) for answer in json.loads(done.stdout)]


def _number(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_number(each) for each in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return {"float": repr(float(value))}
    return str(int(value))


def _floats(value: Any) -> Any:
    """Numbers of JavaScript, which come as hexadecimal bits, in the form of `plain`."""
    if isinstance(value, list):
        return [_floats(each) for each in value]
    if isinstance(value, dict):
        number = float(np.uint64(int(value["bits"], 16)).view(np.float64))
        return number.hex() if number == number else "nan"
    return value
