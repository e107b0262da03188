"""Threads of Python's that divide at the same time, on threads that help all of them."""

from __future__ import annotations

import numpy as np
import pytest

import vinculum
from tests.kernels.comparing import DTYPES, assert_same, exact_quotients
from tests.kernels.many_threads import in_threads
from tests.kernels.test_threads import square
from tests.kernels.witness import DTYPES as OF_EVERY_OPERATOR
from tests.kernels.witness import arithmetic, check, pairs
from vinculum.kernels.contract import Backend

pytestmark = pytest.mark.usefixtures("twelve_threads")


class TestManyCallers:
    """Threads of Python's that divide at the same time do not meet in one job."""

    def test_one_operator_of_all(self) -> None:
        """Its type changes from call to call, in each thread at its own pace; the quotients are few, and many."""
        operator = vinculum.Operator("Div")
        pairs = {
            (name, size): (np.arange(1, size + 1).astype(DTYPES[name]) % 100, np.full(size, 3).astype(DTYPES[name]))
            for name in DTYPES
            for size in (16, 30_000)
        }
        expected = {name: exact_quotients(*pair) for name, pair in pairs.items()}
        names = list(pairs)

        def divide(shift: int) -> None:
            for turn in range(400):
                name = names[(turn * (shift + 1) + shift) % len(names)]
                assert_same(operator(*pairs[name]), expected[name])

        in_threads(divide, range(8))

    @pytest.mark.parametrize("name", ["int16", "uint64"])
    def test_each_is_told_of_its_own_elements(self, name: str) -> None:
        a = square(name, 0)

        def find(row: int) -> None:
            b = np.ones_like(a)
            b[row, row + 1 :] = 0
            for _ in range(5):
                with pytest.raises(vinculum.DivisionByZeroError) as caught:
                    vinculum.div(a, b)
                assert caught.value.first_index == (row, row + 1)
                assert caught.value.count == a.shape[1] - row - 1

        in_threads(find, range(0, 240, 30))

    def test_on_every_backend(self, backend: Backend) -> None:
        """The type and the shape change from call to call, in each thread at its own pace."""
        division = backend.division(arithmetic())

        def divide(seed: int) -> None:
            for turn in range(12):
                known = pairs(list(OF_EVERY_OPERATOR)[(seed * 5 + turn) % len(OF_EVERY_OPERATOR)])
                shape = [(16,), (300, 400), (3, 1)][turn % 3]
                i, j = known.drawn(shape, seed), known.drawn(shape, seed + 1)
                check(division, known.values[i], known.values[j], known.quotients[i, j])

        in_threads(divide, range(8))
