"""``vinculum fingerprint`` as a user types it: lines in words, JSON for machines, and one line for wrong usage."""

from __future__ import annotations

import json
import re
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
        assert not any("correctly rounded" in line for line in lines if line.startswith("!"))
        marked = [line for line in lines if line.startswith("!")]
        assert any("accepted for operands of two" in line for line in marked)
        assert lines[2] == marked[0]  # What deviates comes first.
        assert any("x/0 gives 0" in line for line in lines)
        assert len(lines) < 40
        assert "marked !: not as specified. By " in " ".join(lines)
        assert "\x1b" not in done.stdout

    def test_one_after_the_other_with_examples(self, vinculum: Vinculum) -> None:
        done = vinculum("fingerprint", *FAKES, "--verbose")
        assert done.returncode == 0
        assert [line for line in done.stdout.splitlines() if line in FAKES] == [*FAKES]
        assert re.search(r"rounded down (\S+) / (\S+) gave \S+, expected \S+", " ".join(done.stdout.split()))


class TestJson:
    """With --json a backend is a line."""

    def test_lines(self, vinculum: Vinculum) -> None:
        done = vinculum("fingerprint", FAKES[1], "--json")
        assert (done.returncode, done.stderr) == (0, "")
        read: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
        assert [one["backend"] for one in read] == [FAKES[1]]
        for one in read:
            assert set(one) == {"backend", "title", "versions", "lines", "cases", "seconds"}
            for line in one["lines"]:
                assert set(line) == {"element_types", "statement", "deviates", "example"}
        told = [
            [(*line["element_types"], line["statement"]) for line in one["lines"] if line["deviates"]] for one in read
        ]
        assert told == [[("int8", "rounded down")]]


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
