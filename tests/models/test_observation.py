"""Summaries of divisions."""

from __future__ import annotations

import tracemalloc
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from vinculum.models import Division, DivisionRecord, DivisionSummary, summarise
from vinculum.spec.onnx_div import DIV_14


def _record(dividend: Any, divisor: Any, quotient: Any) -> DivisionRecord:
    return DivisionRecord(Division("d", "", DIV_14), dividend, divisor, quotient, 0.5)


class TestCounts:
    """How often the divisor was zero; results that are infinite, NaN or subnormal."""

    @pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, ml_dtypes.float8_e5m2])
    def test_every_class_of_result(self, dtype: Any) -> None:
        limits = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]  # ml_dtypes leaves it untyped
        smallest_normal, tiny = limits.smallest_normal, limits.smallest_subnormal
        quotient = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, smallest_normal, tiny, -tiny]).astype(dtype)
        divisor = np.array([0, -0.0, 0, 1, -1, 1, 1, 1, 1]).astype(dtype)
        assert summarise(_record(quotient, divisor, quotient)) == DivisionSummary(1, 9, 3, 2, 1, 2, 0.5)

    def test_types_without_infinity(self) -> None:
        quotient = np.array([0x7F, 0xFF, 0x7E, 0x07, 0x08, 0x00], np.uint8).view(ml_dtypes.float8_e4m3fn)
        assert summarise(_record(None, quotient, quotient)) == DivisionSummary(1, 6, 1, 0, 2, 1, 0.5)
        for dtype in (np.int8, np.uint64, ml_dtypes.int4, ml_dtypes.uint4):
            divisor = np.array([0, 1, 0, 2]).astype(dtype)
            assert summarise(_record(divisor, divisor, divisor)) == DivisionSummary(1, 4, 2, 0, 0, 0, 0.5)

    def test_a_broadcast_divisor_counts_once_for_each_element_that_it_divides(self) -> None:
        quotient = np.ones((4, 3), np.int32)
        assert summarise(_record(quotient, np.array([0, 1, 0], np.int32), quotient)).zero_divisors == 8
        assert summarise(_record(quotient, np.array(0, np.int32), quotient)).zero_divisors == 12

    def test_empty(self) -> None:
        empty = np.ones((0, 3), np.float32)
        assert summarise(_record(empty, empty, empty)) == DivisionSummary(1, seconds=0.5)
        assert summarise(_record(empty, np.zeros(3, np.float32), empty)).zero_divisors == 0


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_in_pieces(order: Any) -> None:
    """Counting does not double the memory, whatever the arrays' order."""
    quotient = np.zeros((1000, 1000), np.float32, order=order)
    quotient[7, 3] = np.nan
    record = _record(quotient, quotient, quotient)
    tracemalloc.start()
    summary = summarise(record)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (summary.elements, summary.zero_divisors, summary.nan) == (10**6, 10**6 - 1, 1)
    assert peak < quotient.nbytes / 2


def test_sum_every_field() -> None:
    """Summaries of one node's executions add up."""
    total = DivisionSummary(1, 2, 3, 4, 5, 6, 7.0) + DivisionSummary(10, 20, 30, 40, 50, 60, 70.0)
    assert total == DivisionSummary(11, 22, 33, 44, 55, 66, 77.0)
