"""``vinculum fingerprint`` as a user types it: lines in words, JSON for machines, and one line for wrong usage."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.acceptance.conftest import Vinculum

FAKES = ("tests.fake_runtime:DividesInt8", "tests.fake_runtime:FloorsInt8")


class TestPage:
    """A page says in words how a runtime divides, and marks what differs from the specification."""

    def test_numpy(self, started_vinculum: Vinculum) -> None:
        done = started_vinculum("fingerprint", "numpy")
        assert (done.returncode, done.stderr) == (0, "")
        lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
        assert lines[0].startswith("NumPy (numpy ")
        assert any("float, float16" in line for line in lines)
        marked = [line for line in lines if line.startswith("!")]
        assert [line.split(" (")[0] for line in marked] == ["! illegal operands accepted"]
        assert lines[2] == marked[0]  # What deviates comes first.
        assert len(lines) < 20
        assert "1 line marked !: not as specified. --verbose shows each with an example." in " ".join(lines)
        assert "\x1b" not in done.stdout

    def test_one_after_the_other_with_examples(self, vinculum: Vinculum) -> None:
        done = vinculum("fingerprint", *FAKES, "--verbose")
        assert done.returncode == 0
        assert [line for line in done.stdout.splitlines() if line in FAKES] == [*FAKES]
        assert "rounded down" in " ".join(done.stdout.split())


class TestJson:
    """With --json each backend is a line."""

    def test_lines(self, vinculum: Vinculum) -> None:
        done = vinculum("fingerprint", *FAKES, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        read: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
        assert [one["backend"] for one in read] == [*FAKES]
        for one in read:
            assert set(one) == {"backend", "title", "versions", "seconds", "findings"}
            for finding in one["findings"]:
                assert set(finding) == {"probe", "subject", "statement", "status", "detail", "evidence"}
        told = [{(f["subject"], f["statement"]) for f in one["findings"] if f["status"] == "deviates"} for one in read]
        assert told == [set(), {("int8", "rounded down")}]


class TestWrongUsage:
    """It is refused in a line before anything is probed."""

    def test_unknown_name(self, refused: Callable[..., str]) -> None:
        assert refused("fingerprint", "numpy", "nunpy").endswith("did you mean 'numpy'?")

    def test_unknown_option(self, refused: Callable[..., str]) -> None:
        assert refused("fingerprint", "torch[devise=cuda]").endswith("did you mean 'device'?")

    def test_no_name(self, refused: Callable[..., str]) -> None:
        assert "BACKEND" in refused("fingerprint")

    def test_help_imports_no_runtime(self, vinculum: Vinculum) -> None:
        done = vinculum("fingerprint", "--help")
        assert done.returncode == 0
        assert "BACKEND" in done.stdout
