"""``vinculum spec``: which rows a command line prints."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
import typer
from typer.testing import CliRunner

from vinculum.cli.commands.about import spec
from vinculum.errors import SpecLookupError, VinculumError


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    """Return a command line of this one command."""
    command_line = typer.Typer()
    command_line.command()(spec)
    return command_line


def output(app: typer.Typer, *arguments: str) -> str:
    """Return what a command prints; it must succeed."""
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize(
    ("arguments", "titles"),
    [
        (["Div"], ["Div-14"]),
        (["Div", "--version", "6"], ["Div-6"]),
        (["Reciprocal"], ["Reciprocal-13"]),
        (["Divide"], ["Divide-1"]),
        (["Div", "--dialect", "sonnx"], ["SONNX Div (real)", "SONNX Div (float)", "SONNX Div (int)"]),
        (["Div", "--dialect", "sonnx", "--variant", "int"], ["SONNX Div (int)"]),
    ],
)
def test_rows(app: typer.Typer, arguments: list[str], titles: list[str]) -> None:
    """As a page and as JSON, and the same of the evidence."""
    for traced in ([], ["--trace"]):
        lines = [line.rstrip() for line in output(app, *arguments, *traced).splitlines()]
        assert [line for line, below in pairwise(lines) if below.startswith("===")] == titles
        assert (sum(line == "    theorems" for line in lines) > 5 * len(titles)) == bool(traced)
        told = json.loads(output(app, *arguments, *traced, "--json"))
        assert [row["title"] for row in told.get("rows", [told])] == titles


def test_no_name_lists_every_row(app: typer.Typer) -> None:
    assert sum(line.startswith(("ONNX ", "OpenVINO ", "SONNX ")) for line in output(app).splitlines()) == 12
    assert len(json.loads(output(app, "--json"))["rows"]) == 12
    assert len(json.loads(output(app, "--json", "--dialect", "openvino"))["rows"]) == 1


@pytest.mark.parametrize(("version", "against", "breaking"), [("6", "1", "no"), ("1", "6", "yes"), (None, "6", "yes")])
def test_against(app: typer.Typer, version: str | None, against: str, breaking: str) -> None:
    chosen = ["--version", version] if version else []
    arguments = ["Div", *chosen, "--against", against]
    lines = output(app, *arguments).splitlines()
    assert lines[:4] == [
        "SchemaDiff: Div (domain 'ai.onnx')",
        f"old version: {against}",
        f"new version: {version or 14}",
        f"breaking: {breaking}",
    ]
    assert json.loads(output(app, *arguments, "--json"))["breaking"] == (breaking == "yes")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["div"], "did you mean 'Div'"),
        (["Div", "--version", "10"], "operator set 10 uses Div-7"),
        (["Div", "--against", "2"], "no version 2"),
        (["Div", "--variant", "int"], "'sonnx'"),
        (["Div", "--dialect", "sonnx", "--against", "1"], "does not number"),
        (["--against", "1"], "need an operator"),
        (["--trace"], "need an operator"),
        (["Div", "--trace", "--against", "6"], "leave one out"),
    ],
)
def test_refusals_leave_as_errors_of_ours(app: typer.Typer, arguments: list[str], words: str) -> None:
    """The main command turns each into one line and exit code 2."""
    with pytest.raises(SpecLookupError, match=words) as refusal:
        CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert isinstance(refusal.value, VinculumError)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["Div", "--dialect", "tflite"], "'tflite' is not one of 'onnx', 'openvino', 'sonnx'"),
        (["Div", "--dialect", "sonnx", "--variant", "complex"], "'complex' is not one of 'real', 'float', 'int'"),
        (["--dialect", "tflite"], "'tflite' is not one of"),
    ],
)
def test_choices(app: typer.Typer, arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert words in " ".join(done.output.replace("│", " ").split())
