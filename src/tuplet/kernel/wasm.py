"""Kernels as WebAssembly: the same Python functions that run natively, compiled for wasm32.

Numba compiles each kernel without optimizing it, for a plain 64-bit processor (`NUMBA_OPT=0`), and shows its LLVM code
(`inspect_llvm`). That code says nothing yet about where the fields of a structure stand, so LLVM can compile it for
another machine: `build` links the kernels with the few functions they call (`wasm.ll`), optimizes them together, lets
LLVM write an object file for wasm32, and makes a module of it. Numbers stay as they are natively (integers have 64
bits), only pointers have 32.

An exported kernel takes one argument, the address of a *block*. Its arguments stand there flattened, in slots of eight
bytes (an array takes several: see `_slots`), and its result follows. `Build.layout` describes the blocks for
JavaScript; `pack` writes Python values, NamedTuples of arrays for example, such that JavaScript can pass them on.

The module has no memory of its own: it imports `memory`, and its addresses begin at 0. Natively and here a kernel
does the same operations on the same numbers in the same order, so the results are the same, bit for bit.
"""

from __future__ import annotations

import base64
import ctypes
import hashlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuplet.errors import UserError
from tuplet.kernel.cache_folders import PACKAGE, cache_folder
from tuplet.kernel.compile_lock import acquire, release

TRIED = ("0.62", "0.68")  # versions of Numba, as tests/kernel/test_wasm.py has them
STACK = 1 << 18  # bytes
LONGEST = 600.0  # seconds to wait for another process that builds the same module

# What browsers have had since 2021 (Safari: since 2022); vectors are a little younger.
PLAIN = "+bulk-memory,+mutable-globals,+nontrapping-fptoint,+sign-ext"
SIMD = f"{PLAIN},+simd128"

_TRIPLE = "wasm32-unknown-unknown"
_LAYOUT = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
_RUNTIME = Path(__file__).with_suffix(".ll")
_EXPORT = "export."
_IMPORTS = {"memory": "__linear_memory", "stack": "__stack_pointer", "table": "__indirect_function_table"}
FUNCTIONS = ("tuplet_monotonic",)  # that JavaScript provides
_NATIVE = ("tuplet_shuffle_bytes",)  # functions of `wasm.ll` that the native compiler must find, but never calls

Exports = Mapping[str, tuple[Callable[..., Any], tuple[Any, ...]]]  # name -> kernel, and arguments of its types


class Build(NamedTuple):
    """A module, and the description of its exports (see `build`)."""

    module: bytes
    layout: dict[str, Any]


def build_in_new_process(exports: str, features: str = SIMD) -> Build:
    """`build` with the exports that the function `module:name` returns, in a process of its own."""
    return build_kinds(exports, [features])[0]


def build_kinds(exports: str, kinds: Sequence[str]) -> list[Build]:
    """A module for each of several sets of features, built in new processes, one after the other.

    Numba reads its settings when it is imported, and in this process it compiles for this machine. Kernels without
    vectors are compiled by Numba for the first module alone. What was built is kept in the cache folder, with the
    digests of all files of tuplet that its process had read.
    """
    check_version()
    with tempfile.TemporaryDirectory() as shared:
        return [_build_or_read(exports, features, Path(shared)) for features in kinds]


def _build_or_read(exports: str, features: str, shared: Path) -> Build:
    """A module that was kept, or else a new one."""
    folder = cache_folder()
    if folder is None:
        return _build_elsewhere(exports, features, shared)[0]
    import numba

    about = repr((exports, features, numba.__version__, sys.version, str(PACKAGE)))
    kept = folder.parent / "wasm" / f"{hashlib.sha256(about.encode()).hexdigest()[:16]}.json"
    kept.parent.mkdir(exist_ok=True)
    acquire(kept.parent, kept.name, LONGEST)
    try:
        if (found := _read_kept(kept)) is not None:
            return found
        began = time.time()
        built, sources = _build_elsewhere(exports, features, shared)
        module = base64.b64encode(built.module).decode()
        text = json.dumps({"sources": sources, "module": module, "layout": built.layout})
        if any(Path(file).stat().st_mtime > began for file in sources):
            return built  # a source was edited meanwhile: the digests may be those of other code
        with suppress(OSError):  # a full disk: the next time it is built again
            new = kept.with_suffix(f".{os.getpid()}")
            new.write_text(text)
            new.replace(kept)
        return built
    finally:
        release(kept.parent, kept.name)


