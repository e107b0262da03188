"""The README's example prints what the README says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


class TestReadme:
    """The Python example, run as it stands."""

    def test_the_example_prints_its_comments(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
        assert found is not None
        example = found.group(1)
        assert len(example.splitlines()) <= 10
        comments = re.findall(r"print\(.*\)  # (.*)", example)
        monkeypatch.chdir(ROOT)
        exec(compile(example, "README.md", "exec"), {})
        printed = [" ".join(line.replace("[ ", "[").split()) for line in capsys.readouterr().out.splitlines()]
        assert len(printed) == len(comments) == 5
        for line, comment in zip(printed, comments, strict=True):
            assert comment.startswith(line)
