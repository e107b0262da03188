"""NumPy files, one for every operand and quotient; types that NumPy lacks are stored as unsigned integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.case import Case
from vinculum.conformance.vectors.lines import name_of
from vinculum.errors import ModelError
from vinculum.text import one_line

FOLDER = "arrays"


def write_arrays(case: Case, folder: Path) -> None:
    """Write the tensors of a case: ``arrays/NAME/operand_0.npy`` and so on, and ``quotient.npy`` if there is one."""
    own = folder / FOLDER / name_of(case)
    own.mkdir(parents=True)
    for number, array in enumerate(case.operation.operands):
        np.save(own / f"operand_{number}.npy", _storable(array), allow_pickle=False)
    if case.expectation.quotient is not None:
        np.save(own / "quotient.npy", _storable(case.expectation.quotient), allow_pickle=False)


def read_array(path: Path, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the array of a file; for an expected type that NumPy lacks, unsigned integers are read as its encodings.

    Raises
    ------
    ModelError
        If it is not an ``.npy`` file.
    """
    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ModelError(f"{str(path)!r} is not an .npy file: {one_line(error)}") from None
    if dtype.isbuiltin != 1 and array.dtype.newbyteorder("=") == _unsigned(dtype):
        array = np.ascontiguousarray(array.astype(_unsigned(dtype))).reshape(array.shape).view(dtype)
    return array


def _storable(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.isbuiltin == 1:
        return array
    bits = np.ascontiguousarray(array).reshape(array.shape).view(_unsigned(array.dtype))
    # The upper half of a byte carries no information in 4-bit types.
    return bits & np.uint8(15) if array.dtype.name in ("int4", "uint4") else bits


def _unsigned(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(f"u{dtype.itemsize}")
