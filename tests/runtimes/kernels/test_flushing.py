"""PyTorch has switched the processor to flush subnormal numbers: our quotients stay exact, and it stays switched."""

from __future__ import annotations

from types import ModuleType

import pytest

import vinculum
from tests.kernels import test_environment
from tests.kernels.comparing import DTYPES, assert_same, lenient
from tests.kernels.test_environment import Array, in_a_thread_of_its_own, operands

pytestmark = pytest.mark.skipif(*test_environment.pytestmark.args, **test_environment.pytestmark.kwargs)


def test_flushing_subnormals(torch_or_skip: ModuleType) -> None:
    def quotients() -> dict[str, Array]:
        return {name: vinculum.div(*operands(name), **lenient(name)) for name in DTYPES}

    expected = quotients()

    def divided(switch: int) -> dict[str, Array]:
        assert torch_or_skip.set_flush_denormal(bool(switch))
        results = quotients()
        assert torch_or_skip.tensor([1e-38]).div(8).item() == 0  # it is still switched on
        return results

    results = in_a_thread_of_its_own(divided, 1)
    for name in DTYPES:
        assert_same(results[name], expected[name])
