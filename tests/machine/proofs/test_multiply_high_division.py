"""The extracted rules for a prepared divisor divide as exact integers do, and compilers make vectors of them."""

from __future__ import annotations

import ctypes
import platform
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from proofs.checking.rules import FOLDER
from tests.kernels.comparing import exact_quotients
from tests.kernels.integer_operands import edges, limits, next_to_multiples
from tests.machine.proofs.compiled_rules import COMPILERS, OPTIMIZED, STANDARDS, STRICT
from tests.machine.proofs.sonnx_c_library import require_compiler
from tests.processes import output_of, run

Array = npt.NDArray[Any]

BITS = (8, 16, 32, 64)
# Each rule, and the type of its operands and its quotient.
RULES = {
    **{f"{rounding}_i{bits}_by": f"int{bits}" for rounding in ("truncating", "floor") for bits in BITS},
    **{f"quotient_u{bits}_by": f"uint{bits}" for bits in BITS},
}
NARROW = [name for name, element in RULES.items() if element.endswith(("int8", "int16"))]
DIVIDENDS = 96  # a divisor, where not all are tried
DRAWN = (4000, 100)  # divisors, and dividends for each: more than the widest vectors hold, and a rest

# A function of its own, in which nothing is known of what was prepared, as in the loops of the core.
_LOOP = """
void {name}_line(int64_t n, const {type}_t *a, struct prepared_{bits} prepared, {type}_t *c);
void {name}_line(int64_t n, const {type}_t *a, struct prepared_{bits} prepared, {type}_t *__restrict c)
{{ for (int64_t i = 0; i < n; i++) c[i] = {name}(a[i], prepared); }}
void {name}_lines(int64_t lines, int64_t n, const {type}_t *a, const {type}_t *b, {type}_t *c);
void {name}_lines(int64_t lines, int64_t n, const {type}_t *a, const {type}_t *b, {type}_t *c)
{{ for (int64_t i = 0; i < lines; i++) {name}_line(n, a + i * n, prepared_{letter}{bits}(b[i]), c + i * n); }}
"""

each_rule = pytest.mark.parametrize("name", RULES)


def loops() -> str:
    """Return a program that has a loop for each rule over the lines of an array, which have a divisor each."""
    text = '#include "invariant.h"\n#ifdef __cplusplus\nextern "C" {\n#endif\n'
    for name, element in RULES.items():
        letter, bits = element[0], element.rpartition("t")[2]
        text += _LOOP.format(name=name, type=element, letter=letter, bits=bits)
    return f"{text}#ifdef __cplusplus\n}}\n#endif\n"


