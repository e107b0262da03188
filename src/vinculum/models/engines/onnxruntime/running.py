"""Runs of sessions of ONNX Runtime. Child processes import this module too, so it imports little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from vinculum.models.engines.onnxruntime.session import NUMBERS, TENSORS


def run(session: Any, names: Sequence[str], inputs: Mapping[str, Any]) -> list[Any]:
    """Return outputs of a session as Python values that share no memory with the inputs."""
    if gives_numbers(session) and all(map(is_of_numbers, inputs.values())):
        return list(session.run(list(names), dict(inputs)))
    # It imports the onnx package, which takes longer than most models.
    from vinculum.models.engines.onnxruntime.values import run_values

    return deepcopy(run_values(session, names, inputs))


def gives_numbers(session: Any) -> bool:
    """Return whether a session's outputs are all of NumPy's own types, so that its `run` gives them."""
    return {output.type for output in session.get_outputs()} <= TENSORS


def is_of_numbers(value: Any) -> bool:
    """Return whether a session's `run` takes an input as it is: an array of one of NumPy's own types."""
    return isinstance(value, np.ndarray) and value.dtype.name in NUMBERS
