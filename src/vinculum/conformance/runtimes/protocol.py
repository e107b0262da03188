"""The protocol of runtimes. A plug-in, ``module:attribute``, needs less: see `vinculum.testing`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation


class Runtime(Protocol):
    """A runtime that divides. One that also runs whole models is a `ModelRuntime`.

    It is made by calling its class with the options, ``Runtime(options: Mapping[str, str])``, both in our process,
    where only `check`, `covers`, `versions` and `reproducer` are called, and in the subprocess, where `start` is called
    before the first `answer`. Making one imports nothing foreign; an unknown option raises `AttributeValueError`.
    One that answers as well in a forked copy of its process may say so by a true ``survives_fork``.
    """

    title: str
    """The name in sentences: ``"ONNX Runtime"``."""

    def check(self) -> None:
        """Raise ModelError, with one line on how to install it, if its package is not installed."""

    def versions(self) -> Mapping[str, str]:
        """Return the versions of the packages that its answers depend on, without importing them."""

    def covers(self, operation: Operation) -> bool:
        """Tell whether the runtime's interface can express this operation; others are not run."""

    def start(self) -> None:
        """Import the runtime before any operation is timed; raise ModelError if it is not available as requested."""

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient as the array that the runtime returns.

        Raises
        ------
        UnsupportedError
            If the runtime reports that it lacks the operator version or element type.
        Exception
            Any other exception counts as a refusal.
        """

    def reproducer(self, operation: Operation) -> str:
        """Return a short, complete Python program that executes the operation in the runtime and prints the result."""


@runtime_checkable
class ModelRuntime(Runtime, Protocol):
    """A runtime that runs any ONNX model."""

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file, in its order; raises the same errors as `answer`."""
