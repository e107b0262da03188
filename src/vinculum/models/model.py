"""A model in memory: its inputs, its outputs, its divisions, and how it is run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import AttributeValueError, ModelError
from vinculum.models.execution import Division, Observer, RunContext
from vinculum.models.inner_divisions import InnerDivision
from vinculum.models.values import ModelTensor, Value, validated_inputs
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor
from vinculum.shown import Shown
from vinculum.text import quoted

Engine = Literal["reference", "onnxruntime", "openvino"]
ENGINES = get_args(Engine)
ADVICE = "try the reference engine"
"""For a model that another engine refuses."""


def check_engine(engine: str) -> None:
    """Refuse an unknown engine.

    Raises
    ------
    AttributeValueError
        If there is no such engine; the message lists those allowed.
    """
    if engine not in ENGINES:
        raise AttributeValueError(f"engine is {engine!r}; allowed: {', '.join(map(repr, ENGINES))}")


class Runnable(Protocol):
    """A graph in an engine."""

    def execute(self, arrays: Mapping[str, Any], execution: RunContext) -> dict[str, Any]:
        """Return the outputs for validated inputs; data kept between runs is read-only."""


class Program(Runnable, Protocol):
    """A model as its format's reader prepares it for running."""

    def prepare(self) -> None:
        """Prepare what is kept between runs; a VinculumError if a node can never be run."""

    def read_data(self) -> None:
        """Read the data that the model keeps in other files, so that it no longer depends on them."""

    def in_engine(self, engine: str) -> Runnable:
        """Return the program for an engine other than ``"reference"``; ModelError if the engine cannot run it."""


@dataclass(frozen=True, eq=False)
class Model(Shown):
    """A model that `vinculum.load` read, whose every division is computed by this package's engine.

    Attributes
    ----------
    inputs : tuple of ModelTensor
        The inputs of `run`, in the file's order.
    outputs : tuple of ModelTensor
        The outputs of `run`, in the file's order.
    divisions : tuple of Division
        Every division node, including those of subgraphs and functions; a function's divisions are listed once,
        however often it is called.
    inner_divisions : tuple of InnerDivision
        The nodes that divide internally. The engine, and not this package, computes these quotients.
    source : path, bytes or ModelProto
        What it was loaded from, a program of torch.export as ONNX. `vinculum.check` and the other functions
        on models read it again.
    """

    inputs: tuple[ModelTensor, ...]
    outputs: tuple[ModelTensor, ...]
    divisions: tuple[Division, ...]
    _program: Program = field(repr=False)
    inner_divisions: tuple[InnerDivision, ...] = ()
    source: Any = field(default=None, repr=False)

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
            By the names of `inputs`, or in their order; optional ones may be omitted.
        zero_divisor : {"raise", "zero", "saturate"}
            What integer divisions do with a zero divisor, as in `vinculum.div`.
        overflow : {"wrap", "raise", "saturate"}
            What they do with MIN/-1.
        observer : callable, optional
            Called with a `DivisionRecord` after every executed division.
        engine : {"reference", "onnxruntime", "openvino"}
            What runs all other operators. ``"reference"``: the reference evaluator of ONNX; for an IR always OpenVINO.
            ``"onnxruntime"``: it is faster, but lacks some operators and versions, and rounds sums in another order;
            Mod is computed by this package too. ``"openvino"``: the CPU device, which also narrows float64 to float32
            and int64 to int32.

        Raises
        ------
        ModelError
            If an input is missing or surplus, or a node cannot be run; the message names it. If the engine is not
            installed, or cannot run such models.
        AttributeValueError
            If a policy or the engine is not one of those above.
        ElementTypeError, BroadcastError
            If an input has another element type or shape than the model declares.
        DivisionByZeroError, IntegerOverflowError
            According to the policies; the message names the node.
        """
        outputs: dict[str, NDArray[Any]] = {}
        execution = RunContext(Policies(zero_divisor, overflow), observer)
        for name, value in self.evaluate(inputs, execution, engine).items():
            if not isinstance(value, np.ndarray):
                raise ModelError(f"output {quoted(name)} is not a tensor; vinculum.backend returns other values too")
            outputs[name] = value
        return outputs

    def prepare(self) -> None:
        """Do the preparation of the first run now.

        Raises
        ------
        ModelError
            If a node can never be run; the message names it.
        """
        self._program.prepare()

    def read_data(self) -> None:
        """Read the data that the model keeps in other files now, not at the first run.

        Raises
        ------
        ModelError
            If a file cannot be read, or has become shorter.
        """
        self._program.read_data()

    def evaluate(
        self, inputs: Mapping[str, Any] | Sequence[Any], execution: RunContext, engine: Engine = "reference"
    ) -> dict[str, Value]:
        """Return the outputs as `run` does, including those that are not tensors.

        A sequence is a list, an empty optional is None, a map is a dict.
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

    Inputs and constants are read-only, and so are views of them.
    """
    if isinstance(value, list):
        # Items are always copied: comparing all pairs takes longer.
        return [item.copy() if isinstance(item, np.ndarray) else _detached(item, ()) for item in value]
    if not isinstance(value, np.ndarray):
        return value
    if not value.flags.writeable or any(np.may_share_memory(value, other) for other in others):
        return value.copy()
    return value
