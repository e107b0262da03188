"""A runtime of another package, held to the protocol: what it gets wrong in our process is one line."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.errors import ModelError, VinculumError
from vinculum.text import one_line, quoted

_MEMBERS = ("title", "check", "versions", "covers", "start", "answer", "reproducer")


class ForeignRuntime:
    """What an entry point makes of the options.

    Parameters
    ----------
    point : EntryPoint
        It names a class that is made with the options.
    options : Mapping of str to str
        Those of the brackets.

    Raises
    ------
    VinculumError
        As it refuses an option.
    ModelError
        If it cannot be made, or lacks something that a runtime has.
    """

    def __init__(self, point: EntryPoint, options: Mapping[str, str]) -> None:
        self._owner = f"the backend {quoted(point.name)} ({point.value})"
        self._made = self._tried("cannot be loaded", lambda: point.load()(options))
        missing = [member for member in _MEMBERS if not hasattr(self._made, member)]
        if missing:
            raise ModelError(f"{self._owner} has no {', '.join(missing)}; a runtime has {', '.join(_MEMBERS)}")
        self.title = str(self._made.title)
        if hasattr(self._made, "run_model"):  # What it raises is for the process that it is in.
            self.run_model = self._made.run_model

    def check(self) -> None:
        """Let it refuse to go on."""
        self._tried("cannot be used", self._made.check)

    def versions(self) -> Mapping[str, str]:
        """Return the versions that it tells, as text."""
        told = self._tried("cannot tell its versions", lambda: dict(self._made.versions()))
        return {str(name): str(version) for name, version in told.items()}

    def covers(self, operation: Operation) -> bool:
        """Tell whether it says so."""
        return bool(self._tried("cannot tell what it covers", lambda: self._made.covers(operation)))

    def start(self) -> None:
        """Let it make ready."""
        self._tried("cannot be started", self._made.start)

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return what it gives; what it raises is for the process that it is in."""
        return self._made.answer(operation)  # type: ignore[no-any-return]  # whatever it gives is judged

    def reproducer(self, operation: Operation) -> str:
        """Return the source that it gives; a comment if it gives none, for which no run must end."""
        try:
            return str(self._tried("gives no program", lambda: self._made.reproducer(operation)))
        except VinculumError as error:
            return f"# {one_line(error)}\n"

    def _tried(self, failure: str, action: Any) -> Any:
        try:
            return action()
        except VinculumError:
            raise
        except (Exception, SystemExit) as error:  # It is not ours, and may raise anything.
            raise ModelError(f"{self._owner} {failure}: {type(error).__name__}: {one_line(error)}") from None
