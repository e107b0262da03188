"""Divisions that may have crashed a runtime: x/0 and MIN/-1 that our engine finds when it runs the same model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vinculum.conformance.audit.taps import Layout, Tap
from vinculum.conformance.cases.expectations import without_quotient
from vinculum.conformance.cases.operation import Operation, aligned
from vinculum.errors import DivisionByZeroError, IntegerOverflowError, VinculumError
from vinculum.models.limits import limited
from vinculum.models.model import Model
from vinculum.ops.policies import Overflow, ZeroDivisor
from vinculum.text import quoted, shape_text

_SECONDS = 60.0
_LARGEST_RESULT = 1 << 30  # Bytes, for operators whose operands determine the size of the result.


def suspects(file: Path, inputs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence for the first division with MIN/-1, and for the first integer division by 0.

    - `file`: The file of the model; if our engine cannot run it, there are no suspects.
    - `inputs`: The inputs that the runtime had.
    """
    from vinculum.models import load

    try:
        model = load(file)
    except VinculumError:
        return ()
    found = (_first(model, inputs, "zero", "raise"), _first(model, inputs, "raise", "wrap"))
    return tuple(sentence for sentence in found if sentence is not None)


def shown(taps: Sequence[Tap], inputs: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence with the first and the last pair of MIN/-1 or x/0 of each division whose operands are given."""
    for tap in taps:
        sources = tap.sources[:-1]
        if tap.layout is not Layout.AS_THEY_ARE or not sources or any(source.place is not None for source in sources):
            continue
        operands = tuple(source.value(inputs, ()) for source in sources)
        try:
            a, b = aligned(Operation(tap.division.spec, tap.attributes, operands, (False,) * len(operands)))
        except (AssertionError, VinculumError):  # Shapes that do not fit.
            continue
        without = without_quotient(a, b)
        if without is not None:
            places = np.argwhere(without)
            pairs = (tuple(int(i) for i in place) for place in (places[0], places[-1]))
            words = dict.fromkeys(f"{a[index]} / {b[index]} at {index}" for index in pairs)
            yield f"{quoted(tap.division.name)} divides {' and '.join(words)}, in shape {shape_text(a.shape)}"


def _first(model: Model, inputs: Mapping[str, Any], zero_divisor: ZeroDivisor, overflow: Overflow) -> str | None:
    try:
        with limited(_SECONDS, _LARGEST_RESULT):
            model.run(inputs, zero_divisor=zero_divisor, overflow=overflow)
    except (DivisionByZeroError, IntegerOverflowError) as error:
        return str(error.args[0])  # Without the advice to take another policy.
    except VinculumError:
        return None  # A model that our engine cannot run reveals nothing.
    return None
