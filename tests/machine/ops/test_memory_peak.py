"""A division allocates no memory but the result's, as measured by the system."""

from __future__ import annotations

import pytest

from tests.optional import needs_core
from tests.processes import importing, output_of, python

pytestmark = needs_core()

# The system measures the peak, which includes memory that NumPy does not allocate.
PROGRAM = """
import pathlib, sys
import numpy as np
import vinculum
from tests.kernels.many_threads import allowed

allowed(4).__enter__()
SIDE = 4000
b = np.ones((SIDE, SIDE), np.float32)
a, out = b.copy(), np.ones_like(b)
ways = {
    "contiguous": (a, b, out),
    "broadcast": (a, b[:1], out),
    "columns": (a, b[:, :1], out),
    "strided": (a[:, ::2], b[:, ::2], out[:, ::2]),
    "transposed": (a.T, b, out),
    "reversed": (a[::-1, ::-1], b, out),
    "in place": (a, b, a),
}

def held(name):
    (line,) = (l for l in pathlib.Path("/proc/self/status").read_text().splitlines() if l.startswith(name))
    return int(line.split()[1]) * 1024

for name, (x, y, z) in ways.items():
    vinculum.div(x, y, out=z)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = held("VmRSS")
    vinculum.div(x, y, out=z)
    print(name, held("VmHWM") - before, a.nbytes, sep=",")
"""


def test_peak_of_resident_memory() -> None:
    """The peak of resident memory grows by less than an eighth of an operand."""
    try:
        with open("/proc/self/clear_refs", "w") as file:  # noqa: PTH123 - it is not a regular file
            file.write("5")
    except OSError:
        pytest.skip("only Linux tells the peak of a part of a process's life")
    for line in output_of(python(PROGRAM), env=importing()).splitlines():
        name, grown, size = line.split(",")
        assert int(grown) < int(size) // 8, name
