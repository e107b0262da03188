"""The kernels, as CuPy would be given them, are compiled for the processor and give what CPU memory gives."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.cases import case
from tests.device_arrays import cpu_cupy
from tests.device_arrays.test_backend import cupy, same
from tests.kernels.witness import DTYPES, ONE_BYTE, crossed, random_encodings, values
from tests.machine.device_arrays.compiled import COMPILER, CompiledKernel
from vinculum import divide
from vinculum.ops.policies import OVERFLOW_POLICIES, ZERO_DIVISOR_POLICIES

__all__ = ["cupy"]

pytestmark = pytest.mark.skipif(COMPILER is None, reason="optional here, and needed: a C++ compiler")

NAMES = [name for name in DTYPES if not name.endswith("int4")]
INTEGERS = [name for name in NAMES if "int" in name]
FLOATS = [name for name in NAMES if "float" in name]


@pytest.fixture(autouse=True)
def compiled(cupy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels be what the compiler makes of them."""
    monkeypatch.setattr(cpu_cupy, "ElementwiseKernel", CompiledKernel)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_by_every_rounding_and_policy(name: str) -> None:
    """Edges of the type and what lies beside them, each by each, and by each that is not zero."""
    some = values(name)
    for floor, zero_divisor, overflow in product((False, True), ZERO_DIVISOR_POLICIES, OVERFLOW_POLICIES):
        given: dict[str, Any] = {"m_pythondiv": floor, "zero_divisor": zero_divisor, "overflow": overflow}
        for divisors in (some, some[some != 0]):
            with case(given):
                same(divide, some[:, None], divisors, **given)


@pytest.mark.parametrize("name", FLOATS)
def test_floats(name: str) -> None:
    """Edges of the type, and random encodings, rounded once, with one NaN."""
    same(divide, *crossed(values(name)))
    same(divide, random_encodings(name, 200_000, 1)[None], random_encodings(name, 200_000, 2)[None])


@pytest.mark.parametrize("name", [name for name in ONE_BYTE if name in NAMES])
def test_all_pairs_of_8_bits(name: str) -> None:
    every = np.arange(256, dtype=np.uint8).view(DTYPES[name])
    for floor in (False, True):
        policies: Any = {"zero_divisor": "saturate", "overflow": "saturate"} if name in INTEGERS else {}
        same(divide, every[:, None], every, m_pythondiv=floor, **policies)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_every_dividend_of_16_bits(name: str) -> None:
    """By one, all encodings are widened and narrowed; by powers of two, subnormal halves are rounded."""
    every = np.arange(1 << 16, dtype=np.uint16).view(DTYPES[name])
    smallest = np.array(1, np.uint16).view(DTYPES[name])
    for divisor in (1, 2, -32, 3, -0.01, 500, smallest):
        same(divide, every[None], np.array(divisor).astype(DTYPES[name]).reshape(1))
