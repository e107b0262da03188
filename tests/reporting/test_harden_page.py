"""The page of a hardening: what was rewritten and why, what was left alone, what to know."""

from __future__ import annotations

import json
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from onnx import ModelProto
from rich.console import Console

from vinculum.models.execution import Division
from vinculum.models.harden import Decision, HardenedFile, Hardening
from vinculum.models.harden.facts import Facts
from vinculum.models.harden.proof import Proof
from vinculum.ops.policies import Policies
from vinculum.reporting.harden_page import as_json, page
from vinculum.spec.element_types import FLOAT, INT64
from vinculum.spec.onnx_div import DIV_14

RISKY = Decision(
    Division("ratio", "If:then_branch", DIV_14, INT64),
    Facts("Div", 17, INT64),
    "x/0 gives 0",
    "it may be 0",
    "narrowed",
)
SAFE = Decision(Division("floats", "", DIV_14, FLOAT), Facts("Div", 17, FLOAT), None, "cannot crash", "not rounded")
PROOF = Proof(("onnxruntime", "reference"), 1, 8, 12345)


def hardened(
    *decisions: Decision, proof: Proof | None = PROOF, inlined: int = 0, remainders: tuple[str, ...] = ()
) -> HardenedFile:
    """Return what a hardening hands back."""
    hardening = Hardening(ModelProto(), "portable", Policies("zero", "wrap"), decisions, inlined, remainders)
    return HardenedFile(hardening, proof)


def printed(report: HardenedFile, target: Path | None = Path("out.onnx"), width: int = 80) -> list[str]:
    """Return the lines that a reader without a terminal sees."""
    with TextIOWrapper(BytesIO(), encoding="utf-8") as file:
        Console(width=width, file=file, highlight=False).print(page(report, Path("in.onnx"), target))
        file.seek(0)
        return [line.rstrip() for line in file.read().splitlines()]


class TestPage:
    """The page tells everything, fits, and obeys no name."""

    @pytest.mark.parametrize("width", [80, 120])
    def test_sections(self, width: int) -> None:
        lines = printed(hardened(RISKY, SAFE), width=width)
        assert max(map(len, lines)) <= width
        assert lines[:2] == ["in.onnx, hardened for every runtime", "out.onnx"]
        assert [line for line in lines if line in ("Rewritten", "Left alone", "To know")] == [
            "Rewritten",
            "Left alone",
            "To know",
        ]
        text = " ".join(" ".join(lines).split())
        assert "Div-14 in If:then_branch, int64" in text
        assert (
            "1 of 2 divisions rewritten. 12,345 quotients on ONNX Runtime and the onnx package's reference evaluator"
            in text
        )
        assert "int64 narrowed float not rounded" in text

    def test_a_plan(self) -> None:
        lines = printed(hardened(RISKY, SAFE, proof=None), target=None)
        assert lines[1] == ""
        assert lines[-1] == "A plan: 1 of 2 divisions would be rewritten. Nothing was run, nothing written."

    def test_nothing_to_do(self) -> None:
        lines = printed(hardened(SAFE))
        assert "Rewritten" not in lines
        assert lines[-1] == "No rewrite was needed (1 division); the model is written as it was."

    def test_inlined_functions(self) -> None:
        assert "2 functions inlined: OpenVINO takes none." in printed(hardened(RISKY, inlined=2))

    def test_remainders(self) -> None:
        text = " ".join(printed(hardened(RISKY, remainders=("rest",))))
        assert "Not hardened, because it is no division: Mod in 'rest'." in text
        assert "Not hardened" not in " ".join(printed(hardened(RISKY)))

    def test_names_are_harmless(self) -> None:
        name = "[red]a[/red]\x1b[31m\n"
        risky = Decision(Division(name, name, DIV_14, INT64), RISKY.facts, "what", "why")
        text = "".join(printed(hardened(risky), width=120))
        assert text.count("[red]a[/red]\\x1b[31m\\n") == 2
        assert "\x1b" not in text


class TestJson:
    """The JSON holds the same."""

    def test_it_holds_everything(self) -> None:
        plain: dict[str, Any] = json.loads(
            json.dumps(as_json(hardened(RISKY, remainders=("rest",)), Path("in.onnx"), None), allow_nan=False)
        )
        assert plain == {
            "source": "in.onnx",
            "target": None,
            "runtime": "portable",
            "zero_divisor": "zero",
            "overflow": "wrap",
            "inlined_functions": 0,
            "remainders_left_alone": ["rest"],
            "divisions": [
                {
                    "name": "ratio",
                    "path": "If:then_branch",
                    "operator": "Div-14",
                    "element_type": "int64",
                    "rewritten": True,
                    "what": "x/0 gives 0",
                    "why": "it may be 0",
                    "note": "narrowed",
                }
            ],
            "proof": {
                "runtimes": ["onnxruntime", "reference"],
                "rewrites": 1,
                "models": 8,
                "quotients": 12345,
            },
        }
