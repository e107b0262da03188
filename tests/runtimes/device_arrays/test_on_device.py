"""Operands on a real CUDA device, in arrays of each library, give the bits that CPU memory gives; for ``make gpu``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.device_arrays.test_backend import outcome
from tests.kernels.comparing import assert_same
from tests.kernels.witness import DTYPES, crossed, random_encodings, values
from tests.optional import package_or_skip, skip_or_fail
from vinculum import DivisionByZeroError, IntegerOverflowError, VinculumError
from vinculum import div as typed_div
from vinculum import divide as typed_divide
from vinculum.ops.policies import OVERFLOW_POLICIES, ZERO_DIVISOR_POLICIES

div: Any = typed_div  # typed as for NumPy arrays
divide: Any = typed_divide
NARROW = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
ON_DEVICE = [name for name in DTYPES if not name.endswith("int4")]
INTEGERS = [name for name in ON_DEVICE if "int" in name]
PAIRS = 10**8  # of each element type, with -m exhaustive


@cache
def has_device() -> bool:
    """Whether CuPy is installed and finds a CUDA device."""
    if find_spec("cupy") is None:
        return False
    import cupy

    return bool(cupy.cuda.is_available())


@pytest.fixture(autouse=True)
def device(request: pytest.FixtureRequest) -> None:
    """Skip a test without a device or a library, or fail it under ``--require-all``."""
    if not has_device():
        skip_or_fail(request, "a CUDA device, and CuPy")
    for library in ("torch", "jax"):
        package_or_skip(request, library)


def by_cupy(array: npt.NDArray[Any]) -> Any:
    """Move an array to the device."""
    import cupy

    return cupy.asarray(array)


def by_torch(array: npt.NDArray[Any]) -> Any:
    """Move an array to the device."""
    import torch

    assert torch.cuda.is_available()
    name = array.dtype.name
    if name in NARROW:
        return torch.from_numpy(array.view(NARROW[name])).cuda().view(getattr(torch, name))
    return torch.from_numpy(array).cuda()


def by_jax(array: npt.NDArray[Any]) -> Any:
    """Move an array to the device."""
    import jax

    assert jax.default_backend() == "gpu"
    return jax.device_put(array)


def moved_back(result: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return an array on the device as one of NumPy."""
    if hasattr(result, "get"):
        return np.asarray(result.get())
    if hasattr(result, "cpu"):
        import torch

        bits = result.view(getattr(torch, NARROW[dtype.name])) if dtype.name in NARROW else result
        return np.asarray(bits.cpu().numpy()).view(dtype)
    return np.asarray(result)


def by_some(array: npt.NDArray[Any]) -> Any:
    """Move an array to the device by CuPy, or by PyTorch if CuPy lacks its type."""
    return by_torch(array) if array.dtype.name in NARROW else by_cupy(array)


@pytest.mark.parametrize("name", INTEGERS)
class TestPolicies:
    """MIN/-1 and x/0 give what each policy says, or the count and the first index."""

    @pytest.mark.parametrize(("zero_divisor", "overflow"), [*product(ZERO_DIVISOR_POLICIES, OVERFLOW_POLICIES)])
    @pytest.mark.parametrize("floor", [False, True])
    def test_every_policy(self, name: str, floor: bool, zero_divisor: str, overflow: str) -> None:
        a, b = crossed(values(name))
        policies = {"m_pythondiv": floor, "zero_divisor": zero_divisor, "overflow": overflow}
        for divisor in (b, np.where(b == 0, b.dtype.type(3), b)):
            expected, got = (outcome(divide, moved(a), moved(divisor), **policies) for moved in (np.asarray, by_cupy))
            if isinstance(expected, VinculumError):
                assert (type(got), str(got)) == (type(expected), str(expected))
            else:
                assert_same(moved_back(got, a.dtype), expected)

    def test_first_index_of_strides(self, name: str) -> None:
        a, b = np.array([[5, 7], [1, 0]], name), np.array([[1, 0], [1, 0]], name)
        with pytest.raises(DivisionByZeroError) as zero:
            div(by_cupy(a).T, by_cupy(b).T)
        assert (zero.value.count, zero.value.first_index) == (2, (1, 0))
        if name.startswith("int"):
            a[1, 0] = np.iinfo(name).min
            with pytest.raises(IntegerOverflowError) as overflow:
                div(by_cupy(a), by_cupy(np.array(-1, name)), overflow="raise")
            assert (overflow.value.count, overflow.value.first_index) == (1, (1, 0))


