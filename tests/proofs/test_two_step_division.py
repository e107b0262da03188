"""The kernels for 64-bit integers are transcriptions of the proved programs: same constant, same bits."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pytest

from proofs.checking.extraction import COMPILER, FLAGS, PROOFS, CFile, extract
from tests.processes import output_of
from tests.proofs.sonnx_c_library import require_compiler
from tests.proofs.two_step_pairs import COUNT, adversarial_pairs, edges, exact_quotients
from vinculum.kernels import two_step_quotient
from vinculum.kernels.jit import inlined

Array = npt.NDArray[Any]
Quotients = Callable[[Array, Array], Array]

KERNELS = ("quotient_u64", "truncating_i64", "floor_i64")
PROVED = CFile(
    "two_step.c",
    (
        "two_step_programs.Unsigned",
        "two_step_bits.SignBits",
        "two_step_bits.Magnitude",
        "two_step_signed.Signed",
        "two_step_kernels.Quotients",
    ),
    "two_step.drv",
)
_LOOP = """
void all_{name}(int64_t n, const {type} *a, const {type} *b, {type} *c) {{
  for (int64_t i = 0; i < n; i++) c[i] = {name}(a[i], b[i]);
}}
"""


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("theories/two_step_estimates.mlw", r"constant reduced_one : real = (\S+)"),
        ("theories/two_step_programs.mlw", r"\((0x\S+): Float64\.t\)"),
        ("c/two_step.drv", r'syntax val numerator "(\S+)"'),
        ("gappa/two_step.gappa", r"reduced_one = (\S+);"),
    ],
)
def test_the_numerator_is_the_kernels(file: str, pattern: str) -> None:
    found = re.findall(pattern, (PROOFS / file).read_text(encoding="utf-8"))
    assert [float.fromhex(literal) for literal in found] == [two_step_quotient._REDUCED_ONE]


@pytest.fixture(scope="module")
def words() -> tuple[Array, Array]:
    """Return dividends and divisors, no divisor zero."""
    return adversarial_pairs(1)


def test_the_pairs_are_what_they_are_for(words: tuple[Array, Array]) -> None:
    a, b = words
    assert a.size == b.size == COUNT
    assert b.all()
    assert {1, 2**53 + 1, 2**63, 2**64 - 1} <= set(edges().tolist())
    assert ((a == 2**63) & (b == 2**64 - 1)).any()  # MIN/-1
    multiples = (a % b == 0) & (b > 1) & (a > b)
    below = ((a + np.uint64(1)) % b == 0) & (b > 2) & (a > b)
    assert min(multiples.sum(), below.sum()) > COUNT // 20


def typed(name: str, words: Array) -> Array:
    return words if "u64" in name else words.view(np.int64)


@pytest.fixture(scope="module")
def exact(words: tuple[Array, Array]) -> Callable[[str], Array]:
    """Return what gives the exact quotients for a name."""

    @cache
    def quotients(name: str) -> Array:
        return exact_quotients(*(typed(name, side) for side in words), floor="floor" in name)

    return quotients


@pytest.fixture(scope="module")
def extracted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Return the proved programs as Why3 and the compiler make them, each in a loop over arrays."""
    request.getfixturevalue("provers_or_skip")
    require_compiler(request)
    folder = tmp_path_factory.mktemp("two-step")
    (source,) = extract(folder, [PROVED])
    loops = [_LOOP.format(name=name, type="uint64_t" if "u64" in name else "int64_t") for name in KERNELS]
    with source.open("a", encoding="utf-8") as file:
        file.writelines(loops)
    library = folder / "two_step.so"
    # The loops of the test have no prototypes.
    command = [COMPILER, *FLAGS, "-Wno-missing-prototypes", "-fPIC", "-shared", str(source), "-o", str(library)]
    output_of(command)
    return ctypes.CDLL(str(library))


def by_c(library: ctypes.CDLL, name: str) -> Quotients:
    def divide(a: Array, b: Array) -> Array:
        quotients = np.empty_like(a)
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (a, b, quotients))
        getattr(library, f"all_{name}")(ctypes.c_int64(a.size), *pointers)
        return quotients

    return divide


def with_quotient(monkeypatch: pytest.MonkeyPatch, unsigned: Any, name: str) -> Quotients:
    """Return a kernel, compiled anew with that quotient of magnitudes."""
    monkeypatch.setattr(two_step_quotient, "unsigned_quotient", unsigned)
    signed: Any = two_step_quotient._signed_quotient
    monkeypatch.setattr(two_step_quotient, "_signed_quotient", inlined(signed.py_func))
    rule = inlined(getattr(two_step_quotient, name))

    @numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]  # Numba's decorators have no types
    def divide(a: Array, b: Array) -> Array:
        quotients = np.empty_like(a)
        for i in range(a.size):
            quotients[i] = rule(a[i], b[i])
        return quotients

    return divide  # type: ignore[no-any-return]  # for the same reason


class TestProgramKernelAndIntegers:
    """What is proved, what runs and what is right agree on 10^6 adversarial pairs."""

    @pytest.mark.parametrize("name", KERNELS)
    def test_extracted_program(
        self, name: str, words: tuple[Array, Array], exact: Callable[[str], Array], extracted: ctypes.CDLL
    ) -> None:
        a, b = (typed(name, side) for side in words)
        assert np.array_equal(by_c(extracted, name)(a, b), exact(name))

    @pytest.mark.parametrize("name", KERNELS)
    def test_kernel(
        self,
        name: str,
        words: tuple[Array, Array],
        exact: Callable[[str], Array],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """With the two-step quotient, also on processors for which another is chosen."""
        a, b = (typed(name, side) for side in words)
        divide = with_quotient(monkeypatch, two_step_quotient.two_step_quotient, name)
        assert np.array_equal(divide(a, b), exact(name))


@pytest.mark.parametrize(("kernel", "name"), [("quotient_u64", "reciprocal_u64"), ("truncating_i64", "reciprocal_i64")])
def test_reciprocals_have_the_same_bits(
    kernel: str, name: str, extracted: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel is seen to hand the reciprocal over that the proved program makes."""
    divisors = typed(name, np.maximum(np.concatenate([edges(), adversarial_pairs(2)[1][:100_000]]), np.uint64(1)))
    function = getattr(extracted, name)
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_uint64 if "u64" in name else ctypes.c_int64]
    proved = np.array([function(divisor) for divisor in divisors.tolist()])

    @inlined
    def bits(dividend: np.uint64, divisor: np.uint64, reciprocal: np.float64) -> np.uint64:
        return np.float64(reciprocal).view(np.uint64)

    # A number divided by itself: no sign is put on the bits.
    handed_over = with_quotient(monkeypatch, bits, kernel)(divisors, divisors)
    assert np.array_equal(handed_over.view(np.uint64), proved.view(np.uint64))
