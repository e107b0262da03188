"""``vinculum fingerprint`` as a user types it: lines in words, JSON for machines, and one line for wrong usage."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from tests.acceptance.conftest import Vinculum

FAKE = "tests.fake_runtime:FloorsInt8"


class TestPage:
    """A page says in words how a runtime divides, and marks what differs from the specification."""

    def test_one_after_the_other_with_examples(self, started_vinculum: Vinculum) -> None:
        done = started_vinculum("fingerprint", "numpy", FAKE, "--verbose")
        assert (done.returncode, done.stderr) == (0, "")
        lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
        assert re.search(r"rounded down (\S+) / (\S+) gave \S+, expected \S+", " ".join(lines[lines.index(FAKE) :]))
        lines = lines[: lines.index(FAKE)]
        assert lines[0].startswith("NumPy (numpy ")
        assert not any("correctly rounded" in line for line in lines if line.startswith("!"))
        marked = [line for line in lines if line.startswith("!")]
        assert any("accepted for operands of two" in line for line in marked)
        assert lines[2] == marked[0]  # What deviates comes first.
        assert any("x/0 gives 0" in line for line in lines)
        assert len(lines) < 60
        assert "marked !: not as specified. By " in " ".join(lines)
        assert "\x1b" not in done.stdout


class TestJson:
    """With --json a backend is a line."""

    def test_lines(self, vinculum: Vinculum) -> None:
        done = vinculum("fingerprint", FAKE, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        (one,) = (json.loads(line) for line in done.stdout.splitlines())
        assert set(one) == {"backend", "title", "versions", "lines", "cases", "seconds"}
        assert one["backend"] == FAKE
        for line in one["lines"]:
            assert set(line) == {"element_types", "statement", "deviates", "example"}
        told = [(*line["element_types"], line["statement"]) for line in one["lines"] if line["deviates"]]
        assert told == [("int8", "rounded down")]


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
