"""``vinculum spec``: the rows that a command line prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise

import pytest

Said = Callable[..., list[str]]


@pytest.fixture
def said(here: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> Said:
    """Return a function that runs the command and returns the lines that it prints."""

    def run(*arguments: str, code: int = 0) -> list[str]:
        assert here("spec", *arguments) == code
        out, error = capsys.readouterr()
        assert (error if code == 0 else out) == ""
        return [line.rstrip() for line in (out or error).splitlines()]

    return run


@pytest.mark.parametrize(
    ("arguments", "titles"),
    [
        ("Div", ["Div-14"]),
        ("Div --version 6", ["Div-6"]),
        ("Reciprocal", ["Reciprocal-13"]),
        ("Divide", ["Divide-1"]),
        ("Div --dialect sonnx", ["SONNX Div (real)", "SONNX Div (float)", "SONNX Div (int)"]),
        ("Div --dialect sonnx --variant int", ["SONNX Div (int)"]),
    ],
)
def test_rows(said: Said, arguments: str, titles: list[str]) -> None:
    """As a page and as JSON, and their evidence in both."""
    for traced in ([], ["--trace"]):
        lines = said(*arguments.split(), *traced)
        assert [line for line, below in pairwise(lines) if below.startswith("===")] == titles
        assert (lines.count("    theorems") > 5 * len(titles)) == bool(traced)
        told = json.loads("\n".join(said(*arguments.split(), *traced, "--json")))
        assert [row["title"] for row in told.get("rows", [told])] == titles


def test_no_name_lists_every_row(said: Said) -> None:
    assert sum(line.startswith(("ONNX ", "OpenVINO ", "SONNX ")) for line in said()) == 12
    for options, count in ((["--json"], 12), (["--json", "--dialect", "openvino"], 1)):
        assert len(json.loads("\n".join(said(*options)))["rows"]) == count


def test_against_the_newest_by_default(said: Said) -> None:
    told = json.loads("\n".join(said("Div", "--against", "6", "--json")))
    assert (told["old_version"], told["new_version"], told["breaking"]) == (6, 14, True)
