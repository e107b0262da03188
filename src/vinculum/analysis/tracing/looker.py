"""Values of a run, summarised in the process that computes them, so that only summaries are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.analysis.tracing.record import Operand, Summary
from vinculum.models.engines.exposed import ExposedModel
from vinculum.models.execution import DivisionRecord


@dataclass(frozen=True, eq=False)
class InnerZero:
    """A division by zero inside of a subgraph or a function, the first of its node.

    Attributes
    ----------
    scope, node, operator : str
        As in `Division`.
    index : tuple of int
        The first quotient.
    count, size : int
        How many quotients have a divisor of zero, of how many.
    result : float
        The quotient.
    element_type : str
        Its type.
    operands : tuple of Operand
        Dividend, unless the operator is Reciprocal, and divisor.
    """

    scope: str
    node: str
    operator: str
    index: tuple[int, ...]
    count: int
    size: int
    result: float
    element_type: str
    operands: tuple[Operand, ...]


@dataclass(frozen=True, eq=False)
class Detail:
    """An element of a result and what it was computed from."""

    index: tuple[int, ...] | None
    count: int
    size: int
    result: float | None
    operands: tuple[Operand, ...]


class Looker:
    """A model in an engine; made to live in a process of its own.

    Parameters
    ----------
    engine : {"reference", "onnxruntime"}
        As in `ExposedModel`.
    content : bytes
        The model, complete.
    """

    def __init__(self, engine: str, content: bytes) -> None:
        self._inner: dict[tuple[str, str], InnerZero] = {}
        self._model = ExposedModel(engine, content, self._observe)

    def look(self, names: Sequence[str], inputs: Mapping[str, Any]) -> tuple[dict[str, Summary], tuple[InnerZero, ...]]:
        """Return summaries of values, and the divisions by zero outside the main graph."""
        self._inner.clear()
        values = self._model.values(names, inputs)
        found = {name: summary(name, value) for name, value in values.items() if isinstance(value, np.ndarray)}
        return found, tuple(self._inner.values())

    def detail(
        self, kind: str, result: str, operands: Sequence[str], constants: Mapping[str, Any], inputs: Mapping[str, Any]
    ) -> Detail:
        """Return the first element of a result that is what `kind` says, and what it was computed from.

        - `kind`: a value of `Kind`; of a zero divisor the divisor is the last operand.
        """
        names = [result, *(name for name in operands if name not in constants)]
        values = {**constants, **inputs, **self._model.values(names, inputs)}
        return _detail(kind, values[result], {name: np.asarray(values[name]) for name in operands if name in values})

    def _observe(self, record: DivisionRecord) -> None:
        division = record.division
        if not division.path or (division.path, division.name) in self._inner or bool((record.divisor != 0).all()):
            return
        operands = {} if record.dividend is None else {"dividend": record.dividend}
        found = _detail("zero divisor", record.quotient, {**operands, "divisor": record.divisor})
        if found.index is None or found.result is None:
            return
        self._inner[division.path, division.name] = InnerZero(
            division.path,
            division.name,
            division.spec.name,
            found.index,
            found.count,
            found.size,
            found.result,
            record.quotient.dtype.name,
            found.operands,
        )


def summary(name: str, value: NDArray[Any]) -> Summary:
    """Return a summary of a tensor."""
    if value.dtype.kind in "OUSTc" or not value.size:
        return Summary(name, value.dtype.name, value.shape, 0, 0, 0, np.nan, np.nan, value.nbytes)
    nan = np.isnan(value) if is_float(value) else np.zeros((), bool)
    infinite = int(np.isinf(value).sum()) if is_float(value) else 0
    numbers = value[~nan] if nan.any() else value
    ends = (float(numbers.min()), float(numbers.max())) if numbers.size else (np.nan, np.nan)
    zeros = int((value == 0).sum())
    return Summary(name, value.dtype.name, value.shape, zeros, int(nan.sum()), infinite, *ends, value.nbytes)


def is_float(value: NDArray[Any]) -> bool:
    """Tell whether elements can be NaN."""
    return value.dtype.kind == "f" or (value.dtype.kind == "V" and "float" in value.dtype.name)


def _detail(kind: str, result: NDArray[Any], operands: Mapping[str, NDArray[Any]]) -> Detail:
    wrong = _wrong(kind, result, operands)
    if wrong is None or not wrong.any():
        return Detail(None, 0, result.size, None, tuple(Operand(summary(*one)) for one in operands.items()))
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), result.shape))
    told = tuple(_operand(name, value, index, result.shape) for name, value in operands.items())
    return Detail(index, int(wrong.sum()), result.size, float(result[index]), told)


def _wrong(kind: str, result: NDArray[Any], operands: Mapping[str, NDArray[Any]]) -> NDArray[Any] | None:
    if kind == "NaN":
        return np.asarray(np.isnan(result))
    if kind == "infinity":
        return np.asarray(np.isinf(result))
    divisor = list(operands.values())[-1]
    try:
        return np.asarray(np.broadcast_to(divisor == 0, result.shape))
    except ValueError:  # Before operator set 7 a divisor may stand elsewhere in the dividend.
        return None


def _operand(name: str, value: NDArray[Any], index: tuple[int, ...], shape: tuple[int, ...]) -> Operand:
    """Return an operand with the element at an index of the result, if its shape broadcasts to the result's."""
    known = summary(name, value)
    fits = value.ndim <= len(shape) and all(
        size in (1, wanted) for size, wanted in zip(value.shape[::-1], shape[::-1], strict=False)
    )
    if not fits or value.dtype.kind in "OUSTc" or not value.size:
        return Operand(known)
    own = index[len(index) - value.ndim :]
    place = tuple(0 if size == 1 else i for i, size in zip(own, value.shape, strict=True))
    return Operand(known, place, float(value[place]))
