"""Fixed models in ONNX Runtime: on inputs that showed a finding no output is NaN or infinite, and nothing crashes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from tests.analysis.corpus.entry import Entry
from tests.analysis.corpus.judging import ENTRIES, arrays, model_of
from tests.runtimes.analysis.sessions import session
from vinculum.repair.fixing import Fixed, fix

SHOWN = {"integer-zero-divisor", "masked-row", "min-over-minus-one", "zero-divisor", "zero-over-zero"}
HAZARDS = [
    entry
    for entry in ENTRIES
    if SHOWN & set(entry.rules) and entry.as_type is None and "transformers" not in entry.source
]


def witnesses(entry: Entry, result: Fixed) -> Iterator[Mapping[str, Any]]:
    """Yield the inputs that show what was fixed: those of the label, and those that the check found."""
    if entry.witness:
        yield arrays(entry)
    for one in result.fixes:
        witness = one.finding.witness
        if one.is_fixed and witness is not None and witness.kind == "model":
            yield witness.inputs


def outputs(model: ModelProto, inputs: Mapping[str, Any], *, optimised: bool) -> list[Any]:
    """Return what ONNX Runtime computes."""
    made = session(model, optimised=optimised)
    return [np.asarray(value) for value in made.run(None, dict(inputs))]


@pytest.mark.parametrize("entry", HAZARDS, ids=lambda entry: entry.name)
def test_nothing_is_shown_any_more(entry: Entry) -> None:
    result = fix(model_of(entry), assume=entry.assume, profile=entry.profile, runs=50)
    if result.left:
        assert all(one.why for one in result.left)
        return
    for inputs in witnesses(entry, result):
        for optimised in (False, True):
            for value in outputs(result.model, inputs, optimised=optimised):
                assert value.dtype.kind != "f" or np.isfinite(value).all()
