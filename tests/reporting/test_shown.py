"""`print` and notebooks show records as the command line prints them."""

from __future__ import annotations

import re
from dataclasses import fields
from html import unescape
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest
from onnx import TensorProto, helper

import vinculum
from tests.cases import case
from vinculum.analysis.findings import Finding, Report
from vinculum.analysis.tracing.record import TraceReport
from vinculum.conformance.audit.record import Audit
from vinculum.repair import HardenedFile
from vinculum.reporting.shown import PAGES
from vinculum.shown import Shown

EXAMPLES = Path(__file__).parents[2] / "examples"
MODEL, NORM = (EXAMPLES / name / "model.onnx" for name in ("layer_norm_float16", "rms_norm"))
STORED = vinculum.stored.Report("Div-14", "float", (2, 3), 24, 1, 0)

INVERSE = '<ir_version: 8, opset_import: ["": 14]> g (float[3] x) => (float[3] y) { [inv] y = Reciprocal(x) }'


@pytest.fixture(scope="module")
def records() -> dict[str, tuple[Any, str]]:
    """Return a record of each kind, and words that its page has."""
    x = {"x": np.load(MODEL.with_name("x.npy"))}
    return {
        "Report": (vinculum.check(MODEL, runs=0), "1 finding (1 possible) in 8 nodes"),
        "TraceReport": (vinculum.trace(MODEL, x, engines=["reference"]), "first zero divisor node_div (Div)"),
        "Fixed": (vinculum.repair.fix(MODEL, runs=0), "1 of 1 finding fixed; checked again: no findings."),
        "Rewritten": (vinculum.convert(NORM, opset=17), "The models agree in every bit"),
        "Model": (vinculum.load(onnx.parser.parse_model(INVERSE)), "inv Reciprocal-13 float 1 / (3,)"),
        "stored.Report": (STORED, "shape (2, 3), 24 bytes Div-14, 1 block"),
    }


def test_text_and_html(records: dict[str, tuple[Any, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    for name, (record, words) in records.items():
        with case(name):
            lines = str(record).splitlines()
            assert words in " ".join(str(record).split())
            assert max(map(len, lines)) <= 90
            assert lines == [line.rstrip() for line in lines]
            html = record._repr_html_()
            assert html.startswith("<pre")
            text = unescape(re.sub(r"<[^>]*>", "", html))
            assert words in " ".join(text.split())
            assert "<" not in repr(record) or "object at" not in repr(record)


def test_names_from_files_cannot_become_html() -> None:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("<b>x", "y"))
    graph = helper.make_graph([helper.make_node("Reciprocal", ["<b>x"], ["y"])], "g", [x], [y])
    model = vinculum.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    assert "&lt;b&gt;x" in model._repr_html_()


@pytest.mark.parametrize("record", [Report, Finding, TraceReport])
def test_help_lists_every_field(record: Any) -> None:
    """In the order of the fields."""
    listed = re.findall(r"^(\w[\w, ]*) : ", getdoc(record) or "", re.MULTILINE)
    assert ", ".join(listed).split(", ") == [field.name for field in fields(record)]


def test_every_record_has_a_page() -> None:
    assert Audit.__mro__[1] is HardenedFile.__mro__[1] is Shown
    found = {f"{kind.__module__.split('.')[1]}.{kind.__name__}" for kind in Shown.__subclasses__()}
    assert found == PAGES.keys()
    for place, _ in PAGES.values():
        module, _, name = place.rpartition(".")
        assert callable(getattr(import_module(f"vinculum.reporting.{module}"), name))
