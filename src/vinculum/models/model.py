"""A model in memory: what goes in, what comes out, which divisions it holds, and how it is run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.models.execution import Division, Execution, Observer
from vinculum.models.inputs import ModelTensor, admit
from vinculum.models.messages import quoted
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor


class Program(Protocol):
    """What a format's reader leaves to be run."""

    def execute(self, arrays: Mapping[str, NDArray[Any]], execution: Execution) -> dict[str, Any]:
        """Return the outputs for inputs that have been checked; what it keeps between runs is read-only."""


@dataclass(frozen=True, eq=False)
class Model:
    """A model that `vinculum.load` read, whose every division is computed by this package's engine.

    Attributes
    ----------
    inputs : tuple of ModelTensor
        What `run` takes, in the file's order.
    outputs : tuple of ModelTensor
        What `run` returns, in the file's order.
    divisions : tuple of Division
        Every division node, those of subgraphs and functions included; a function's stand there once,
        however often it is called.
    """

    inputs: tuple[ModelTensor, ...]
    outputs: tuple[ModelTensor, ...]
    divisions: tuple[Division, ...]
    _program: Program

    def run(
        self,
        inputs: Mapping[str, Any],
        *,
        zero_divisor: ZeroDivisor = "raise",
        overflow: Overflow = "wrap",
        observer: Observer | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Return the model's outputs by name; the inputs are not modified, and no output shares their memory.

        Parameters
        ----------
        inputs : Mapping of str to array
            By the names of `inputs`; those that are optional may be left out.
        zero_divisor : {"raise", "zero", "saturate"}
            What integer divisions do with a zero divisor, as in `vinculum.div`.
        overflow : {"wrap", "raise", "saturate"}
            What they do with MIN/-1.
        observer : callable, optional
            Called with a `DivisionRecord` after every division that is executed.

        Raises
        ------
        ModelError
            If an input is missing or surplus, or a node cannot be run; the line names it.
        ElementTypeError, BroadcastError
            If an input has another element type or shape than the model declares.
        DivisionByZeroError, IntegerOverflowError
            As the policies say; the message names the node.
        """
        execution = Execution(Policies(zero_divisor, overflow), observer)
        arrays = admit(self.inputs, inputs)
        results = self._program.execute(arrays, execution)
        outputs: dict[str, NDArray[Any]] = {}
        for name, value in results.items():
            if not isinstance(value, np.ndarray):
                raise ModelError(f"output {quoted(name)} is not a tensor; only tensors can be returned")
            outputs[name] = _detached(value, outputs.values())
        return outputs


def _detached(value: NDArray[Any], others: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Return the array itself, or a copy if it shares memory with inputs, constants or other outputs.

    Inputs and constants may not be written, and a view of what may not be written may not be either.
    """
    if not value.flags.writeable or any(np.may_share_memory(value, other) for other in others):
        return value.copy()
    return value
