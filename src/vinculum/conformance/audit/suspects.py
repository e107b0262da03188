"""Divisions that may have crashed a runtime: x/0 and MIN/-1 that our engine finds when it runs the same model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vinculum.errors import DivisionByZeroError, IntegerOverflowError, VinculumError
from vinculum.models.limits import limited
from vinculum.models.model import Model
from vinculum.ops.policies import Overflow, ZeroDivisor

_SECONDS = 60.0
_LARGEST_RESULT = 1 << 30  # Bytes, for operators whose operands determine the size of the result.


def suspects(file: Path, inputs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence for the first division with MIN/-1, and for the first integer division by 0.

    Parameters
    ----------
    file : Path
        The file of the model; if our engine cannot run it, there are no suspects.
    inputs : Mapping of str to array
        The inputs that the runtime had.
    """
    from vinculum.models import load

    try:
        model = load(file)
    except VinculumError:
        return ()
    found = (_first(model, inputs, "zero", "raise"), _first(model, inputs, "raise", "wrap"))
    return tuple(sentence for sentence in found if sentence is not None)


def _first(model: Model, inputs: Mapping[str, Any], zero_divisor: ZeroDivisor, overflow: Overflow) -> str | None:
    try:
        with limited(_SECONDS, _LARGEST_RESULT):
            model.run(inputs, zero_divisor=zero_divisor, overflow=overflow)
    except (DivisionByZeroError, IntegerOverflowError) as error:
        return str(error.args[0])  # Without the advice to take another policy.
    except VinculumError:
        return None  # A model that our engine cannot run reveals nothing.
    return None