@pytest.fixture(scope="module", params=COMPILERS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Return the loops as the compilers of C and of C++ make them."""
    require_compiler(request, COMPILERS[request.param])
    source = tmp_path_factory.mktemp("prepared") / "lines.c"
    source.write_text(loops(), encoding="utf-8")
    flags = (*STANDARDS[request.param], *STRICT, "-fPIC", "-shared", "-I", str(FOLDER))
    output_of([COMPILERS[request.param], *flags, str(source), "-o", str(source.with_suffix(".so"))])
    return ctypes.CDLL(str(source.with_suffix(".so")))


def divided(library: ctypes.CDLL, name: str, dividends: Array, divisors: Array) -> Array:
    """Divide each line of dividends by its divisor, one of a column."""
    a, b = (np.ascontiguousarray(side, RULES[name]) for side in (dividends, divisors))
    assert b.shape == (len(a), 1)
    quotients = np.empty_like(a)
    pointers = (ctypes.c_void_p(array.ctypes.data) for array in (a, b, quotients))
    getattr(library, f"{name}_lines")(*map(ctypes.c_int64, a.shape), *pointers)
    return quotients


def exact(name: str, dividends: Array, divisors: Array) -> Array:
    """Return NumPy's quotients; MIN/-1 wraps."""
    with np.errstate(over="ignore"):
        floored = dividends // divisors
        if "truncating" in name:
            # One more where the floor lies below the quotient's fraction.
            floored = floored + ((floored < 0) & (floored * divisors != dividends))
    return floored.astype(RULES[name])


def every_divisor(element: str) -> Array:
    """Return all numbers of a type but zero, as a column."""
    smallest, largest = limits(element)
    every = np.arange(smallest, largest + 1).astype(element)
    divisors: Array = every[every != 0][:, None]
    return divisors


@cache
def adversarial(element: str) -> tuple[Array, Array]:
    """Return lines of dividends next to multiples of their divisor and at the edges, and a column of divisors."""
    smallest, largest = limits(element)
    random = np.random.default_rng(7)
    bits = largest.bit_length()
    drawn = random.integers(0, largest, 60, element, endpoint=True) >> random.integers(0, bits, 60, element)
    signs = (1, -1) if smallest else (1,)
    divisors = sorted({*edges(element), *(sign * n for n in drawn.tolist() for sign in signs)} - {0})
    # As many edges as there is room for, both limits among them.
    some = random.choice(np.array(edges(element), object), (len(divisors), DIVIDENDS)).tolist()
    lines = [
        [smallest, largest, *next_to_multiples(divisor, element, 2), *more][:DIVIDENDS]
        for divisor, more in zip(divisors, some, strict=True)
    ]
    return np.array(lines, element), np.array([[divisor] for divisor in divisors], element)


@cache
def drawn(element: str) -> tuple[Array, Array]:
    """Return lines of any dividends, two of three next to a multiple, and a column of divisors of every magnitude."""
    smallest, largest = limits(element)
    random = np.random.default_rng(8)
    divisors = random.integers(smallest, largest, (DRAWN[0], 1), element, endpoint=True)
    divisors >>= random.integers(0, largest.bit_length(), divisors.shape, element)
    divisors[divisors == 0] = 1
    dividends = random.integers(smallest, largest, DRAWN, element, endpoint=True)
    with np.errstate(over="ignore"):  # what lies beyond the limits wraps, and is a dividend like any other
        near = dividends // divisors * divisors
    near += np.array([0, 1, largest if smallest == 0 else -1], element)[random.integers(0, 3, DRAWN)]
    return np.where(random.random(DRAWN) < 1 / 3, dividends, near), divisors


@each_rule
class TestRules:
    """Against integers: every pair of 8 bits, adversarial ones, and drawn ones."""

    def test_the_operands_are_what_they_are_for(self, name: str) -> None:
        dividends, divisors = adversarial(RULES[name])
        smallest, largest = limits(RULES[name])
        assert divisors.all()
        assert {1, 2, 3, largest, largest - 1} <= set(divisors[:, 0].tolist())
        assert smallest == 0 or {smallest, -1, -3} <= set(divisors[:, 0].tolist())
        assert (dividends == largest).any(axis=1).all()
        assert (dividends == smallest).any(axis=1).all()  # by -1 too
        several = divisors[:, 0] > 2
        rests = dividends[several] % divisors[several]
        assert min((rests == rest).mean() for rest in (0, 1, divisors[several] - 1)) > 1 / 100

    def test_adversarial_operands(self, name: str, library: ctypes.CDLL) -> None:
        dividends, divisors = adversarial(RULES[name])
        rounding = "truncating" if "truncating" in name else "floor"
        expected = exact_quotients(dividends, divisors, floor=rounding == "floor", overflow="wrap")
        np.testing.assert_array_equal(exact(name, dividends, divisors), expected)
        np.testing.assert_array_equal(divided(library, name, dividends, divisors), expected)

    def test_drawn_operands(self, name: str, library: ctypes.CDLL) -> None:
        dividends, divisors = drawn(RULES[name])
        np.testing.assert_array_equal(divided(library, name, dividends, divisors), exact(name, dividends, divisors))


@pytest.mark.parametrize("name", NARROW)
class TestNarrowRules:
    """All of 8 bits; of 16 bits all divisors with some dividends, and all dividends with some divisors."""

    def test_every_dividend(self, name: str, library: ctypes.CDLL) -> None:
        smallest, largest = limits(RULES[name])
        divisors = every_divisor(RULES[name])[:: 1 if largest < 256 else 509]
        every = np.arange(smallest, largest + 1).astype(RULES[name])
        dividends = np.broadcast_to(every, (len(divisors), len(every)))
        np.testing.assert_array_equal(divided(library, name, dividends, divisors), exact(name, dividends, divisors))

    def test_every_divisor(self, name: str, library: ctypes.CDLL) -> None:
        smallest, largest = limits(RULES[name])
        divisors = every_divisor(RULES[name])
        most = largest // np.maximum(np.abs(divisors.astype(np.int64)), 1)
        multiples = divisors.astype(np.int64) * (most * np.arange(8) // 7)
        near = np.concatenate([multiples + step for step in (-1, 0, 1)] + [np.full_like(divisors, smallest)], axis=1)
        dividends = near.astype(RULES[name])
        np.testing.assert_array_equal(divided(library, name, dividends, divisors), exact(name, dividends, divisors))


@pytest.mark.parametrize("name", [name for name in RULES if not name.startswith("quotient")])
def test_minimum_by_minus_one_wraps(name: str, library: ctypes.CDLL) -> None:
    minimum = np.array([[limits(RULES[name])[0]]], RULES[name])
    assert divided(library, name, minimum, np.array([[-1]])).tolist() == minimum.tolist()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the levels of x86-64 are asked for")
@pytest.mark.parametrize("level", ["x86-64-v3", "x86-64-v4"])
def test_a_loop_of_each_rule_is_vectorised(request: pytest.FixtureRequest, tmp_path: Path, level: str) -> None:
    require_compiler(request, "g++")
    source = tmp_path / "lines.cpp"
    source.write_text(loops(), encoding="utf-8")
    flags = ("-std=c++20", *OPTIMIZED, f"-march={level}", "-fopt-info-vec-optimized", "-I", str(FOLDER))
    done = run(["g++", *flags, "-c", str(source), "-o", str(tmp_path / "lines.o")])
    assert done.returncode == 0, done.stderr
    text = loops().splitlines()
    found = {int(line) for line in re.findall(r"lines\.cpp:(\d+):\d+: optimized: loop vectorized", done.stderr)}
    # The name stands in the line before the loop.
    assert set(RULES) - {name for line in found for name in RULES if f"{name}_line(" in text[line - 2]} == set()
