"""The portable backend's memory, and its behaviour where it cannot switch the floating-point environment."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tests.kernels import test_environment
from tests.kernels.comparing import assert_same
from tests.kernels.layouts import byte_swapped
from tests.kernels.test_environment import SETTINGS, in_a_thread_of_its_own, switched_to
from tests.kernels.witness import DTYPES, FLOATS, INTEGERS, arithmetic, pairs
from vinculum.kernels import float_environment
from vinculum.kernels.portable import Portable


@pytest.mark.parametrize("name", ["int4", "float16", "bfloat16", "int32", "float64"])
def test_repeated_operands_are_not_expanded_in_memory(name: str) -> None:
    known, division = pairs(name), Portable().division(arithmetic())
    column, row = known.values[known.drawn((1000, 1), 1)], known.values[known.drawn((1, 1000), 2)]
    out = np.empty((1000, 1000), DTYPES[name])
    for a, b in ((column, row), (byte_swapped(column), row), (np.broadcast_to(row, out.shape), column)):
        tracemalloc.start()
        try:
            assert division(a, b, out) is out
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 600_000


class TestProcessorsThatCannotBeSwitched:
    """Where the environment cannot be switched, floats are divided only in the default one."""

    @pytest.fixture(autouse=True)
    def without_functions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(float_environment, "_FUNCTIONS", None)

    @pytest.mark.parametrize("name", DTYPES)
    def test_the_default_environment(self, name: str) -> None:
        known = pairs(name)
        result = Portable().division(arithmetic())(known.values[:, None], known.values, None)
        assert isinstance(result, np.ndarray)
        assert_same(result, known.quotients)

    @pytest.mark.skipif(*test_environment.pytestmark.args, **test_environment.pytestmark.kwargs)
    @pytest.mark.parametrize("setting", SETTINGS)
    def test_any_other(self, setting: str) -> None:
        division = Portable().division(arithmetic())

        def divide(control: int) -> None:
            with switched_to(control):
                for name in FLOATS:
                    with pytest.raises(FloatingPointError, match="set_flush_denormal"):
                        division(np.ones(3, DTYPES[name]), np.ones(3, DTYPES[name]), None)
                for name in INTEGERS:
                    result = division(np.ones(3, DTYPES[name]), np.ones(3, DTYPES[name]), None)
                    assert isinstance(result, np.ndarray)

        in_a_thread_of_its_own(divide, SETTINGS[setting])
