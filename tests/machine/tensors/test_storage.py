"""Several threads read headers of files at once."""

from __future__ import annotations

from tests.processes import importing, python, run

HEADERS_BY_THREADS = """
import gc, sys
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
import numpy as np
from vinculum.tensors.storage import read_npy_header

class Cycle:
    def __init__(self):
        self.itself = self
    def __del__(self):  # lets another thread go on in the middle of what collects it
        for _ in range(50):
            pass

def read(_):
    Cycle()
    return read_npy_header(BytesIO(content))

file = BytesIO()
np.save(file, np.ones((4, 3, 5), np.float32))
content = file.getvalue()
gc.set_threshold(10)
sys.setswitchinterval(1e-6)
with ThreadPoolExecutor(2) as executor:
    assert set(executor.map(read, range(2000))) == {((4, 3, 5), False, np.dtype(np.float32))}
"""


def test_threads_read_headers_at_once() -> None:
    """Without a lock, Python 3.11 raises SystemError in 1 of 10."""
    done = run(python(HEADERS_BY_THREADS), env=importing())
    assert done.returncode == 0, done.stderr
