"""IR files, and pairs of operands that go wrong easily."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.models.ir_writer import OpenvinoWriter
from vinculum.models.sampling.edge_values import edge_values
from vinculum.spec.element_types import ELEMENT_TYPES, REAL, ElementType
from vinculum.tensors.storage import dtype_of

DIVIDING = [t for t in ELEMENT_TYPES if t is not REAL]


def write_ir(folder: Path, writer: OpenvinoWriter) -> Path:
    """Write a model; return the path of its XML."""
    path = folder / "model.xml"
    path.write_bytes(writer.xml("m"))
    path.with_suffix(".bin").write_bytes(writer.data())
    return path


def pairs(element_type: ElementType) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return every pair of a type of 8 bits or fewer, every pair of edge values of a wider one."""
    if element_type.bits > 8:
        values = edge_values(element_type)
    elif element_type.binary_format is not None:
        values = np.arange(256, dtype=np.uint8).view(dtype_of(element_type))
    else:
        values = np.arange(element_type.minimum, element_type.maximum + 1).astype(dtype_of(element_type))
    return np.repeat(values, len(values)), np.tile(values, len(values))
