"""The rules of the core in the committed headers, each compiled in a loop over arrays, as C and as C++."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from proofs.checking.rules import FOLDER
from tests.processes import output_of

Array = npt.NDArray[Any]

COMPILERS = {"C11": "gcc", "C++20": "g++"}
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")
# The options of the core, none of which changes a result.
OPTIMIZED = ("-O3", "-fno-trapping-math", "-fno-math-errno", "-ffp-contract=off")
STANDARDS = {"C11": ("-x", "c", "-std=c11", "-O2"), "C++20": ("-x", "c++", "-std=c++20", *OPTIMIZED)}
# Each rule, and the type of its operands and its quotient.
DIRECT = {
    **{f"{rounding}_i{bits}": f"int{bits}" for rounding in ("truncating", "floor") for bits in (8, 16, 32)},
    **{f"quotient_u{bits}": f"uint{bits}" for bits in (8, 16, 32)},
    "truncating_51_i64": "int64",
    "floor_51_i64": "int64",
    "quotient_51_u64": "uint64",
}
TWO_STEP = {"truncating_i64": "int64", "floor_i64": "int64", "quotient_u64": "uint64"}
BY_PREPARED = {
    **{f"{rounding}_i{bits}_by": f"int{bits}" for rounding in ("truncating", "floor") for bits in (8, 16, 32, 64)},
    **{f"quotient_u{bits}_by": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
RULES = {**DIRECT, **TWO_STEP, **BY_PREPARED}
_LOOP = (
    "void all_{name}(int64_t n, const {type}_t *a, const {type}_t *b, {type}_t *__restrict c) "
    "{{ for (int64_t i = 0; i < n; i++) c[i] = {name}(a[i], {divisor}); }}\n"
)
# Here the compiler knows nothing of how `by` was prepared, as in the loops of the core.
_LINE = (
    "void line_{name}(int64_t n, const {type}_t *a, struct prepared_{bits} by, {type}_t *__restrict c) "
    "{{ for (int64_t i = 0; i < n; i++) c[i] = {name}(a[i], by); }}\n"
)


def headers() -> list[str]:
    """Return the names of all headers of the core's rules."""
    return sorted(path.name for path in FOLDER.glob("*.h"))


def loops() -> tuple[str, dict[int, str]]:
    """Return a program that includes all headers and has a loop for each rule, and the rule of each such line.

    A rule for a prepared divisor has two loops: the one in such a line has one divisor, the other prepares one for each
    element.
    """
    text = "".join(f'#include "{name}"\n' for name in headers())
    text += '#ifdef __cplusplus\nextern "C" {\n#endif\n'
    lines = {}
    for name, element in RULES.items():
        bits = element.rpartition("t")[2]
        divisor = f"prepared_{element[0]}{bits}(b[i])" if name in BY_PREPARED else "b[i]"
        if name in BY_PREPARED:
            text += _LOOP.format(name=name, type=element, divisor=divisor)
        lines[text.count("\n") + 1] = name
        text += (_LINE if name in BY_PREPARED else _LOOP).format(name=name, type=element, bits=bits, divisor=divisor)
    return f"{text}#ifdef __cplusplus\n}}\n#endif\n", lines


class CompiledRules:
    """The rules by name, compiled for one standard and called with arrays."""

    def __init__(self, folder: Path, standard: str) -> None:
        source = folder / "loops.c"
        source.write_text(loops()[0], encoding="utf-8")
        made = folder / "loops.so"
        flags = (*STANDARDS[standard], *STRICT, "-fPIC", "-shared", "-I", str(FOLDER))
        output_of([COMPILERS[standard], *flags, str(source), "-lm", "-o", str(made)])
        self._library = ctypes.CDLL(str(made))

    def __call__(self, name: str, dividends: Array, divisors: Array) -> Array:
        """Divide arrays of one shape by a rule, in its type."""
        element = np.dtype(RULES[name])
        typed = [np.ascontiguousarray(side, element) for side in (dividends, divisors)]
        assert typed[0].shape == typed[1].shape
        quotients = np.empty_like(typed[0])
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (*typed, quotients))
        getattr(self._library, f"all_{name}")(ctypes.c_int64(quotients.size), *pointers)
        return quotients
