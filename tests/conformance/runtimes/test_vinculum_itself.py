"""Our own engine, asked in all three dialects on the paths of its users."""

from __future__ import annotations

import numpy as np

from tests.conformance.asking import operation
from vinculum.conformance.runtimes.backends import runtime
from vinculum.spec.openvino_divide import DIVIDE_1


class TestVinculum:
    """What every case of the suite asks of it is in tests/conformance/cases/test_enumeration.py."""

    def test_attributes_of_an_ir(self) -> None:
        a, b = np.full((2, 3, 4), -7, np.int32), np.array([1, 2, 3], np.int32)
        for name in ("m_pythondiv", "pythondiv"):
            asked = operation(DIVIDE_1, a, b, auto_broadcast="pdpd", axis=1, **{name: False})
            assert runtime("vinculum").answer(asked)[0, :, 0].tolist() == [-7, -3, -2]
            assert "m_pythondiv=False" in runtime("vinculum").reproducer(asked)

    def test_versions(self) -> None:
        assert list(runtime("vinculum").versions()) == ["vinculum", "numpy", "ml_dtypes", "onnx"]