def _read_kept(file: Path) -> Build | None:
    """What was built before, if its sources are the same."""
    try:
        kept = json.loads(file.read_text())
        if kept["sources"] != _digests(kept["sources"]):
            return None
        return Build(base64.b64decode(kept["module"]), kept["layout"])
    except (OSError, ValueError, KeyError):
        return None


def _digests(files: Iterable[str]) -> dict[str, str]:
    return {file: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files}


def _build_elsewhere(exports: str, features: str, shared: Path) -> tuple[Build, dict[str, str]]:
    """What was built, and the digests of its sources; `shared` has the code of kernels that others compiled."""
    settings = {
        "NUMBA_OPT": "0",
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": features,
        "NUMBA_CACHE_DIR": os.devnull,  # native code must not find this in the cache
        "NUMBA_DISABLE_JIT": "0",
    }
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", __name__, exports, folder, str(shared)]
        done = subprocess.run(command, env={**os.environ, **settings}, check=False, capture_output=True, text=True)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line and "not a recognized feature" not in line]
            raise UserError(f"the kernels cannot be compiled for WebAssembly: {lines[-1] if lines else 'no reason'}")
        described = json.loads((Path(folder) / "layout.json").read_text())
        module = (Path(folder) / "kernels.wasm").read_bytes()
        return Build(module, described["layout"]), described["sources"]


