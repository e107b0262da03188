"""Runtimes whose packages are not installed: their options, their reproducers, and how to install them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conformance.asking import message, operation
from vinculum.conformance.runtimes.registry import runtime
from vinculum.errors import AttributeValueError, ModelError
from vinculum.spec.onnx_div import DIV_14


class TestWithoutPackages:
    """What is wrong with options is told without the package."""

    def test_options(self) -> None:
        line = message(AttributeValueError, lambda: runtime("torch[device=tpu]"))
        assert line == "device of torch is 'tpu'; allowed: cpu, cuda"
        line = message(AttributeValueError, lambda: runtime("torch[devise=cpu]"))
        assert line == "torch has no option 'devise'; allowed: device, compile; did you mean 'device'?"

    def test_jax(self) -> None:
        assert message(AttributeValueError, lambda: runtime("jax[platform=tpu]")).endswith("allowed: cpu, gpu")
        assert message(AttributeValueError, lambda: runtime("jax[jit=yes]")).endswith("allowed: false, true")
        assert message(AttributeValueError, lambda: runtime("jax[x64=true]")).startswith("jax has no option 'x64'")

    @pytest.mark.parametrize("name", ["onnxruntime", "openvino", "torch", "jax"])
    def test_not_installed(self, name: str) -> None:
        line = message(ModelError, runtime(name).check)
        assert line.endswith(f"the package {name} is not installed: pip install 'vinculum-div[{name}]'")

    @pytest.mark.parametrize("name", ["torch", "jax"])
    def test_what_needs_no_package(self, name: str) -> None:
        """They are hidden here: to import them would fail."""
        asked = operation(DIV_14, np.ones(1), np.ones(1))
        assert runtime(name).covers(asked)
        assert runtime(name).versions()
        assert "import" in runtime(name).reproducer(asked)
