"""How Python becomes machine code: the one compile decorator, dispatch by type, random streams, bit operations.

Everything here also runs uncompiled (`NUMBA_DISABLE_JIT=1`): each intrinsic has a plain-Python twin of the same name,
and tests compare the two.
"""

from tuplet.kernel.bits import line_aligned, load_pair, pdep, pext, popcount, prefetch
from tuplet.kernel.cache_folders import cache_folder, cache_root, user_code_digest
from tuplet.kernel.clock import now
from tuplet.kernel.compile import allocating, compiling, describe_error, inlined, kernel
from tuplet.kernel.dispatch import implementation_of, register
from tuplet.kernel.elementary import cos, exp, log
from tuplet.kernel.local_arrays import local_array
from tuplet.kernel.random import as_seed, draw, mix, stream

__all__ = [
    "allocating",
    "as_seed",
    "cache_folder",
    "cache_root",
    "compiling",
    "cos",
    "describe_error",
    "draw",
    "exp",
    "implementation_of",
    "inlined",
    "kernel",
    "line_aligned",
    "load_pair",
    "local_array",
    "log",
    "mix",
    "now",
    "pdep",
    "pext",
    "popcount",
    "prefetch",
    "register",
    "stream",
    "user_code_digest",
]
