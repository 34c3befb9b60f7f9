"""Kernels as WebAssembly: what is built, and that it computes what the kernels do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import wasm_small
from tuplet import UserError
from tuplet.kernel import wasm
from wasm_calls import Call, call_here, call_in_wasm, node

KERNELS = {name: kernel for name, (kernel, _) in wasm_small.exports().items()}


@pytest.fixture(scope="module")
def build() -> wasm.Build:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(wasm_small.__file__).parent))
        return wasm.build_in_new_process("wasm_small:exports", wasm.PLAIN)


def test_kernels_return_in_webassembly_what_they_return_here(build: wasm.Build, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    table = random.normal(size=(5, 7)).astype(np.float32)
    values: dict[str, Any] = {
        "forwards": wasm_small.Scale(table, np.float32(0.3), False),
        "backwards": wasm_small.Scale(table, np.float32(-1.7), True),
        "out": np.zeros(7, np.float32),
    }
    calls = [
        Call("row_sum", {"scale": scale, "row": row, "out": "out"}, ["out"])
        for scale in ("forwards", "backwards")
        for row in range(5)
    ]
    calls += [Call("refuse", {"number": number}) for number in (0, 1 << 40)]
    for bits in random.integers(0, 1 << 64, 200, np.uint64):
        calls += [Call("draw", {"state": bits}), Call("stream", {"seed": bits, "number": bits >> np.uint64(9)})]
        calls += [Call("ones", {"bits": bits})]
    assert call_in_wasm(build, values, calls, tmp_path) == call_here(KERNELS, values, calls)


def test_an_exception_in_a_kernel_is_a_trap(build: wasm.Build, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="unreachable"):
        call_in_wasm(build, {}, [Call("refuse", {"number": -1})], tmp_path)


def test_the_module_imports_memory_and_a_clock_alone(build: wasm.Build) -> None:
    node()
    names = re.findall(
        rb"__linear_memory|__stack_pointer|__indirect_function_table|tuplet_monotonic|Py\w+|NRT_\w+", build.module
    )
    assert set(names) <= {b"__linear_memory", b"__stack_pointer", b"__indirect_function_table", b"tuplet_monotonic"}


def test_numba_is_a_version_that_was_tried() -> None:
    assert wasm.TRIED == ("0.62", "0.68")
    wasm.check_version(f"{wasm.TRIED[-1]}.9")
    assert ".".join(numba.__version__.split(".")[:2]) in wasm.TRIED, "try it, and add it to TRIED"
    with pytest.raises(UserError, match=r"was not tried with Numba 9\.1\.0, but with 0\.62"):
        wasm.check_version("9.1.0")


def test_a_kernel_that_cannot_be_exported_is_an_error_of_one_line() -> None:
    with pytest.raises(
        UserError, match=r"^the kernels cannot be compiled for WebAssembly: ModuleNotFoundError: [^\n]*nowhere"
    ):
        wasm.build_in_new_process("nowhere:exports", wasm.PLAIN)


def test_kernels_without_vectors_are_compiled_once_for_all_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(wasm_small.__file__).parent))
    monkeypatch.setattr(wasm, "cache_folder", lambda: None)
    alone = wasm.build_in_new_process("wasm_small:exports", wasm.PLAIN)
    vectors, plain = wasm.build_kinds("wasm_small:exports", [wasm.SIMD, wasm.PLAIN])
    assert plain.layout == alone.layout == vectors.layout
    calls = [Call("ones", {"bits": np.uint64(bits)}) for bits in (0, 1, 7, 1 << 63)]
    assert call_in_wasm(plain, {}, calls, tmp_path) == call_here(KERNELS, {}, calls)


KERNEL = """
from tuplet.kernel import kernel

@kernel
def twice(number):
    return {result}

def exports():
    return {{"twice": (twice, (0,))}}
"""


def test_a_module_is_built_again_when_its_source_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    source = tmp_path / "wasm_twice.py"
    source.write_text(KERNEL.format(result="2 * number"))
    first = wasm.build_in_new_process("wasm_twice:exports", wasm.PLAIN)
    with monkeypatch.context() as patch:
        patch.setattr(wasm, "_build_elsewhere", None)  # there is nothing to build
        assert wasm.build_in_new_process("wasm_twice:exports", wasm.PLAIN) == first
    source.write_text(KERNEL.format(result="number + 1"))
    again = wasm.build_in_new_process("wasm_twice:exports", wasm.PLAIN)
    assert call_in_wasm(again, {}, [Call("twice", {"number": 5})], tmp_path) == [["6", [], []]]
