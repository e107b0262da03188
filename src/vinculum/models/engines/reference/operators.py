"""Vinculum's operators in the form that the reference evaluator's `new_ops` hook takes.

The hook finds operators by class name, so the classes are named after them. In a run of a `Model` they follow its
policies and report to its observer; in any other evaluator they use the default policies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TypeProto, helper
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_loop import Loop as ReferenceLoop

from vinculum.errors import VinculumError
from vinculum.models.execution import Division, RunContext, check_time
from vinculum.models.onnx.divisions import number_of
from vinculum.models.onnx.scopes import name_of
from vinculum.ops import onnx as onnx_ops
from vinculum.ops.policies import Policies
from vinculum.spec.rows import find


def reference_ops() -> list[type[OpRun]]:
    """Return the operator classes for ``onnx.reference.ReferenceEvaluator(model, new_ops=...)``.

    Every Div and Reciprocal of the graph and its subgraphs is then exact, by the rules of the operator set that the
    model imports. Integer zero divisors raise `DivisionByZeroError` and MIN/-1 wraps, as in `vinculum.div`. The
    evaluator does not pass the operators on to functions, neither the model's own nor those that define an operator by
    others: use `vinculum.backend` for these. Inside a subgraph the evaluator replaces an `ElementTypeError` by a
    ``TypeError``, whose cause is the `ElementTypeError`.

    Returns
    -------
    list of type
        A new list: Div and Reciprocal.
    """
    return [Div, Reciprocal]


@dataclass(frozen=True)
class Run:
    """The context of a run that the operators need."""

    execution: RunContext
    divisions: tuple[Division, ...]


CURRENT_RUN: ContextVar[Run] = ContextVar("vinculum.models.current_run")


class Interruption(Exception):  # noqa: N818  it carries an error, and a user never sees it
    """Carries a VinculumError, or an error of the observer, through the evaluator, which would replace some classes."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def quotient(
    execution: RunContext, division: Division, dividend: Any, divisor: Any, attributes: Mapping[str, Any]
) -> NDArray[Any]:
    """Return the quotient of a Div or Reciprocal in a run; the dividend of a Reciprocal is None."""
    options = {"opset": division.spec.since_version, **attributes}

    def compute(a: Any, b: Any) -> NDArray[Any]:
        quotients: NDArray[Any]
        if division.spec.name == "Reciprocal":
            quotients = onnx_ops.reciprocal(b, **options)
        else:
            quotients = onnx_ops.div(a, b, **options, **asdict(execution.policies))
        return quotients

    return execution.divide(division, dividend, divisor, compute)


class _DivisionNode(OpRun):
    """A node that Vinculum computes, by the rules of its operator set."""

    def __init__(self, onnx_node: NodeProto, run_params: dict[str, Any], schema: Any = None) -> None:
        super().__init__(onnx_node, run_params, schema)
        self._number = number_of(onnx_node)
        self._name = name_of(onnx_node)
        self._spec = find(onnx_node.op_type, opset=run_params["opsets"][""])

    def run(self, *operands: Any, **options: Any) -> Any:
        """Return the quotient; raise a VinculumError that the evaluator has wrapped in a TypeError."""
        try:
            return super().run(*operands, **options)  # type: ignore[no-untyped-call]  # the onnx package's has no types
        except TypeError as error:
            if isinstance(error.__cause__, VinculumError):
                raise error.__cause__ from None
            raise

    def _divide(self, dividend: Any, divisor: Any, attributes: Mapping[str, Any]) -> Any:
        run = CURRENT_RUN.get(None)
        if run is None:
            division = Division(self._name, "", self._spec)
            return (quotient(RunContext(Policies()), division, dividend, divisor, attributes),)
        if self._number is None:
            # A division in the definition of an operator that ONNX defines by others: MeanVarianceNormalization.
            division = Division(self._name, "an operator's own function", self._spec)
        else:
            division = run.divisions[self._number]
        try:
            return (quotient(run.execution, division, dividend, divisor, attributes),)
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
            check_time()
            own = (np.array(iteration, dtype=np.int64), np.array(True), *state)
            inputs = {**around, **dict(zip(self.body.input_names, own, strict=True))}
            condition, *results = self._run_body(inputs, attributes=attributes)
            state = results[: self.N]
            for scan, value in zip(scans, results[self.N :], strict=True):
                scan.append(value)
            going, iteration = bool(np.asarray(condition).item()), iteration + 1
        return (*state, *map(_stacked, scans, self.body.output_types[1 + self.N :]))


class Scan(OpRun):
    """ONNX Scan: the evaluator's own only goes forward along the first axis, and at least one step."""

    body: Any
    _run_body: Any

    def need_context(self) -> bool:
        """Ask for the values around."""
        return True

    def _run(self, *operands: Any, num_scan_inputs: int, **options: Any) -> Any:
        around, attributes = options.get("context") or {}, options.get("attributes")
        state, scanned = operands[:-num_scan_inputs], operands[-num_scan_inputs:]
        size, first = len(state), [0] * (num_scan_inputs + len(self.body.output_names))
        axes = options.get("scan_input_axes") or first
        backwards = options.get("scan_input_directions") or first
        slices = [
            np.moveaxis(x, axis, 0)[:: -1 if back else 1]
            for x, axis, back in zip(scanned, axes, backwards, strict=False)
        ]
        scans: list[list[NDArray[Any]]] = [[] for _ in self.body.output_names[size:]]
        for items in zip(*slices, strict=True):
            check_time()
            own = (*state, *map(np.asarray, items))
            inputs = {**around, **dict(zip(self.body.input_names, own, strict=True))}
            results = self._run_body(inputs, attributes=attributes)
            state = results[:size]
            for scan, value in zip(scans, results[size:], strict=True):
                scan.append(value)
        axes = options.get("scan_output_axes") or first
        backwards = options.get("scan_output_directions") or first
        ordered = [scan[:: -1 if back else 1] for scan, back in zip(scans, backwards, strict=False)]
        return (*state, *map(_stacked, ordered, self.body.output_types[size:], axes))


def _stacked(values: Sequence[NDArray[Any]], declared: TypeProto, axis: int = 0) -> NDArray[Any]:
    """Return the values of all iterations; if there is none, an empty array of the declared element type and rank."""
    if values:
        return np.stack(values, axis)
    tensor = declared.tensor_type
    sizes = [dim.dim_value if dim.HasField("dim_value") else 0 for dim in tensor.shape.dim]
    return np.stack([np.empty(sizes, helper.tensor_dtype_to_np_dtype(tensor.elem_type))], axis).take([], axis)
