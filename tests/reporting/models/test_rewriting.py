"""What is told of conversions and hardenings, on a page and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from onnx import ModelProto

from tests.reporting.printing import printed, words
from vinculum.models.convert import Change, FileConversion, Verification
from vinculum.ops.policies import Policies
from vinculum.repair import Decision, HardenedFile, Hardening
from vinculum.repair.decision import Facts
from vinculum.repair.validation import Validation
from vinculum.reporting.models.rewriting import (
    conversion_as_json,
    conversion_page,
    hardening_as_json,
    hardening_page,
)
from vinculum.spec.element_types import FLOAT, INT64

OLD, NEW = Path("old.onnx"), Path("new.onnx")
CHANGE = Change("node 'ratio' (Div)", "axis dropped", "Div-13 has none")
RISKY = Decision("ratio", "If:then_branch", "Div-14", Facts("Div", 17, INT64), "x/0 gives 0", "it may be 0", "narrowed")
SAFE = Decision("floats", "", "Div-14", Facts("Div", 17, FLOAT), None, "cannot crash", "not rounded")
LEFT = Decision("rest", "F", "Mod-13", None, None, "its element type is not known")
VALIDATION = Validation(("onnxruntime", "reference"), 1, 8, 12345, "loaded")
HOSTILE = "[red]a[/red]\x1b[31m\n"


class TestConversion:
    """The two files, a row for every change, and a sentence on what was compared."""

    @pytest.mark.parametrize("width", [30, 100])
    @pytest.mark.parametrize(
        ("changes", "verification", "told"),
        [
            (1, Verification(12, 3000, 1, "a reason"), (
                "old.onnx, 6 new.onnx, 13",
                "1 change. The models agree in every bit of 3,000 elements of the outputs for 12 sets of inputs.",
                "1 set of inputs was left out: a reason.",
            )),
            (0, Verification(1, 1, 0), ("No node changed. The models agree in every bit of 1 element of the outputs",)),
            (2, None, ("2 changes. Not verified.",)),
        ],
    )  # fmt: skip
    def test_page(self, changes: int, verification: Verification | None, told: tuple[str, ...], width: int) -> None:
        shown = words(conversion_page(FileConversion("6", "13", (CHANGE,) * changes, verification), OLD, NEW), width)
        assert [said for said in told if said not in shown] == []
        assert ("Changes" in shown) == ("axis" in shown) == bool(changes)

    def test_names_cannot_move_the_cursor(self) -> None:
        assert printed(conversion_page(FileConversion("6", "13", (Change(HOSTILE, "a", "b"),), None), OLD, NEW))

    def test_json(self) -> None:
        conversion = FileConversion("a", "b", (CHANGE,), Verification(2, 3, 1, "why"))
        told = json.loads(json.dumps(conversion_as_json(conversion, OLD, NEW), allow_nan=False))
        assert told["changes"] == [{"node": CHANGE.node, "what": CHANGE.what, "why": CHANGE.why}]
        assert told["verification"] == {"compared": 2, "elements": 3, "skipped": 1, "reason": "why"}


def hardened(
    *decisions: Decision,
    validation: Validation | None = VALIDATION,
    inlined: int = 0,
    functions: tuple[str, ...] = (),
) -> HardenedFile:
    """Return what a hardening hands back."""
    model = ModelProto()
    for name in functions:
        model.functions.add(domain="vinculum", name=name)
    model.functions.add(domain="own", name="Other")
    hardening = Hardening(model, "portable", Policies("zero", "wrap"), False, decisions, inlined)
    return HardenedFile(hardening, validation)


def lines_of(report: HardenedFile, target: Path | None = Path("out.onnx"), width: int = 80) -> list[str]:
    """Return the lines that a reader without a terminal sees."""
    return printed(hardening_page(report, Path("in.onnx"), target), width)


class TestHardening:
    """What was rewritten and why, what was left alone, what to know; no name is obeyed."""

    @pytest.mark.parametrize("width", [80, 120])
    def test_sections(self, width: int) -> None:
        lines = lines_of(hardened(RISKY, SAFE), width=width)
        assert lines[:2] == ["in.onnx, hardened for every runtime", "out.onnx"]
        headings = ["Rewritten", "Left alone", "To know"]
        assert [line for line in lines if line in headings] == headings
        text = " ".join(" ".join(lines).split())
        assert "Div-14 in If:then_branch, int64" in text
        assert (
            "1 of 2 divisions rewritten. 12,345 results on ONNX Runtime and the onnx package's reference evaluator "
            "are exact" in text
        )
        assert text.endswith("The whole model was loaded there.")
        assert "int64 narrowed float not rounded" in text
        assert "may kill" not in text

    def test_plans(self) -> None:
        lines = lines_of(hardened(RISKY, SAFE, validation=None), target=None)
        assert lines[1] == ""
        assert lines[-1] == "A plan: 1 of 2 divisions would be rewritten. Nothing was run, nothing written."
        lines = lines_of(hardened(SAFE, validation=None))
        assert "Rewritten" not in lines
        assert lines[-1] == "No rewrite was needed (1 division); the model is written as it was."

    def test_functions_and_what_is_left(self) -> None:
        report = hardened(RISKY, LEFT, inlined=2, functions=("Div_int64", "Mod_int8"))
        text = " ".join(" ".join(lines_of(report)).split())
        assert "The guards are functions of the model: vinculum.Div_int64, vinculum.Mod_int8." in text
        assert "2 functions inlined: not every runtime takes them" in text
        assert "Not hardened: these may kill the runtime" in text
        assert "Mod-13 in F, of unknown type" in text
        assert "Left alone" not in text

    def test_names_are_harmless(self) -> None:
        risky = Decision(HOSTILE, HOSTILE, "Div-14", RISKY.facts, "what", "why")
        assert "".join(lines_of(hardened(risky), width=120)).count("[red]a[/red]\\x1b[31m\\n") == 2

    def test_json(self) -> None:
        told = hardening_as_json(hardened(RISKY, LEFT, functions=("Div_int64",)), Path("in.onnx"), None)
        plain: dict[str, Any] = json.loads(json.dumps(told, allow_nan=False))
        risky, left = plain.pop("divisions")
        assert risky == {
            "name": "ratio", "path": "If:then_branch", "operator": "Div-14", "element_type": "int64",
            "rewritten": True, "left": False, "what": "x/0 gives 0", "why": "it may be 0", "note": "narrowed",
        }  # fmt: skip
        assert (left["name"], left["element_type"], left["left"], left["what"]) == ("rest", None, True, None)
        assert plain == {
            "source": "in.onnx", "target": None, "runtime": "portable", "zero_divisor": "zero", "overflow": "wrap",
            "functions": ["vinculum.Div_int64"], "inlined_functions": 0,
            "validation": {
                "runtimes": ["onnxruntime", "reference"], "rewrites": 1, "models": 8, "results": 12345,
                "whole_model": "loaded", "reason": None,
            },
        }  # fmt: skip
