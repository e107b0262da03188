"""The kernels that prepare a divisor are transcriptions of the proved programs: same preparations, same quotients."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pytest

from proofs.checking.extraction import COMPILER, FLAGS, CFile, extract
from tests.kernels.test_multiply_high_quotients import edges, exact_quotients, limits, next_to_multiples
from tests.processes import output_of, run
from tests.proofs.sonnx_c_library import require_compiler
from vinculum.kernels.integer_quotient import floor_quotient_by, prepared_divisor, truncating_quotient_by
from vinculum.kernels.jit import inlined

Array = npt.NDArray[Any]
# What a divisor is prepared as, its quotients truncated, and floored: a line of each for each divisor.
Results = tuple[Array, Array, Array]

INTEGERS = [f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")]
ROUNDINGS = ("truncating", "floor")
DIVIDENDS = 96  # a divisor, where not all are tried
PARTS = 4
PROVED = CFile(
    "multiply_high.c",
    (
        "multiply_high_words.Words",
        "multiply_high_words.ExclusiveOr",
        "multiply_high_words.Signs",
        "multiply_high_preparation.Preparation",
        "multiply_high_preparation.PreparedOfBits",
        "multiply_high_programs.HighHalves",
        "multiply_high_programs.Quotients",
        "multiply_high_signed.Unsigned",
        "multiply_high_signed.Signed",
    ),
    "multiply_high.drv",
)
# The theories' integers have no bound: one that 128 bits do not hold ends the program.
SANITIZER = ("-fsanitize=signed-integer-overflow", "-fno-sanitize-recover=all")
_PROGRAM = """
#include <stdio.h>
#include <stdlib.h>

static void put(integer word) {
  uint64_t stored = (uint64_t)word;
  fwrite(&stored, sizeof stored, 1, stdout);
}

static uint64_t got(void) {
  uint64_t word;
  if (fread(&word, sizeof word, 1, stdin) != 1) exit(1);
  return word;
}

/* How many bits, whether with a sign, how many divisors, how many dividends each. */
int main(int count, char **numbers) {
  if (count != 5) return (int)multiply(64, power_of_two(count + 63), power_of_two(63));
  int bits = atoi(numbers[1]), with_sign = atoi(numbers[2]), divisors = atoi(numbers[3]), each = atoi(numbers[4]);
  while (divisors-- > 0) {
    uint64_t divisor = got();
    struct prepared made = prepared_divisor(bits, with_sign ? magnitude(bits, divisor) : divisor);
    put(made.low), put(made.high), put(made.first), put(made.second);
    for (int i = 0; i < each; i++) {
      uint64_t dividend = got();
      if (with_sign) {
        put(truncating_signed_by(bits, dividend, divisor, made));
        put(floor_signed_by(bits, dividend, divisor, made));
      } else {
        integer quotient = unsigned_quotient_by(bits, dividend, made);
        put(quotient), put(quotient);
      }
    }
  }
  return 0;
}
"""
# The names of the parts are the theory's: low, high, first, second.
_AS_PARTS = {
    8: lambda prepared: (prepared, 0, 0, 0),
    16: lambda prepared: (prepared[0], 0, prepared[1], prepared[2]),
    32: lambda prepared: (prepared[0], 0, prepared[1], prepared[2]),
    64: lambda prepared: prepared,
}


def every_divisor(name: str) -> Array:
    """Return all numbers of a type but zero, as a column."""
    smallest, largest = limits(name)
    every = np.arange(smallest, largest + 1).astype(name)
    divisors: Array = every[every != 0][:, None]
    return divisors


@cache
def operands(name: str) -> tuple[Array, Array]:
    """Return divisors, a column, and a line of dividends for each; all pairs of 8 bits."""
    smallest, largest = limits(name)
    if largest < 256:
        every = np.arange(smallest, largest + 1).astype(name)
        return every_divisor(name), np.broadcast_to(every, (255, 256)).copy()
    random = np.random.default_rng(7)
    drawn = random.integers(0, largest, 60, name, endpoint=True) >> random.integers(0, largest.bit_length(), 60, name)
    signs = (1, -1) if smallest else (1,)
    divisors = sorted({*edges(name), *(sign * n for n in drawn.tolist() for sign in signs)} - {0})
    # Next to multiples of the divisor, and as many edges as there is room for, both limits among them.
    some = random.choice(np.array(edges(name), object), (len(divisors), DIVIDENDS)).tolist()
    lines = [
        [smallest, largest, *next_to_multiples(divisor, name, 2), *more][:DIVIDENDS]
        for divisor, more in zip(divisors, some, strict=True)
    ]
    return np.array([[divisor] for divisor in divisors], name), np.array(lines, name)


@cache
def exact(name: str, rounding: str) -> Array:
    """Return the quotients by Python's integers."""
    divisors, dividends = operands(name)
    return exact_quotients(dividends, np.broadcast_to(divisors, dividends.shape), rounding)


