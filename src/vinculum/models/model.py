"""A model in memory: what goes in, what comes out, which divisions it holds, and how it is run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import AttributeValueError, ModelError
from vinculum.models.execution import Division, Observer, RunContext
from vinculum.models.inner_divisions import InnerDivision
from vinculum.models.values import ModelTensor, Value, validated_inputs
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor
from vinculum.text import quoted

Engine = Literal["reference", "onnxruntime", "openvino"]
ENGINES = ("reference", "onnxruntime", "openvino")


def check_engine(engine: str) -> None:
    """Refuse what is no engine.

    Raises
    ------
    AttributeValueError
        The line says what is allowed.
    """
    if engine not in ENGINES:
        raise AttributeValueError(f"engine is {engine!r}; allowed: {', '.join(map(repr, ENGINES))}")


class Runnable(Protocol):
    """A graph in an engine."""

    def execute(self, arrays: Mapping[str, Any], execution: RunContext) -> dict[str, Any]:
        """Return the outputs for inputs that have been checked; what it keeps between runs is read-only."""


class Program(Runnable, Protocol):
    """What a format's reader leaves to be run."""

    def prepare(self) -> None:
        """Make ready what is kept between runs; an error of ours if a node cannot be run, whatever its operands."""

    def read_data(self) -> None:
        """Read what the model keeps in other files, so that it depends on none of them any more."""

    def in_engine(self, engine: str) -> Runnable:
        """Return the program as an engine other than ``"reference"`` runs it; ModelError if it cannot."""


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
    inner_divisions : tuple of InnerDivision
        The nodes that divide inside, and what: their quotients are as the runtime computes them.
    """

    inputs: tuple[ModelTensor, ...]
    outputs: tuple[ModelTensor, ...]
    divisions: tuple[Division, ...]
    _program: Program
    inner_divisions: tuple[InnerDivision, ...] = ()

    def __call__(self, *inputs: Any) -> Any:
        """Return the outputs for inputs in their order: an array, or a tuple of them if the model has several."""
        outputs = tuple(self.run(inputs).values())
        return outputs[0] if len(outputs) == 1 else outputs

    def run(
        self,
        inputs: Mapping[str, Any] | Sequence[Any],
        *,
        zero_divisor: ZeroDivisor = "raise",
        overflow: Overflow = "wrap",
        observer: Observer | None = None,
        engine: Engine = "reference",
    ) -> dict[str, NDArray[Any]]:
        """Return the model's outputs by name; the inputs are not modified, and no output shares their memory.

        Parameters
        ----------
        inputs : Mapping of str to array, or sequence of arrays
            By the names of `inputs`, or in their order; those that are optional may be left out.
        zero_divisor : {"raise", "zero", "saturate"}
            What integer divisions do with a zero divisor, as in `vinculum.div`.
        overflow : {"wrap", "raise", "saturate"}
            What they do with MIN/-1.
        observer : callable, optional
            Called with a `DivisionRecord` after every division that is executed.
        engine : {"reference", "onnxruntime", "openvino"}
            What runs all other operators: the reference evaluator of ONNX (of an IR this package, or OpenVINO where
            the IR has layers that it does not know); ONNX Runtime, which is faster, lacks some operators and versions,
            rounds sums in another order and dies of an integer Mod by zero; or OpenVINO's CPU device, which also
            narrows float64 to float32 and int64 to int32.

        Raises
        ------
        ModelError
            If an input is missing or surplus, or a node cannot be run; the line names it. If the engine is not
            installed, or cannot run such models.
        AttributeValueError
            If a policy or the engine is none of those above.
        ElementTypeError, BroadcastError
            If an input has another element type or shape than the model declares.
        DivisionByZeroError, IntegerOverflowError
            As the policies say; the message names the node.
        """
        outputs: dict[str, NDArray[Any]] = {}
        execution = RunContext(Policies(zero_divisor, overflow), observer)
        for name, value in self.evaluate(inputs, execution, engine).items():
            if not isinstance(value, np.ndarray):
                raise ModelError(f"output {quoted(name)} is not a tensor; vinculum.backend returns what is none")
            outputs[name] = value
        return outputs

    def map_blocks(
        self,
        inputs: Mapping[str, Any],
        *,
        batch_axis: int = 0,
        zero_divisor: ZeroDivisor = "raise",
        overflow: Overflow = "wrap",
        engine: Engine = "reference",
    ) -> dict[str, Any]:
        """Return the model's outputs as Dask arrays, each block computed from the inputs' blocks when it is asked for.

        The model must treat the items of a batch alike and apart from each other, which is not checked.

        Parameters
        ----------
        inputs : Mapping of str to dask.array.Array or array
            Dask arrays are cut along the batch axis and nowhere else; other arrays go whole to every block.
        batch_axis : int
            Of the inputs that are cut, and of all outputs.
        zero_divisor, overflow, engine : str
            As in `run`.

        Raises
        ------
        ModelError, AttributeValueError, ElementTypeError, BroadcastError
            At once, if the inputs or their blocks are not what the model declares, or an output declares no batch.
        DivisionByZeroError, IntegerOverflowError
            When it is computed; the message names the block, the index is one in it.
        """
        from vinculum.models.dask_blocks import map_blocks

        check_engine(engine)
        return map_blocks(self, inputs, batch_axis, Policies(zero_divisor, overflow), engine)

    def prepare(self) -> None:
        """Make ready what the first run would.

        Raises
        ------
        ModelError
            If there is a node that cannot be run, whatever its operands are; the line names it.
        """
        self._program.prepare()

    def read_data(self) -> None:
        """Read what the model keeps in other files now, not when it is run.

        Raises
        ------
        ModelError
            If a file cannot be read, or is shorter than it was.
        """
        self._program.read_data()

    def evaluate(
        self, inputs: Mapping[str, Any] | Sequence[Any], execution: RunContext, engine: Engine = "reference"
    ) -> dict[str, Value]:
        """Return the outputs as `run` does, and those that are no tensors too.

        A sequence is a list, an optional without a value None, a map a dict.
        """
        check_engine(engine)
        arrays = validated_inputs(self.inputs, inputs)
        program: Runnable = self._program if engine == "reference" else self._program.in_engine(engine)
        outputs: dict[str, Value] = {}
        for name, value in program.execute(arrays, execution).items():
            outputs[name] = _detached(value, [other for other in outputs.values() if isinstance(other, np.ndarray)])
        return outputs


def _detached(value: Value, others: Iterable[NDArray[Any]]) -> Value:
    """Return the value itself, or a copy if it shares memory with inputs, constants or other outputs.

    Inputs and constants may not be written, and a view of what may not be written may not be either.
    """
    if isinstance(value, list):
        # Items are always copied: to compare all with all takes longer.
        return [item.copy() if isinstance(item, np.ndarray) else _detached(item, ()) for item in value]
    if not isinstance(value, np.ndarray):
        return value
    if not value.flags.writeable or any(np.may_share_memory(value, other) for other in others):
        return value.copy()
    return value
