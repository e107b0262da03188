"""The page of a hardening: what was rewritten and why, what was left alone, what to know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from onnx import ModelProto

from tests.reporting.printing import printed
from vinculum.ops.policies import Policies
from vinculum.repair import Decision, HardenedFile, Hardening
from vinculum.repair.decision import Facts
from vinculum.repair.validation import Validation
from vinculum.reporting.models.harden import as_json, page
from vinculum.spec.element_types import FLOAT, INT64

RISKY = Decision("ratio", "If:then_branch", "Div-14", Facts("Div", 17, INT64), "x/0 gives 0", "it may be 0", "narrowed")
SAFE = Decision("floats", "", "Div-14", Facts("Div", 17, FLOAT), None, "cannot crash", "not rounded")
LEFT = Decision("rest", "F", "Mod-13", None, None, "its element type is not known")
VALIDATION = Validation(("onnxruntime", "reference"), 1, 8, 12345, "loaded")


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
    return printed(page(report, Path("in.onnx"), target), width)


class TestPage:
    """The page tells everything, fits, and obeys no name."""

    @pytest.mark.parametrize("width", [80, 120])
    def test_sections(self, width: int) -> None:
        lines = lines_of(hardened(RISKY, SAFE), width=width)
        assert lines[:2] == ["in.onnx, hardened for every runtime", "out.onnx"]
        assert [line for line in lines if line in ("Rewritten", "Left alone", "To know")] == [
            "Rewritten",
            "Left alone",
            "To know",
        ]
        text = " ".join(" ".join(lines).split())
        assert "Div-14 in If:then_branch, int64" in text
        assert (
            "1 of 2 divisions rewritten. 12,345 results on ONNX Runtime and the onnx package's reference evaluator "
            "are exact" in text
        )
        assert text.endswith("The whole model was loaded there.")
        assert "int64 narrowed float not rounded" in text

    def test_a_plan(self) -> None:
        lines = lines_of(hardened(RISKY, SAFE, validation=None), target=None)
        assert lines[1] == ""
        assert lines[-1] == "A plan: 1 of 2 divisions would be rewritten. Nothing was run, nothing written."

    def test_nothing_to_do(self) -> None:
        lines = lines_of(hardened(SAFE, validation=None))
        assert "Rewritten" not in lines
        assert lines[-1] == "No rewrite was needed (1 division); the model is written as it was."

    def test_inlined_functions(self) -> None:
        assert "2 functions inlined: not every runtime takes them" in " ".join(lines_of(hardened(RISKY, inlined=2)))

    def test_functions(self) -> None:
        assert "The guards are functions of the model: vinculum.Div_int64, vinculum.Mod_int8." in lines_of(
            hardened(RISKY, functions=("Div_int64", "Mod_int8"))
        )

    def test_what_is_left(self) -> None:
        text = " ".join(" ".join(lines_of(hardened(RISKY, LEFT))).split())
        assert "Not hardened: these may kill the runtime" in text
        assert "Mod-13 in F, of unknown type" in text
        assert "Left alone" not in text
        assert "may kill" not in " ".join(lines_of(hardened(RISKY)))

    def test_names_are_harmless(self) -> None:
        name = "[red]a[/red]\x1b[31m\n"
        risky = Decision(name, name, "Div-14", RISKY.facts, "what", "why")
        assert "".join(lines_of(hardened(risky), width=120)).count("[red]a[/red]\\x1b[31m\\n") == 2


class TestJson:
    """The JSON holds the same."""

    def test_it_holds_everything(self) -> None:
        told = as_json(hardened(RISKY, LEFT, functions=("Div_int64",)), Path("in.onnx"), None)
        plain: dict[str, Any] = json.loads(json.dumps(told, allow_nan=False))
        risky, left = plain.pop("divisions")
        assert risky == {
            "name": "ratio",
            "path": "If:then_branch",
            "operator": "Div-14",
            "element_type": "int64",
            "rewritten": True,
            "left": False,
            "what": "x/0 gives 0",
            "why": "it may be 0",
            "note": "narrowed",
        }
        assert (left["name"], left["element_type"], left["left"], left["what"]) == ("rest", None, True, None)
        assert plain == {
            "source": "in.onnx",
            "target": None,
            "runtime": "portable",
            "zero_divisor": "zero",
            "overflow": "wrap",
            "functions": ["vinculum.Div_int64"],
            "inlined_functions": 0,
            "validation": {
                "runtimes": ["onnxruntime", "reference"],
                "rewrites": 1,
                "models": 8,
                "results": 12345,
                "whole_model": "loaded",
                "reason": None,
            },
        }
