"""Our operators in the shape that the reference evaluator's `new_ops` hook takes.

The hook goes by the names of the classes, so they are those of the operators.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, helper
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_loop import Loop as ReferenceLoop

from vinculum.models.execution import Division, Execution
from vinculum.models.onnx_divisions import number_of
from vinculum.models.onnx_scopes import name_of
from vinculum.ops import onnx as onnx_ops
from vinculum.spec.registry import find


@dataclass(frozen=True)
class Run:
    """What the operators need to know of the run that they are part of."""

    execution: Execution
    divisions: tuple[Division, ...]


CURRENT_RUN: ContextVar[Run] = ContextVar("vinculum.models.current_run")


class Interruption(Exception):  # noqa: N818  it carries an error, and is never one that a user sees
    """Carries an error of ours, or of the observer, through the evaluator, which rewrites some that it knows."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class _DivisionNode(OpRun):
    """A node that our engine computes, at the operator set that it stands in."""

    def __init__(self, onnx_node: NodeProto, run_params: dict[str, Any], schema: Any = None) -> None:
        super().__init__(onnx_node, run_params, schema)
        self._number = number_of(onnx_node)
        spec = find(onnx_node.op_type, opset=run_params["opsets"][""])
        # Operators that ONNX defines by others, such as MeanVarianceNormalization, hold divisions of their own.
        self._own = Division(name_of(onnx_node), "an operator's own function", spec)

    def _divide(self, dividend: Any, divisor: Any, attributes: Mapping[str, Any]) -> Any:
        run = CURRENT_RUN.get()
        division = self._own if self._number is None else run.divisions[self._number]
        options = {"opset": division.spec.since_version, **attributes}

        def compute(a: Any, b: Any) -> NDArray[Any]:
            if division.spec.name == "Reciprocal":
                return onnx_ops.reciprocal(b, **options)
            return onnx_ops.div(a, b, **options, **asdict(run.execution.policies))

        try:
            return (run.execution.divide(division, dividend, divisor, compute),)
        except Exception as error:
            raise Interruption(error) from None


class Div(_DivisionNode):
    """ONNX Div."""

    def _run(self, dividend: Any, divisor: Any, **attributes: Any) -> Any:
        return self._divide(dividend, divisor, attributes)


class Reciprocal(_DivisionNode):
    """ONNX Reciprocal."""

    def _run(self, divisor: Any, **attributes: Any) -> Any:
        return self._divide(None, divisor, attributes)


class Loop(ReferenceLoop):
    """ONNX Loop: the evaluator's own runs no iteration without a condition and stacks scan outputs wrongly."""

    body: Any
    _run_body: Any

    def _run(self, *operands: Any, **options: Any) -> Any:
        limit, condition, *state = operands
        around, attributes = options.get("context") or {}, options.get("attributes")
        scans: list[list[NDArray[Any]]] = [[] for _ in range(self.K)]
        iteration, going = 0, condition is None or bool(np.asarray(condition).item())
        while going and (limit is None or iteration < np.asarray(limit).item()):
            own = (np.array(iteration, dtype=np.int64), np.array(True), *state)
            inputs = {**around, **dict(zip(self.body.input_names, own, strict=True))}
            condition, *results = self._run_body(inputs, attributes=attributes)
            state = results[: self.N]
            for scan, value in zip(scans, results[self.N :], strict=True):
                scan.append(value)
            going, iteration = bool(np.asarray(condition).item()), iteration + 1
        stacked = [np.stack(scan) if scan else self._empty(number) for number, scan in enumerate(scans)]
        return (*state, *stacked)

    def _empty(self, scan: int) -> NDArray[Any]:
        """Return what a scan output is after no iteration: nothing, of the declared element type and rank."""
        declared = self.body.output_types[1 + self.N + scan].tensor_type
        sizes = [dim.dim_value if dim.HasField("dim_value") else 0 for dim in declared.shape.dim]
        return np.empty((0, *sizes), dtype=helper.tensor_dtype_to_np_dtype(declared.elem_type))
