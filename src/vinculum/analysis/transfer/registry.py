"""Every transfer function by domain and name, from the tables of the modules beside this one."""

from __future__ import annotations

from collections.abc import Mapping

from vinculum.analysis.transfer import arithmetic
from vinculum.analysis.transfer.call import Transfer

TABLE: Mapping[tuple[str, str], Transfer] = {
    ("", name): transfer for module in (arithmetic,) for name, transfer in module.TABLE.items()
}
"""What is known of operators; of any other only the declared type is."""

BODY_TOO = frozenset({"LayerNormalization"})
"""Operators with a transfer function that divide in the body by which ONNX defines them: both say something."""

COMMUTATIVE = frozenset({"Add", "Mul", "Max", "Min", "Sum", "Mean", "And", "Or", "Xor", "Equal"})

IMPURE = frozenset(
    ("", name)
    for name in (
        *("Bernoulli", "Dropout", "Multinomial"),
        *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
    )
)
"""Operators that give other values for the same operands."""
