"""The labelled models in ONNX Runtime: a run shows what can be shown, and none of a control divides by zero."""

from __future__ import annotations

import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import Fail

from tests.analysis.corpus.entry import Entry
from tests.analysis.corpus.judging import ENTRIES, is_control, model_of
from tests.runtimes.analysis.corpus.runs import hazardous_runs, is_shown
from tests.runtimes.analysis.sessions import session


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.witness or e.inner], ids=lambda entry: entry.name)
def test_a_run_shows_it(entry: Entry) -> None:
    try:
        assert is_shown(entry, session)
    except Fail as error:  # of ONNX Runtime before 1.31
        if "InsertedPrecisionFreeCast" not in str(error):
            raise
        pytest.skip("ONNX Runtime refuses the casts that it inserts itself")


@pytest.mark.parametrize("entry", [e for e in ENTRIES if is_control(e)], ids=lambda entry: entry.name)
def test_no_run_of_a_control_divides_by_zero(entry: Entry) -> None:
    if all(imported.version >= 7 for imported in model_of(entry).opset_import):  # It has none before.
        assert list(hazardous_runs(entry, session)) == []
