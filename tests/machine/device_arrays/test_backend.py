"""The kernels, as CuPy would be given them, are compiled and give what CPU memory gives."""

from __future__ import annotations

from typing import Any

import pytest

from tests.device_arrays import cpu_cupy
from tests.device_arrays.test_backend import cupy, same
from tests.kernels.witness import DTYPES, values
from tests.machine.device_arrays.compiled import COMPILER, CompiledKernel
from vinculum import divide

__all__ = ["cupy"]

pytestmark = pytest.mark.skipif(COMPILER is None, reason="optional here, and needed: a C++ compiler")


@pytest.mark.parametrize("name", [name for name in DTYPES if not name.endswith("int4")])
def test_every_element_type(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_cupy, "ElementwiseKernel", CompiledKernel)
    a, b = values(name)[:, None], values(name)
    for policies in ({"zero_divisor": "saturate", "overflow": "saturate"}, {"zero_divisor": "raise"}):
        given: Any = policies if "int" in name else {}
        same(divide, a, b, **given)
        same(divide, a[1:, 0], b[:-1], **given)
