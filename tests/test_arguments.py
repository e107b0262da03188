"""Arguments of a wrong type are refused in one line, before any file is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import vinculum
import vinculum.repair
from tests.cases import case
from vinculum.arguments import checked_arguments
from vinculum.errors import AttributeValueError
from vinculum.models.rewritten import Inputs


@checked_arguments
def declared(
    model: str,
    *,
    runs: int = 0,
    limit: float = 1.0,
    expand: bool = False,
    backend: str | None = None,
    engines: Sequence[str] = (),
    inputs: Inputs = None,
) -> dict[str, Any]:
    """Return what is given."""
    return {"runs": runs, "limit": limit, "expand": expand, "backend": backend, "engines": engines, "inputs": inputs}


def test_what_is_refused() -> None:
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"runs": "3"}, "runs is '3'; allowed: a whole number"),
        ({"runs": 1.5}, "runs is 1.5; allowed: a whole number"),
        ({"runs": True}, "runs is True; allowed: a whole number"),
        ({"runs": None}, "runs is None; allowed: a whole number"),
        ({"limit": "1"}, "limit is '1'; allowed: a number"),
        ({"expand": 1}, "expand is 1; allowed: True or False"),
        (
            {"backend": ["a\n" * 50]},
            r"backend is ['a\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na...; allowed: a string",
        ),
        ({"engines": "both"}, "engines is 'both'; allowed: a list of strings"),
        ({"engines": [5]}, "engines is [5]; allowed: a list of strings"),
    )
    for given, line in refused:
        with case(line), pytest.raises(AttributeValueError) as refusal:
            declared("m", **given)
        assert str(refusal.value) == line


def test_accepted_arguments() -> None:
    given: dict[str, Any] = {
        "runs": np.int64(3),
        "limit": np.float32(2),
        "expand": np.True_,
        "backend": None,
        "engines": {"a": 1},
    }
    assert declared("m", **given, inputs={}) == {**given, "inputs": {}}
    assert declared("m", limit=3)["limit"] == 3


def test_the_functions_on_models() -> None:
    calls: tuple[tuple[Callable[..., object], dict[str, Any]], ...] = (
        (vinculum.audit, {"backend": "numpy", "sets": "3"}),
        (vinculum.audit, {"backend": "numpy", "dims": 3}),
        (vinculum.check, {"runs": "3"}),
        (vinculum.check, {"calibrate": 5}),
        (vinculum.convert, {"opset": "x"}),
        (vinculum.repair.fix, {"assume": "x=1"}),
        (vinculum.harden, {"target": "portable", "fix_exported": 1}),
        (vinculum.trace, {"inputs": {}, "engines": "both"}),
    )
    for function, given in calls:
        with case(function), pytest.raises(AttributeValueError, match="; allowed: "):
            function("nowhere.onnx", **given)


def test_an_unknown_annotation() -> None:
    def function(model: object, *, factor: complex = 1) -> None:
        """Take what nothing checks."""

    with pytest.raises(TypeError, match="function: how is factor: complex checked"):
        checked_arguments(function)
