"""Python threads that divide at the same time and share the helper threads."""

from __future__ import annotations

import numpy as np
import pytest

import vinculum
from tests.kernels.many_threads import in_threads
from tests.kernels.test_threads import square
from tests.kernels.witness import DTYPES as OF_EVERY_OPERATOR
from tests.kernels.witness import arithmetic, check, pairs
from vinculum.kernels.contract import Backend

pytestmark = pytest.mark.usefixtures("twelve_threads")


class TestManyCallers:
    """The divisions of several threads do not disturb each other."""

    @pytest.mark.parametrize("name", ["int16", "uint64"])
    def test_errors_are_about_the_own_elements(self, name: str) -> None:
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
        """In each thread, the type and the shape change from call to call."""
        division = backend.division(arithmetic())

        def divide(seed: int) -> None:
            for turn in range(12):
                known = pairs(list(OF_EVERY_OPERATOR)[(seed * 5 + turn) % len(OF_EVERY_OPERATOR)])
                shape = [(16,), (300, 400), (3, 1)][turn % 3]
                i, j = known.drawn(shape, seed), known.drawn(shape, seed + 1)
                check(division, known.values[i], known.values[j], known.quotients[i, j])

        in_threads(divide, range(8))
