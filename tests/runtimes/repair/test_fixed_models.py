"""Fixed models in ONNX Runtime: inputs that showed a finding give no NaN, no infinity and no crash any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, parser

from tests.analysis.corpus.entry import Entry
from tests.analysis.corpus.judging import ENTRIES, arrays, model_of
from tests.repair.fixing.test_chains import check_numbers
from tests.runtimes.analysis.sessions import session
from vinculum.repair.fixing import Fixed, fix

SHOWN = {"integer-zero-divisor", "masked-row", "min-over-minus-one", "zero-divisor", "zero-over-zero"}
HAZARDS = [
    entry
    for entry in ENTRIES
    if SHOWN & set(entry.rules) and entry.as_type is None and "transformers" not in entry.source
]


def witnesses(entry: Entry, result: Fixed) -> Iterator[Mapping[str, Any]]:
    """Yield inputs that show the fixed findings: those of the label, and those that the check found."""
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


@pytest.mark.parametrize("operator", ["Div", "Mod"])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("kind", ["int", "uint"])
def test_guards_of_integers_load(operator: str, kind: str, bits: int) -> None:
    """ONNX Runtime has kernels for all operators of the guards, in every integer type that it divides."""
    vector = f"{kind}{bits}[N]"
    graph = f"g ({vector} x, {vector} d) => ({vector} y) {{ y = {operator} (x, d) }}"
    result = fix(parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {graph}'), runs=0)
    assert not result.left
    limits = np.iinfo(f"{kind}{bits}")
    x, d = np.array([limits.min, 7], limits.dtype), np.array([-1 if limits.min else 1, 0], limits.dtype)
    (found,) = outputs(result.model, {"x": x, "d": d}, optimised=False)
    assert found.tolist() == [limits.min if operator == "Div" else 0, 7 if operator == "Div" else 0]


@pytest.mark.parametrize("optimised", [False, True])
def test_chains(optimised: bool) -> None:
    check_numbers(lambda model, inputs: outputs(model, inputs, optimised=optimised)[0])
