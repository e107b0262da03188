"""Running an OpenVINO graph of Parameter, Const, Convert, Divide, Unsqueeze, Squeeze, Reshape and Result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from numpy.typing import NDArray

from vinculum.errors import BroadcastError, ModelError
from vinculum.models.execution import Division, RunContext
from vinculum.models.model import Runnable
from vinculum.models.openvino_ir.element_conversion import convert
from vinculum.models.openvino_ir.layers import Bounds, Reshaping, check_bounds
from vinculum.models.openvino_ir.xml import Port
from vinculum.ops import openvino as openvino_ops
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue
from vinculum.text import quoted, shape_text


@dataclass(frozen=True)
class ParameterStep:
    """An input of the model; `bounds` are those of its dimensions, None for any rank."""

    name: str
    bounds: tuple[Bounds, ...] | None
    result: Port


@dataclass(frozen=True)
class ConvertStep:
    """Converts a value to an element type, or to ``"bool"``."""

    name: str
    target: ElementType | str
    operands: tuple[Port]
    result: Port

    def compute(self, execution: RunContext, value: NDArray[Any]) -> NDArray[Any]:
        """Return the converted value."""
        return convert(value, self.target)


@dataclass(frozen=True)
class DivideStep:
    """Divides two values by the rules of the layer's attributes."""

    division: Division
    attributes: Mapping[str, AttributeValue]
    operands: tuple[Port, Port]
    result: Port

    def compute(self, execution: RunContext, dividend: NDArray[Any], divisor: NDArray[Any]) -> NDArray[Any]:
        """Return the quotient."""
        options: dict[str, Any] = {**self.attributes, **asdict(execution.policies)}
        return execution.divide(self.division, dividend, divisor, lambda a, b: openvino_ops.divide(a, b, **options))

    @property
    def name(self) -> str:
        """The layer's name."""
        return self.division.name


@dataclass(frozen=True)
class ReshapeStep:
    """Gives a value another shape; the second operand, if there is one, holds the axes or the pattern."""

    name: str
    reshaping: Reshaping
    rank: int | None
    operands: tuple[Port, ...]
    result: Port

    def compute(self, execution: RunContext, value: NDArray[Any], pattern: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return a view of the value."""
        shape = self.reshaping.checked(value.shape, pattern)
        if shape is None or (self.rank is not None and len(shape) != self.rank):
            raise BroadcastError(
                f"{self.reshaping.title} has to drop dimensions of size 1 down to rank {self.rank}; its input has "
                f"shape {shape_text(value.shape)}"
            )
        return value.reshape([size or 0 for size in shape])


Step = ConvertStep | DivideStep | ReshapeStep


@dataclass(frozen=True, eq=False)
class OpenvinoProgram:
    """The layers of an IR file in execution order."""

    parameters: tuple[ParameterStep, ...]
    constants: Mapping[Port, NDArray[Any]]
    steps: tuple[Step, ...]
    results: Mapping[str, Port]
    in_openvino: Runnable

    def execute(self, arrays: Mapping[str, Any], execution: RunContext) -> dict[str, Any]:
        """Return the outputs for validated inputs; a value is dropped after its last use."""
        values = dict(self.constants)
        check_inputs(self.parameters, arrays)
        values.update((parameter.result, arrays[parameter.name]) for parameter in self.parameters)
        uses = Counter([*self.results.values(), *(port for step in self.steps for port in step.operands)])
        for step in self.steps:
            values[step.result] = step.compute(execution, *(values[port] for port in step.operands))
            for port in step.operands:
                uses[port] -= 1
                if not uses[port]:
                    del values[port]
        return {name: values[port] for name, port in self.results.items()}

    def prepare(self) -> None:
        """Do nothing: layers that cannot be run are refused when the file is read."""

    def read_data(self) -> None:
        """Do nothing: the data is read with the file."""

    def in_engine(self, engine: str) -> Runnable:
        """Return the program that runs in OpenVINO except its divisions; refuse ONNX Runtime, which reads no IR."""
        refuse_onnxruntime(engine)
        return self.in_openvino


def check_inputs(parameters: Iterable[ParameterStep], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse an array whose shape is outside of the bounds that its Parameter declares."""
    for parameter in parameters:
        if parameter.bounds is not None:
            check_bounds(f"input {quoted(parameter.name)}", parameter.bounds, arrays[parameter.name].shape)


def refuse_onnxruntime(engine: str) -> None:
    """Refuse to run an IR in ONNX Runtime."""
    if engine == "onnxruntime":
        raise ModelError(
            "the engine 'onnxruntime' runs ONNX models only; run the OpenVINO model with the engine 'reference' or "
            "'openvino'"
        )
