"""Operations and cases for tests, and the answers of runtimes, in this process or in another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from vinculum.conformance.arithmetic import Answered
from vinculum.conformance.cases.case import Case, CaseId, Expectation, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.run.judgement import judge
from vinculum.conformance.runtimes.backends import MAKER, names, parsed
from vinculum.errors import VinculumError
from vinculum.sandbox import Answer, CrashedError, End, Isolated, UnsupportedError
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue, OperatorSpec
from vinculum.spec.onnx_div import DIV_14
from vinculum.tensors.storage import dtype_of

OURS = frozenset(names())


def operation(
    spec: OperatorSpec, *operands: NDArray[Any], constant: bool | tuple[bool, ...] = False, **attributes: AttributeValue
) -> Operation:
    """Return an operation; `constant` is for all operands, or for each of them."""
    each = constant if isinstance(constant, tuple) else (constant,) * len(operands)
    return Operation(spec, attributes, operands, each)


def small(spec: OperatorSpec, element_type: ElementType, constant: bool) -> Operation:
    """Return an operation on small numbers that are in every type; some of the quotients are rounded."""
    dtype = dtype_of(element_type)
    operands = (np.array([[7, 6, 5], [4, 3, 2]]).astype(dtype), np.array([[2, 3, 2], [3, 2, 1]]).astype(dtype))
    return operation(spec, *operands[2 - len(spec.inputs) :], constant=constant)


def same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Tell whether two arrays have the same type, shape and bits."""
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    return bool(np.all(one == other)) if one.dtype == object else one.tobytes() == other.tobytes()


@cache
def _kept(backend: str) -> Isolated:
    return Isolated(MAKER, backend)


def answer(backend: str, *operations: Operation) -> list[Answer]:
    """Return a runtime's answers from another process; built-in runtimes keep one process for all tests."""
    if parsed(backend)[0] in OURS:
        return [_kept(backend).call("answer", asked) for asked in operations]
    with Isolated(MAKER, backend) as isolated:
        return [isolated.call("answer", asked) for asked in operations]


def message(kind: type[VinculumError], call: Callable[[], object]) -> str:
    """Return the message of the error that a call raises; it must be of exactly this class, and one line."""
    with pytest.raises(kind) as caught:
        call()
    line = str(caught.value)
    assert type(caught.value) is kind
    assert "\n" not in line
    return line


def executed(program: str) -> str:
    """Run a program in this process, in its own namespace, and return its output."""
    output = StringIO()
    with redirect_stdout(output), np.printoptions():  # which programs set
        exec(compile(program, "program", "exec"), {})
    return output.getvalue()


def array(values: Any, element_type: ElementType) -> NDArray[Any]:
    """Return values as an array of an element type."""
    return np.array(values, object if element_type.bits == 0 else None).astype(dtype_of(element_type))


def case_id(text: str) -> CaseId:
    """Return the id that a text stands for."""
    row, *parts = text.split("/")
    operator, _, rounding = row.rpartition(" ") if row.endswith((" floor", " truncating")) else (row, "", "")
    return CaseId(operator, rounding, *parts)


def case(
    element_type: ElementType,
    operands: Sequence[Any],
    quotient: Any,
    *,
    unspecified: Any = None,
    spec: OperatorSpec = DIV_14,
    attributes: Mapping[str, AttributeValue] | None = None,
) -> Case:
    """Return a case; a quotient of None must be refused."""
    arrays = tuple(array(operand, element_type) for operand in operands)
    operation = Operation(spec, attributes or {}, arrays, (False,) * len(arrays))
    expected = None if quotient is None else array(quotient, element_type)
    expectation = Expectation(expected, None if unspecified is None else np.array(unspecified, bool))
    id = CaseId(spec.title, "", str(element_type), "a", "b", "c")
    return Case(id, spec.clauses[0].tag, element_type, lambda: operation, lambda: expectation, Level.QUICK)


@cache
def asked(level: Level, *rows: OperatorSpec) -> tuple[Case, ...]:
    """Return the cases of a level, whose expectations are computed once for all tests."""
    return tuple(cases(level, rows or None))


def answered(divider: Any, chosen: Iterable[Case]) -> list[Answered]:
    """Return a runtime's answers to the cases that it covers."""
    covered = (case for case in chosen if divider.covers(case.operation))
    return [judged(case, outcome(divider.answer, case.operation)) for case in covered]


def judged(case: Case, answer: Answer) -> Answered:
    """Return a case with an answer to it."""
    return Answered(case, answer, judge(case.operation, case.expectation, answer))


def outcome(called: Callable[..., Any], *arguments: Any) -> Answer:
    """Return the outcome of a call in this process."""
    try:
        return Answer(End.RETURNED, called(*arguments))
    except CrashedError as error:
        return Answer(End.CRASHED, words=str(error))
    except UnsupportedError as error:
        return Answer(End.UNSUPPORTED, words=str(error))
    except Exception as error:
        return Answer(End.REFUSED, words=str(error))
