"""A load that another process makes is told."""

from __future__ import annotations

import os
import time

from tests.processes import python, started
from vinculum.benchmarking.background_load import BackgroundLoad


def test_a_real_load_is_seen() -> None:
    watch = BackgroundLoad()
    # It is no child that has ended, and so a stranger: whenever it does not run, someone else does.
    with started(python("while True: pass")):
        time.sleep(1.0)
        part = watch.part()
    assert part > 0.2 / (os.cpu_count() or 1)
