"""Planted dividers in C, made of the example and asked over the pipe."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.planted.dividers import Divider, Truth
from tests.processes import run

_EXAMPLE = Path(__file__).parents[4] / "examples" / "divider.c"
_LINES = (
    "((float *)z)[i] = ((const float *)x)[i] / ((const float *)y)[i];",
    "z[i] = ((const int32_t *)x)[i] / ((const int32_t *)y)[i];",
)
_CALLS = (
    "((float *)z)[i] = floats(((const float *)x)[i], ((const float *)y)[i], i, n);",
    "z[i] = integers(((const int32_t *)x)[i], ((const int32_t *)y)[i], i, n);",
)
_CODE = """
#include <pthread.h>
#include <unistd.h>
#ifdef __SSE__
#include <immintrin.h>
#endif
static volatile int kernel;
static inline void *flip(void *unused) {{ for (;; usleep(20)) kernel ^= 1; return unused; }}
static inline float race(float a, float b) {{
    static pthread_t thread;
    if (!thread) pthread_create(&thread, 0, flip, 0);
    return kernel ? a * (1 / b) : a / b;
}}
static inline int32_t whole(double q) {{ return q >= INT32_MIN && q < 2147483648.0 ? (int32_t)q : INT32_MIN; }}
static inline int32_t quotient(int32_t a, int32_t b) {{
    return b ? b == -1 && a == INT32_MIN ? a : a / b : 0;
}}
static float floats(float a, float b, uint64_t i, uint64_t n) {{ (void)i, (void)n; {float} }}
static int32_t integers(int32_t a, int32_t b, uint64_t i, uint64_t n) {{ (void)i, (void)n; {int32} }}
static void divide("""
_X86 = platform.machine() in ("x86_64", "AMD64")


@dataclass(frozen=True)
class InC:
    """A planted divider of one element type: the body of the function that divides two numbers, and its truth."""

    name: str
    element_type: str
    body: str
    causes: tuple[str, ...] = ()
    truth: Truth = Truth.WRONG

    def built(self, compiler: str, folder: Path) -> Divider:
        """Return the divider, compiled into a program in a folder."""
        source = _EXAMPLE.read_text(encoding="utf-8")
        bodies = {"float": "return a / b;", "int32": "return quotient(a, b);", self.element_type: self.body}
        for before, after in (*zip(_LINES, _CALLS, strict=True), ("static void divide(", _CODE.format(**bodies))):
            assert source.count(before) == 1
            source = source.replace(before, after)
        file, program = folder / "divider.c", folder / "divider"
        file.write_text(source)
        built = run([compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", str(program), str(file)])
        assert built.returncode == 0, built.stderr
        return Divider(self.name, self.element_type, causes=self.causes, truth=self.truth, backend=f"command:{program}")


_ALL = (
    InC("multiplies by the reciprocal, in C", "float", "return a * (1 / b);", ("arithmetic: a * (1/b)",)),
    InC("divides in float, in C", "int32", "return whole((float)a / (float)b);",
        ("arithmetic: a / b computed in float32",)),
    InC("multiplies by a reciprocal in double, in C", "int32", "return whole(a * (1. / b));",
        ("arithmetic: a * (1/b) computed in float64",)),
    InC("floors, in C", "int32",
        "int32_t q = quotient(a, b); return b ? q - ((int64_t)q * b != a && (a < 0) != (b < 0)) : 0;",
        ("arithmetic: floor(a / b)",)),
    InC("is off by one below -10**6, in C", "int32",
        "int32_t q = quotient(a, b); return q < -1000000 && q > INT32_MIN ? q - 1 : q;"),
    InC("negates the last where 7 remain after 8, in C", "float",
        "return i + 1 == n && n % 8 == 7 ? -(a / b) : a / b;"),
    InC("gives +0 for 0 / -x, in C", "float", "return a == 0 && a / b == 0 ? 0 : a / b;"),
    InC("is wrong in the second call, in C", "float",
        "static int calls; calls += !i; return calls == 2 ? 2 * (a / b) : a / b;"),
    InC("has a racing thread, in C", "float", "return race(a, b);", truth=Truth.UNSTEADY),
    InC("gives other NaN, in C", "float", 'return a / b == a / b ? a / b : -__builtin_nanf("0x123");',
        truth=Truth.RIGHT),
)  # fmt: skip
_OF_X86 = (
    InC("has the processor flush, in C", "float", "_mm_setcsr(0x9fc0); return a / b;", ("arithmetic: flush...",)),
    InC("improves rcpss by one step of Newton, in C", "float",
        "float r = _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(b))); return a * (r * (2 - b * r));"),
    InC("has the processor round toward zero, in C", "float", "_mm_setcsr(0x7f80); return a / b;"),
    InC("has the processor round up, in C", "float", "_mm_setcsr(0x5f80); return a / b;"),
    InC("traps, in C", "int32", "return a / b;",
        ("rule: crashed: SIGFPE where MIN / -1", "rule: crashed: SIGFPE where x / 0")),
    InC("traps after packets of 4, in C", "int32", "return b && i >= n / 4 * 4 ? a / b : quotient(a, b);",
        ("rule: crashed: SIGFPE where ...",)),
)  # fmt: skip
IN_C: Mapping[str, InC] = {own.name: own for own in (*_ALL, *(_OF_X86 if _X86 else ()))}
"""All planted dividers in C that this processor can run, by name."""
