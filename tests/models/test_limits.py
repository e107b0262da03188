"""Limits of runs that only try inputs out."""

from __future__ import annotations

import pytest

from vinculum.models.limits import LimitError, check_bytes, check_time, limited


class TestLimits:
    """They hold inside the block, and nowhere else."""

    def test_time(self) -> None:
        check_time()
        with limited(-1.0, 0), pytest.raises(LimitError):
            check_time()
        with limited(60.0, 0):
            check_time()
        check_time()

    def test_bytes(self) -> None:
        check_bytes(10**18)
        with limited(60.0, 5):
            check_bytes(5)
            with pytest.raises(LimitError, match="6 bytes"):
                check_bytes(6)
            with limited(60.0, 6):
                check_bytes(6)
            with pytest.raises(LimitError):
                check_bytes(6)
        check_bytes(10**18)
