"""What is told of a conversion, on a page and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from tests.reporting.printing import printed
from vinculum.models.convert import Change, FileConversion, Verification
from vinculum.reporting.models.convert import as_json, page

SOURCE, TARGET = Path("old.onnx"), Path("new.onnx")
CHANGE = Change("node 'ratio' (Div)", "axis dropped", "Div-13 has none")


def text(changes: tuple[Change, ...], verification: Verification | None, width: int = 100) -> str:
    """Return a page as plain text."""
    conversion = FileConversion("ONNX operator set 6", "ONNX operator set 13", changes, verification)
    return "\n".join(printed(page(conversion, SOURCE, TARGET), width))


class TestPage:
    """The two files, a row for every change, and a sentence on what was compared."""

    def test_a_change(self) -> None:
        shown = text((CHANGE,), Verification(12, 3000, 1, "a reason"))
        assert shown.startswith("old.onnx, ONNX operator set 6\nnew.onnx, ONNX operator set 13\n")
        words = " ".join(shown.split())
        assert "node 'ratio' (Div) axis dropped Div-13 has none" in words
        assert (
            "1 change. The models agree in every bit of 3,000 elements of the outputs for 12 sets of inputs." in words
        )
        assert "1 set of inputs was left out: a reason." in words

    def test_none(self) -> None:
        shown = text((), Verification(1, 1, 0))
        assert "Changes" not in shown
        assert "No node changed. The models agree in every bit of 1 element of the outputs for 1 set of inputs." in (
            " ".join(shown.split())
        )

    def test_not_verified(self) -> None:
        assert text((CHANGE, CHANGE), None).endswith("2 changes. Not verified.")

    def test_a_narrow_terminal(self) -> None:
        assert text((CHANGE,), None, width=30).endswith("1 change. Not verified.")

    def test_names_cannot_move_the_cursor(self) -> None:
        assert "\x1b" not in text((Change("node '\x1b[2J' (Div)", "a", "b"),), None)


class TestJson:
    """The same for machines."""

    def test_strict(self) -> None:
        conversion = FileConversion("a", "b", (CHANGE,), Verification(2, 3, 1, "why"))
        told = json.loads(json.dumps(as_json(conversion, SOURCE, TARGET), allow_nan=False))
        assert told["changes"] == [{"node": CHANGE.node, "what": CHANGE.what, "why": CHANGE.why}]
        assert told["verification"] == {"compared": 2, "elements": 3, "skipped": 1, "reason": "why"}

    def test_not_verified(self) -> None:
        assert as_json(FileConversion("a", "b", (), None), SOURCE, TARGET)["verification"] is None
