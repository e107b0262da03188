"""What is fuzzed: a job in a process of its own, started again whenever it dies."""

from __future__ import annotations

import zlib
from base64 import b85encode
from dataclasses import dataclass
from pathlib import Path

from tests.copies import copied
from vinculum.sandbox import End, Isolated, Limits

EXAMPLES = Path(__file__).parents[2] / "examples"
ONE_CASE = 120.0  # Seconds. A case takes a second or two of its own, and on a busy machine many times as long.


@dataclass(frozen=True)
class Case:
    """A damaged file in place of an example's."""

    name: str  # Which: a path in the folder of examples.
    content: bytes  # What stands there now.
    opset: int = 0  # What to convert to, for jobs that convert.

    def __repr__(self) -> str:
        """Return what makes the case again: its bytes, compressed and in base 85."""
        packed = b85encode(zlib.compress(self.content, 9)).decode()
        return f"Case({self.name!r}, zlib.decompress(b85decode({packed!r})), {self.opset})"


class Subject:
    """A worker for a job of ``worker.JOBS`` on a copy of the examples, of so many seconds a case; a context manager."""

    def __init__(self, job: str, folder: Path, seconds: float = ONE_CASE) -> None:
        self._folder = folder / "examples"
        self._copy_examples()
        self._worker = Isolated("tests.fuzz.worker:Worker", job, self._folder, limits=Limits(seconds))

    def __enter__(self) -> Subject:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.close()

    def outcome(self, case: Case) -> str:
        """Return ``"accepted"``, ``"refused"`` or ``"slow"``; fail, with the case, if it is worse."""
        answer = self._worker.call("outcome", case.name, case.content, case.opset)
        if answer.end is not End.RETURNED:
            self._copy_examples()  # The case was left in the place of a file.
        if answer.end is End.HUNG:
            return "slow"
        assert answer.end is End.RETURNED, f"{answer.end.value}: {answer.words}: {case!r}"
        kind, words = answer.value
        assert kind != "escaped", f"{words}\n{case!r}"
        return str(kind)

    def _copy_examples(self) -> None:
        copied(EXAMPLES, self._folder, ignore=lambda *_: {"make_examples.py", "__pycache__"})
