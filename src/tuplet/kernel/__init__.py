"""How Python becomes machine code: the one compile decorator, random streams, bit tricks.

Everything here also runs uncompiled (`NUMBA_DISABLE_JIT=1`): each trick that needs the
processor's help has a plain-Python twin of the same name, and tests compare the two.
"""

from tuplet.kernel.bits import line_aligned, pdep, pext, popcount, prefetch, two_of
from tuplet.kernel.clock import now
from tuplet.kernel.compile import inlined, kernel, told
from tuplet.kernel.dispatch import code_of, register
from tuplet.kernel.folders import cache_folder, cache_root, own_digest
from tuplet.kernel.random import as_seed, draw, mix, stream
from tuplet.kernel.watch import compiling

__all__ = [
    "as_seed",
    "cache_folder",
    "cache_root",
    "code_of",
    "compiling",
    "draw",
    "inlined",
    "kernel",
    "line_aligned",
    "mix",
    "now",
    "own_digest",
    "pdep",
    "pext",
    "popcount",
    "prefetch",
    "register",
    "stream",
    "told",
    "two_of",
]
