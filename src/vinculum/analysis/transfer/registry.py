"""Every operator that the analysis knows, by domain and name, from the tables of the modules beside this one."""

from __future__ import annotations

from collections.abc import Mapping

from vinculum.analysis.transfer.operator import Operator
from vinculum.analysis.transfer.operators import (
    activations,
    arithmetic,
    casts,
    contrib,
    generators,
    indexing,
    linear,
    logic,
    normalisation,
    quantisation,
    reductions,
    sequences,
    shapes,
    windows,
)

_MODULES = (
    *(activations, arithmetic, casts, generators, indexing, linear, logic),
    *(normalisation, quantisation, reductions, sequences, shapes, windows),
)

TABLE: Mapping[tuple[str, str], Operator] = {
    **{("", name): operator for module in _MODULES for name, operator in module.TABLE.items()},
    **{(contrib.MICROSOFT, name): operator for name, operator in contrib.TABLE.items()},
}
"""What is known of operators; of any other only the body by which ONNX defines it is, or the declared type."""

HIDDEN = frozenset(name for (_, name), operator in TABLE.items() if operator.hidden is not None)
"""Operators that divide inside."""