def build(exports: Exports, shared: Path | None = None) -> Build:
    """Compile kernels for WebAssembly. Call `build_in_new_process`: Numba's settings must be those it has there.

    In the folder `shared` is LLVM code of kernels without vectors, which is the same for all features.

    `layout` has `exports`: for each name the function of the module (`call`), the bytes of its block (`size`), its
    arguments by name, and its result, as types: "float32", ["array", "uint8", 2] (dtype and dimensions), a list or a
    dictionary of types. `data` and `stack` are the ends of the module's data and of its stack, at which the free
    memory begins.
    """
    check_version()
    import numba
    from llvmlite import binding as llvm
    from numba import config

    if config.OPT != 0 and str(config.OPT) != "0":
        raise UserError("Numba must not optimize here: use build_in_new_process")
    for target in (llvm.initialize_all_targets, llvm.initialize_all_asmprinters):
        target()
    abort = ctypes.cast(ctypes.pythonapi.Py_FatalError, ctypes.c_void_p).value
    for name in _NATIVE:
        llvm.add_symbol(name, abort)
    machine = llvm.Target.from_triple(_TRIPLE).create_target_machine(
        cpu="generic", features=str(config.CPU_FEATURES), opt=3, reloc="static"
    )
    whole = _parse(llvm, _RUNTIME.read_text())
    layout: dict[str, Any] = {}
    known: dict[tuple[Any, ...], str] = {}
    for name, (kernel, args) in exports.items():
        kinds = tuple(numba.typeof(arg) for arg in args)
        code, result, size = _compiled(name, kernel, kinds, shared)
        if (kernel, kinds) not in known:
            known[kernel, kinds] = name
            module = _parse(llvm, code)
            function = _entry(module)
            slots = [slot for kind in kinds for slot in _slots(kind)]
            _check_arguments(name, function, slots)
            wrapper = _wrapper(name, function.name, slots)
            whole.link_in(module)
            whole.link_in(_parse(llvm, wrapper))
        parameters = list(inspect.signature(kernel.py_func).parameters)  # type: ignore[attr-defined]
        start = 8 * sum(len(_slots(kind)) for kind in kinds)
        layout[name] = {
            "call": known[kernel, kinds],
            "arguments": {p: describe_type(kind) for p, kind in zip(parameters, kinds, strict=True)},
            "result": result,
            "result_at": start,
            "size": start + max(size, 8),
        }
    _optimize(llvm, whole, machine)
    module, imports, end = _as_module(machine.emit_object(whole))
    for name in imports:
        if name not in (*_IMPORTS.values(), *FUNCTIONS):
            raise UserError(f"a kernel calls {name}, which WebAssembly does not have (see kernel/wasm.ll)")
    stack = -(-(end + STACK) // 64) * 64
    return Build(module, {"exports": layout, "data": end, "stack": stack})


def _compiled(name: str, kernel: Any, kinds: tuple[Any, ...], shared: Path | None) -> tuple[str, Any, int]:
    """The LLVM code of a kernel, and its result: the type's description and size."""
    file = None if shared is None else shared / f"{name}.json"
    if file is not None and file.exists():
        code, result, size = json.loads(file.read_text())
        return code, result, size
    kernel.compile(kinds)  # a dispatcher of Numba
    kind = next(each.return_type for each in kernel.nopython_signatures if each.args == kinds)
    code, result, size = kernel.inspect_llvm(kinds), describe_type(kind), _measure(kind)[0]
    if file is not None and not any(function in code for function in _NATIVE):
        file.write_text(json.dumps([code, result, size]))
    return code, result, size


def check_version(version: str | None = None) -> None:
    """Raise UserError for a version of Numba whose LLVM code was not tried."""
    import numba

    version = version or numba.__version__
    if ".".join(version.split(".")[:2]) not in TRIED:
        raise UserError(
            f"WebAssembly was not tried with Numba {version}, but with {', '.join(TRIED)}: install one of these, "
            "or add it to TRIED in kernel/wasm.py and run tests/kernel/test_wasm.py"
        )


# Types


def _slots(kind: Any) -> list[str]:
    """The LLVM types of an argument, as Numba flattens it; an array is two pointers to its owner, which stay null,
    the number of items, the size of one, the data, the shape and the strides.
    """
    from numba import types

    if isinstance(kind, types.Array):
        return ["ptr", "ptr", "i64", "i64", "ptr", *["i64"] * (2 * kind.ndim)]
    if isinstance(kind, types.BaseTuple):
        return [slot for each in kind for slot in _slots(each)]
    return [_number(kind)]


def _number(kind: Any) -> str:
    from numba import types

    if isinstance(kind, types.Boolean):
        return "i8"
    if isinstance(kind, types.Integer):
        return f"i{kind.bitwidth}"
    if isinstance(kind, types.Float):
        return {32: "float", 64: "double"}[kind.bitwidth]
    raise UserError(f"exported kernels take numbers, arrays and tuples (got {kind})")


def describe_type(kind: Any) -> Any:
    """A type for JavaScript; see `build`."""
    from numba import types

    if kind == types.none:
        return None
    if isinstance(kind, types.Array):
        dtype = kind.dtype
        return ["array", "record" if isinstance(dtype, types.Record) else str(dtype), kind.ndim]
    if isinstance(kind, types.BaseNamedTuple):
        return {name: describe_type(each) for name, each in zip(kind.fields, kind, strict=True)}
    if isinstance(kind, types.BaseTuple):
        return [describe_type(each) for each in kind]
    _number(kind)
    return str(kind)


def _measure(kind: Any) -> tuple[int, int]:
    """The size of a result, and its alignment."""
    from numba import types

    if kind == types.none:
        return 0, 1
    if isinstance(kind, types.Array):
        return 32 + 16 * kind.ndim, 8
    if isinstance(kind, types.BaseTuple):
        size, most = 0, 1
        for each in kind:
            own, align = _measure(each)
            size, most = -(-size // align) * align + own, max(most, align)
        return -(-size // most) * most, most
    size = {"i8": 1, "float": 4, "double": 8}.get(_number(kind)) or int(_number(kind)[1:]) // 8
    return size, size


# LLVM


def _parse(llvm: Any, code: str) -> Any:
    """LLVM code as a module for wasm32."""
    code = re.sub(r'^target (triple|datalayout) = ".*"$', "", code, flags=re.MULTILINE)
    return llvm.parse_assembly(f'target datalayout = "{_LAYOUT}"\ntarget triple = "{_TRIPLE}"\n{code}')


def _entry(module: Any) -> Any:
    """The kernel among the functions of its module: the one that Numba wraps for C."""
    wrapped = next(f.name for f in module.functions if f.name.startswith("cfunc.")).removeprefix("cfunc.")
    return module.get_function(wrapped)


def _check_arguments(name: str, function: Any, slots: list[str]) -> None:
    """Raise UserError if Numba flattens arguments in another way than `_slots`."""
    given = [str(arg.type) for arg in function.arguments][2:]
    if given != slots:
        raise UserError(f"the arguments of {name} are {' '.join(given)}, not {' '.join(slots)}: see kernel/wasm.py")


def _wrapper(name: str, kernel: str, slots: Sequence[str]) -> str:
    """A function that calls a kernel with the arguments of a block. Traps if the kernel raises an exception."""
    lines, arguments = [], ""
    for number, slot in enumerate(slots):
        lines += [f"%p{number} = getelementptr i8, ptr %block, i32 {8 * number}"]
        lines += [f"%v{number} = load {slot}, ptr %p{number}"]
        arguments += f", {slot} %v{number}"
    body = "\n".join(lines)
    return f"""
declare i32 @"{kernel}"(ptr, ptr{"".join(f", {slot}" for slot in slots)})
define void @"{_EXPORT}{name}"(ptr %block) {{
{body}
%result = getelementptr i8, ptr %block, i32 {8 * len(slots)}
%error = alloca ptr
%status = call i32 @"{kernel}"(ptr %result, ptr %error{arguments})
%good = icmp eq i32 %status, 0
%none = icmp eq i32 %status, -2
%either = or i1 %good, %none
br i1 %either, label %done, label %raised
raised:
call void @llvm.trap()
unreachable
done:
ret void
}}
declare void @llvm.trap()
"""


def _optimize(llvm: Any, module: Any, machine: Any) -> None:
    """Optimize all kernels together; what no export calls goes."""
    for function in module.functions:
        if not function.is_declaration:
            exported = function.name.startswith(_EXPORT) or function.name in ("memset", "memcpy", "memmove")
            function.linkage = "external" if exported else "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.verify()
    options = llvm.create_pipeline_tuning_options(3)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


# From an object file to a module
#
# An object of LLVM is a module already, except that functions are exported by a linker. All its addresses are right if
# its data is where the object has it, from 0 on. https://webassembly.github.io/spec/core/binary/modules.html and
# https://github.com/WebAssembly/tool-conventions/blob/main/Linking.md

_CUSTOM, _IMPORT, _EXPORTS, _DATA, _DATA_COUNT = 0, 2, 7, 11, 12
_SYMBOLS, _FUNCTION, _VARIABLE, _SECTION = 8, 0, 1, 3
_UNDEFINED, _NAMED = 0x10, 0x40


class _Reader:
    """Reads the numbers and names of a WebAssembly file."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    @property
    def more(self) -> bool:
        return self.at < len(self.data)

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    def take(self) -> bytes:
        """A number, and as many bytes."""
        size = self.number()
        self.at += size
        return self.data[self.at - size : self.at]

    def sections(self) -> Iterator[tuple[int, bytes]]:
        while self.more:
            yield self.byte(), self.take()


def _unsigned(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _signed(value: int) -> bytes:
    """A number that is not negative, in the form of those that may be."""
    out = bytearray()
    while value >= 0x40:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _with_size(data: bytes) -> bytes:
    return _unsigned(len(data)) + data


def _as_module(data: bytes) -> tuple[bytes, list[str], int]:
    """An object as a module: its bytes, the names of its imports, and the end of its data."""
    sections = list(_Reader(data, 8).sections())
    imports, exports, end = [], b"", 0
    for kind, body in sections:
        if kind == _IMPORT:
            imports = _imported(body)
        elif kind == _CUSTOM and (reader := _Reader(body)).take() == b"linking":
            names = {n[len(_EXPORT) :]: i for n, i in _functions(reader) if n.startswith(_EXPORT)}
            entries = [_with_size(name.encode()) + bytes([0]) + _unsigned(i) for name, i in names.items()]
            exports = _unsigned(len(entries)) + b"".join(entries)
    out = bytearray(data[:8])
    for kind, body in sections:
        if kind > _EXPORTS and exports:
            out += bytes([_EXPORTS]) + _with_size(exports)
            exports = b""
        if kind == _DATA:
            body, end = _trimmed(body)
        if kind not in (_CUSTOM, _DATA_COUNT):
            out += bytes([kind]) + _with_size(body)
    return bytes(out), imports, end


def _imported(body: bytes) -> list[str]:
    """The names of an import section."""
    reader, names = _Reader(body), []
    for _ in range(reader.number()):
        reader.take()
        names.append(reader.take().decode())
        kind = reader.byte()
        if kind == 0:  # a function: its type
            reader.number()
        elif kind == 3:  # a global: its type, whether it changes
            reader.at += 2
        else:  # a table (its type) or memory: limits
            reader.at += kind == 1
            for _ in range(1 + (reader.byte() & 1)):
                reader.number()
    return names


def _functions(reader: _Reader) -> Iterator[tuple[str, int]]:
    """The functions that an object defines: name and number, from its linking section."""
    reader.number()  # the version
    while reader.more:
        kind, inside = reader.byte(), _Reader(reader.take())
        for _ in range(inside.number() if kind == _SYMBOLS else 0):
            what, flags = inside.byte(), inside.number()
            if what == _VARIABLE:
                inside.take()
                for _ in range(0 if flags & _UNDEFINED else 3):
                    inside.number()
                continue
            index = inside.number()
            if what != _SECTION and (not flags & _UNDEFINED or flags & _NAMED):
                name = inside.take().decode()
                if what == _FUNCTION and not flags & _UNDEFINED:
                    yield name, index


def _trimmed(body: bytes) -> tuple[bytes, int]:
    """A data section without the zeros at the ends of its parts, and the end of all data."""
    reader, parts, end = _Reader(body), [], 0
    for _ in range(reader.number()):
        if reader.number() != 0 or reader.byte() != 0x41:  # in memory 0, at a constant
            raise UserError("LLVM wrote a kind of data that kernel/wasm.py does not know")
        start = reader.number()
        reader.byte()
        content = reader.take()
        end = max(end, start + len(content))
        if content := content.rstrip(b"\0"):
            parts.append(b"\0\x41" + _signed(start) + b"\x0b" + _with_size(content))
    return _unsigned(len(parts)) + b"".join(parts), end


# Values


def pack(values: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Python values for JavaScript: a description of each, and the bytes of their arrays.

    A number is described by itself, an integer as text, infinity as {"float": "Infinity"}; a tuple by a list, a
    NamedTuple by a dictionary, an array by {"array": dtype, "shape": [...], "at": where its bytes begin, or null if all
    are 0}.
    """
    data = bytearray()
    places: dict[bytes, int] = {}

    def describe(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            content = np.ascontiguousarray(value).tobytes()
            if not any(content):
                at = None
            else:
                if content not in places:
                    data.extend(bytes(-len(data) % 8))
                    places[content] = len(data)
                    data.extend(content)
                at = places[content]
            dtype = "record" if value.dtype.names else str(value.dtype)
            return {"array": dtype, "shape": list(value.shape), "itemsize": value.itemsize, "at": at}
        if isinstance(value, tuple):
            fields = getattr(value, "_fields", None)
            parts = [describe(each) for each in value]
            return parts if fields is None else dict(zip(fields, parts, strict=True))
        if isinstance(value, bool | np.bool_):
            return bool(value)
        if isinstance(value, int | np.integer):
            return str(int(value))
        return float(value) if np.isfinite(value) else {"float": str(float(value)).replace("inf", "Infinity")}

    return {name: describe(value) for name, value in values.items()}, bytes(data)


def _main(exports: str, folder: str, shared: str) -> None:
    from pkgutil import resolve_name

    try:
        made = build(resolve_name(exports)(), Path(shared))
    except UserError as error:
        sys.exit(str(error))
    (Path(folder) / "kernels.wasm").write_bytes(made.module)
    top = exports.split(":")[0].split(".")[0]  # the exports may be of another package than tuplet
    files = [
        file
        for name, module in sys.modules.items()
        if name.split(".")[0] in (top, "tuplet", "__main__") and (file := getattr(module, "__file__", None))
    ]
    described = {"layout": made.layout, "sources": _digests([*files, str(_RUNTIME)])}
    (Path(folder) / "layout.json").write_text(json.dumps(described))


if __name__ == "__main__":
    _main(*sys.argv[1:])
