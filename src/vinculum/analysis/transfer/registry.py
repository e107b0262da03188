"""Every transfer function by domain and name, from the tables of the modules beside this one."""

from __future__ import annotations

from collections.abc import Mapping

from vinculum.analysis.transfer.call import Transfer
from vinculum.analysis.transfer.operators import (
    activations,
    arithmetic,
    casts,
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
from vinculum.models.onnx.divisions import ALSO_UNIDIRECTIONAL

_MODULES = (
    *(activations, arithmetic, casts, generators, indexing, linear, logic),
    *(normalisation, quantisation, reductions, sequences, shapes, windows),
)

TABLE: Mapping[tuple[str, str], Transfer] = {
    ("", name): transfer for module in _MODULES for name, transfer in module.TABLE.items()
}
"""What is known of operators; of any other only the body by which ONNX defines it is, or the declared type."""

BROADCAST = frozenset({"Div", *ALSO_UNIDIRECTIONAL})
"""Operators that broadcast B onto A alone, as attributes say, before operator set 7."""

COMMUTATIVE = frozenset({"Add", "Mul", "Max", "Min", "Sum", "Mean", "And", "Or", "Xor", "Equal"})

IMPURE = frozenset(
    ("", name)
    for name in (
        *("Bernoulli", "Dropout", "Multinomial"),
        *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
    )
)
"""Operators that give other values for the same operands."""
