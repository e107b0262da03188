"""Operands on a real CUDA device, through each library that is installed: the bits that CPU memory gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from tests.kernels.comparing import assert_same
from tests.kernels.witness import DTYPES, random_encodings, values
from vinculum import DivisionByZeroError, IntegerOverflowError, div, divide

NARROW = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
ON_DEVICE = [name for name in DTYPES if not name.endswith("int4")]
PAIRS = 10**8  # of each element type, in `make exhaustive`


@cache
def has_device() -> bool:
    """Whether CuPy is installed and finds a CUDA device."""
    if find_spec("cupy") is None:
        return False
    import cupy

    return bool(cupy.cuda.is_available())


pytestmark = pytest.mark.skipif(not has_device(), reason="optional here, and needed: a CUDA device, and CuPy")


def by_cupy(array: npt.NDArray[Any]) -> Any:
    """Move an array to the device."""
    import cupy

    return cupy.asarray(array)


def by_torch(array: npt.NDArray[Any]) -> Any:
    """Move an array to the device."""
    import torch

    if not torch.cuda.is_available():
        pytest.skip("optional here, and needed: PyTorch for CUDA")
    name = array.dtype.name
    if name in NARROW:
        return torch.from_numpy(array.view(NARROW[name])).cuda().view(getattr(torch, name))
    return torch.from_numpy(array).cuda()


def by_jax(array: npt.NDArray[Any]) -> Any:
    """Move an array to the device."""
    import jax

    if jax.default_backend() != "gpu":
        pytest.skip("optional here, and needed: JAX for CUDA")
    if array.dtype.itemsize == 8:
        pytest.skip("JAX has no types of 64 bits unless it is told so before it starts")
    return jax.device_put(array)


def moved_back(result: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return what a library holds on the device as an array."""
    if hasattr(result, "get"):
        return np.asarray(result.get())
    if hasattr(result, "cpu"):
        import torch

        bits = result.view(getattr(torch, NARROW[dtype.name])) if dtype.name in NARROW else result
        return np.asarray(bits.cpu().numpy()).view(dtype)
    return np.asarray(result)


@pytest.mark.parametrize("moved", [by_cupy, by_torch, by_jax])
@pytest.mark.parametrize("name", ON_DEVICE)
def test_every_element_type(name: str, moved: Callable[[npt.NDArray[Any]], Any]) -> None:
    if moved is by_cupy and name in NARROW:
        pytest.skip(f"CuPy has no {name}")
    a, b = (np.array(x) for x in np.broadcast_arrays(values(name)[:, None], values(name)))
    policies: dict[str, Any] = {"zero_divisor": "saturate", "overflow": "saturate"} if "int" in name else {}
    dividend = moved(a)
    result: Any = divide(dividend, moved(b), **policies)
    assert type(result) is type(dividend)
    assert_same(moved_back(result, DTYPES[name]), divide(a, b, **policies))


@pytest.mark.parametrize("name", ["int8", "int32", "int64"])
def test_policies(name: str) -> None:
    a, b = np.array([[5, 7], [-1, 0]], name), np.array([[1, 0], [1, 0]], name)
    with pytest.raises(DivisionByZeroError) as zero:
        div(by_cupy(a.T), by_cupy(b.T))
    assert (zero.value.count, zero.value.first_index) == (2, (1, 0))
    a[1, 0] = np.iinfo(name).min
    with pytest.raises(IntegerOverflowError) as overflow:
        div(by_cupy(a), by_cupy(np.array(-1, name)), overflow="raise")
    assert (overflow.value.count, overflow.value.first_index) == (1, (1, 0))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ON_DEVICE)
def test_adversarial_pairs(name: str) -> None:
    """Random encodings, and multiples of the divisor with their neighbours."""
    dtype, part = DTYPES[name], 10**7
    policies: dict[str, Any] = {"zero_divisor": "zero"} if "int" in name else {}
    for seed in range(PAIRS // part):
        a, b = random_encodings(name, part, 2 * seed), random_encodings(name, part, 2 * seed + 1)
        if "int" in name:
            with np.errstate(over="ignore"):
                b = b >> np.asarray(np.arange(part) % (8 * dtype.itemsize), dtype)
                a[::2] = (a[::2] * b[::2]) + np.asarray(np.arange(part // 2) % 3, dtype) - dtype.type(1)
        stored = NARROW.get(name)
        if stored is None:
            result = divide(by_cupy(a), by_cupy(b), **policies).get()
        else:
            result = moved_back(divide(by_torch(a), by_torch(b)), np.dtype(getattr(ml_dtypes, name)))
        assert_same(result, divide(a, b, **policies))
