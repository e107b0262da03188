"""What every runtime's file provides. A plug-in, ``module:attribute``, needs less: see `vinculum.testing`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation


class Runtime(Protocol):
    """A runtime that divides. What runs whole models too is a `ModelRuntime`.

    It is made by calling its class with the options, ``Runtime(options: Mapping[str, str])``, both in our process,
    where only `check`, `covers`, `versions` and `reproducer` are called, and in the process that answers, where
    `start` is called before the first `answer`. Making one imports nothing foreign; an option that it does not know
    raises `AttributeValueError`.
    """

    title: str
    """What sentences call it: ``"ONNX Runtime"``."""

    def check(self) -> None:
        """Refuse to go on if its package is not installed: ModelError, one line that says how to install it."""

    def versions(self) -> Mapping[str, str]:
        """Return the versions of the packages that its answers depend on, without importing them."""

    def covers(self, operation: Operation) -> bool:
        """Tell whether the runtime has a way at all to be asked this; what it does not cover is not asked."""

    def start(self) -> None:
        """Import what answers, so that no operation's time is spent on that; ModelError if it is not there as asked."""

    def answer(self, operation: Operation) -> NDArray[Any]:
        """Return the quotient that the runtime computes, as the array that it hands over.

        Raises
        ------
        UnsupportedError
            If the runtime says that it has no such operator version or element type.
        Exception
            Any other is a refusal.
        """

    def reproducer(self, operation: Operation) -> str:
        """Return Python source, complete and short, that asks the same in the runtime's own interface and prints."""


@runtime_checkable
class ModelRuntime(Runtime, Protocol):
    """A runtime that runs any ONNX model."""

    def run_model(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of the model in a file, in its order; it raises as `answer` does."""