class TestStreams:
    """On a side stream of PyTorch, `out` is complete when it is read, and operands live until they are divided."""

    SIZE, ROUNDS = 1 << 26, 20

    def test_out(self) -> None:
        import torch

        a, out = torch.arange(self.SIZE, device="cuda"), torch.zeros(self.SIZE, dtype=torch.int64, device="cuda")
        torch.cuda.synchronize()
        with torch.cuda.stream(torch.cuda.Stream()):
            for divisor in range(2, 2 + self.ROUNDS):
                div(a, np.int64(divisor), out=out, zero_divisor="zero")
                wrong = torch.count_nonzero(out - torch.div(a, divisor, rounding_mode="trunc"))
                out.zero_()
                assert int(wrong) == 0

    def test_freed_operands(self) -> None:
        import torch

        with torch.cuda.stream(torch.cuda.Stream()):
            for number in range(1, 1 + self.ROUNDS):
                a, b = (torch.full((self.SIZE,), n, device="cuda") for n in (6 * number, 3))
                quotients = div(a, b, zero_divisor="zero")
                del a, b
                torch.full((2 * self.SIZE,), 99, device="cuda")  # reuses the memory of the operands if it can
                assert int(torch.count_nonzero(quotients - 2 * number)) == 0


@pytest.mark.parametrize("name", ON_DEVICE)
class TestLayouts:
    """Operands and `out` with strides, reversed, transposed, and broadcast."""

    def test_strides(self, name: str) -> None:
        a, b = crossed(values(name))
        policies = {"zero_divisor": "saturate"} if "int" in name else {}
        for x, y in ((a.T, b.T), (a[::2, ::3], b[::2, ::3]), (a[1:], b[:1]), (a[:, :1], b[0]), (a[0, 1], b)):
            expected = divide(x, y, **policies)
            assert_same(moved_back(divide(by_some(np.array(x)), by_some(np.array(y)), **policies), x.dtype), expected)
        x, y = by_some(a), by_some(b)
        assert_same(moved_back(divide(x.T, y.T, **policies), a.dtype), divide(a.T, b.T, **policies))
        assert_same(moved_back(divide(x[::2, 3:], y[::2, 3:], **policies), a.dtype), divide(a, b, **policies)[::2, 3:])
        out = by_some(np.array(a))
        divide(x[::2], y[::2], out=out[::2], **policies)
        wanted = np.array(a)
        wanted[::2] = divide(a, b, **policies)[::2]
        assert_same(moved_back(out, a.dtype), wanted)


def test_more_elements_than_32_bits_count() -> None:
    import cupy

    rows, row = (1 << 31) // 251 + 2, np.arange(251, dtype=np.int8) - np.int8(125)
    a = cupy.tile(cupy.asarray(row), rows)
    assert a.size > 1 << 31
    quotients = div(a, np.int8(3)).reshape(rows, 251)
    assert int(cupy.count_nonzero(quotients != cupy.asarray(div(row, np.int8(3))))) == 0
    b = cupy.ones(a.size, np.int8)
    b[-2:] = 0
    with pytest.raises(DivisionByZeroError) as raised:
        div(a, b)
    assert (raised.value.count, raised.value.first_index) == (2, (a.size - 2,))


@pytest.mark.parametrize(
    ("moved", "name"),
    [
        *((by_torch, name) for name in [*NARROW, *(name for name in ON_DEVICE if name not in NARROW)]),
        *((by_cupy, name) for name in ON_DEVICE if name not in NARROW),
        *((by_jax, name) for name in ON_DEVICE if DTYPES[name].itemsize < 8),  # 64 bits only with an option
    ],
)
def test_every_element_type(name: str, moved: Callable[[npt.NDArray[Any]], Any]) -> None:
    """The quotients are the library's own, of the operands' type."""
    a, b = crossed(values(name))
    policies = {"zero_divisor": "saturate", "overflow": "saturate"} if "int" in name else {}
    dividend = moved(a)
    result = divide(dividend, moved(b), **policies)
    assert type(result) is type(dividend)
    assert result.dtype == dividend.dtype
    assert_same(moved_back(result, DTYPES[name]), divide(a, b, **policies))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ON_DEVICE)
def test_adversarial_pairs(name: str) -> None:
    """Random encodings, and multiples of the divisor with their neighbours."""
    dtype, part = DTYPES[name], 10**7
    policies = {"zero_divisor": "zero"} if "int" in name else {}
    for seed in range(PAIRS // part):
        a, b = random_encodings(name, part, 2 * seed), random_encodings(name, part, 2 * seed + 1)
        if "int" in name:
            with np.errstate(over="ignore"):
                b = b >> np.asarray(np.arange(part) % (8 * dtype.itemsize), dtype)
                a[::2] = (a[::2] * b[::2]) + np.asarray(np.arange(part // 2) % 3, dtype) - dtype.type(1)
        assert_same(moved_back(divide(by_some(a), by_some(b), **policies), dtype), divide(a, b, **policies))