@cache
def compiled(name: str) -> Any:
    """Return a loop of the kernels' rules over divisors, and over the dividends of each."""
    as_parts: Any = inlined(_AS_PARTS[np.dtype(name).itemsize * 8])

    @numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]  # Numba has no types
    def divide(divisors: Array, dividends: Array, made: Array, truncated: Array, floored: Array) -> None:
        for i in range(divisors.size):
            divisor = divisors[i, 0]
            prepared = prepared_divisor(divisor)
            made[i, 0], made[i, 1], made[i, 2], made[i, 3] = as_parts(prepared)
            for j in range(dividends.shape[1]):
                truncated[i, j] = truncating_quotient_by(dividends[i, j], divisor, prepared)
                floored[i, j] = floor_quotient_by(dividends[i, j], divisor, prepared)

    return divide


def by_kernel(divisors: Array, dividends: Array) -> Results:
    """Return what the compiled rules make of operands."""
    results = np.empty((divisors.size, PARTS), np.uint64), np.empty_like(dividends), np.empty_like(dividends)
    compiled(divisors.dtype.name)(divisors, dividends, *results)
    return results


@pytest.fixture(scope="module")
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the proved programs as Why3 and the compiler make them."""
    request.getfixturevalue("provers_or_skip")
    require_compiler(request)
    folder = tmp_path_factory.mktemp("multiply-high")
    (source,) = extract(folder, [PROVED])
    with source.open("a", encoding="utf-8") as file:
        file.write(_PROGRAM)
    made = folder / "multiply_high"
    # A width that only the contracts speak of is an argument all the same; what nobody else calls has no prototype.
    flags = (*FLAGS, "-Wno-unused", "-Wno-missing-prototypes", *SANITIZER)
    output_of([COMPILER, *flags, str(source), "-o", str(made)])
    return made


def by_program(program: Path, divisors: Array, dividends: Array) -> Results:
    """Return what the extracted programs make of operands."""
    element = divisors.dtype
    unsigned = f"u{element.itemsize}"
    lines = np.concatenate([divisors, dividends], axis=1).view(unsigned).astype(np.uint64)
    numbers = (element.itemsize * 8, int(element.kind == "i"), *dividends.shape)
    told = run([program, *map(str, numbers)], input=lines.tobytes(), text=False)
    assert (told.returncode, told.stderr) == (0, b"")
    made, quotients = np.split(np.frombuffer(told.stdout, np.uint64).reshape(len(divisors), -1), [PARTS], axis=1)
    assert quotients.max(initial=0) <= np.iinfo(unsigned).max  # words of that many bits
    typed = quotients.astype(unsigned).view(element)
    return made, typed[:, ::2], typed[:, 1::2]


@pytest.mark.parametrize("name", INTEGERS)
class TestProgramKernelAndIntegers:
    """What is proved, what runs and what is right agree: on every pair of 8 bits, and on adversarial ones."""

    def test_the_operands_are_what_they_are_for(self, name: str) -> None:
        divisors, dividends = operands(name)
        smallest, largest = limits(name)
        assert divisors.all()
        assert {1, 3, largest, largest - 1} <= set(divisors[:, 0].tolist())
        assert smallest == 0 or {smallest, -1, -3} <= set(divisors[:, 0].tolist())
        assert (dividends == largest).any(axis=1).all()
        assert (dividends == smallest).any(axis=1).all()  # by -1 too
        several = divisors[:, 0] > 2
        rests = dividends[several] % divisors[several]
        assert min((rests == rest).mean() for rest in (0, 1, divisors[several] - 1)) > 1 / 100

    @pytest.mark.parametrize("rounding", ROUNDINGS)
    def test_kernel(self, name: str, rounding: str) -> None:
        _, *quotients = by_kernel(*operands(name))
        np.testing.assert_array_equal(quotients[ROUNDINGS.index(rounding)], exact(name, rounding))

    def test_extracted_program(self, name: str, program: Path) -> None:
        made, *quotients = by_program(program, *operands(name))
        np.testing.assert_array_equal(made, by_kernel(*operands(name))[0])
        for rounding, found in zip(ROUNDINGS, quotients, strict=True):
            np.testing.assert_array_equal(found, exact(name, rounding))


@pytest.mark.parametrize("name", ["int16", "uint16"])
def test_every_divisor_of_16_bits_is_prepared_alike(name: str, program: Path) -> None:
    divisors = every_divisor(name)
    none = np.empty((divisors.size, 0), name)
    np.testing.assert_array_equal(by_program(program, divisors, none)[0], by_kernel(divisors, none)[0])


def test_a_number_of_more_than_128_bits_is_noticed(program: Path) -> None:
    told = run([program])
    assert told.returncode != 0
    assert "signed integer overflow" in told.stderr
