"""Dask arrays in several processes, or in one of their own."""

from __future__ import annotations

from typing import Any

from tests.processes import importing, output_of, python

QUICKLY = "import sys; sys.modules['scipy'] = sys.modules['xarray'] = None\n"  # which Dask would import


def test_equal_divisions_have_equal_keys_in_every_process() -> None:
    program = (
        "import dask.array as da, numpy as np, vinculum\n"
        "x = da.from_array(np.arange(1, 40, dtype='i4'), chunks=7); name = vinculum.div(x, x.rechunk(5)).name"
    )
    here: dict[str, Any] = {}
    exec(program, here)
    assert output_of(python(f"{QUICKLY}{program}; print(name)")) == f"{here['name']}\n"


def test_query_planning() -> None:
    program = (
        "import dask; dask.config.set({'array.query-planning': True}); import dask.array as da, vinculum\n"
        "try: vinculum.div(da.ones(3), da.ones(3))\nexcept vinculum.ElementTypeError as error: print(error)"
    )
    said = output_of(python(QUICKLY + program))
    assert said.startswith("A is a Dask array with query planning, which is experimental")


def test_a_chain_in_three_processes() -> None:
    """Quotients, and the error of a division that fails, are passed between processes."""
    program = """
import dask.array as da, numpy as np, vinculum

def divided(a, b):
    quotient = vinculum.div(vinculum.div(a, b, overflow="raise"), b) + 100
    return vinculum.div(quotient, vinculum.div(a + 1000, quotient) + b[:1])

if __name__ == "__main__":
    a = np.random.default_rng(0).integers(-99, 99, (300, 400)).astype("i4")
    b = np.random.default_rng(1).integers(1, 9, (300, 400)).astype("i4")
    wrong = b.copy()
    wrong[299, 0] = wrong[99, 399] = wrong[100, 0] = 0
    x, y, z = (da.from_array(array, chunks=chunks) for array, chunks in ((a, 100), (b, (60, 200)), (wrong, 120)))
    got = divided(x, y).compute(scheduler="processes", num_workers=3)
    assert (got.dtype, got.tobytes()) == (a.dtype, divided(a, b).tobytes())
    try:
        divided(x, z).compute(scheduler="processes", num_workers=3)
    except vinculum.DivisionByZeroError as error:
        print(error.count, error.first_index, error, sep="; ")
"""
    said = output_of(python(QUICKLY + program), env=importing())
    assert said.startswith("3; (99, 399); 3 of 120000 divisors of Div-14 are zero, the first at index (99, 399)")
