"""Kernels run in many Python threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import vinculum
from tests.kernels.comparing import DTYPES
from tests.kernels.samples import digest, quotients

THREADS = 8


class TestThreads:
    """Threads share no state: quotients, counts and first indices are each thread's own."""

    def test_quotients(self) -> None:
        expected = {name: digest(quotients(name)) for name in DTYPES}

        def divided(shift: int) -> dict[str, str]:
            names = list(DTYPES)[shift:] + list(DTYPES)[:shift]
            return {name: digest(quotients(name)) for _ in range(3) for name in names}

        with ThreadPoolExecutor(THREADS) as threads:
            assert all(result == expected for result in threads.map(divided, range(THREADS)))

    def test_errors(self) -> None:
        ones = np.ones(200_000, np.int64)

        def first_index_and_count(position: int) -> list[tuple[tuple[int, ...], int]]:
            divisors = ones.copy()
            divisors[position:] = 0
            found = []
            for _ in range(20):
                with pytest.raises(vinculum.DivisionByZeroError) as caught:
                    vinculum.div(ones, divisors)
                found.append((caught.value.first_index, caught.value.count))
            return found

        positions = range(1000, 200_000, 20_000)
        with ThreadPoolExecutor(THREADS) as threads:
            for position, found in zip(positions, threads.map(first_index_and_count, positions), strict=True):
                assert found == [((position,), 200_000 - position)] * 20
