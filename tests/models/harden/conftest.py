"""What the tests of hardening share: models of one division, and the real runtimes, each in its own process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, checker, helper, numpy_helper

from tests.optional import skip_without
from vinculum.models.engines.model_runner import Case, Outcome, run_cases
from vinculum.sandbox import Answer, End, Isolated
from vinculum.spec.element_types import ElementType

Operand = NDArray[Any] | Sequence[int | str | None]
Cases = Sequence[tuple[ModelProto, Mapping[str, Any] | None]]


def _require(runtime: str) -> None:
    if runtime != "reference":
        skip_without(runtime)


@pytest.fixture
def require() -> Callable[[str], None]:
    """Return a function that skips the test if a runtime is not installed."""
    return _require


@pytest.fixture(scope="session")
def started() -> Iterator[Callable[[str], Isolated]]:
    """Return a function that gives a runtime in a process, one for all tests: to import it takes longer than a test."""
    with ExitStack() as stack:
        yield cache(
            lambda runtime: stack.enter_context(Isolated("vinculum.models.engines.model_runner:ModelRunner", runtime))
        )


@pytest.fixture
def outcomes(started: Callable[[str], Isolated]) -> Callable[..., list[Outcome]]:
    """Return a function that checks models and runs them in a runtime."""

    def run(runtime: str, cases: Cases) -> list[Outcome]:
        _check(runtime, cases)
        runner = started(runtime)
        return [_outcome(runner.call("run", model.SerializeToString(), inputs)) for model, inputs in cases]

    return run


@pytest.fixture
def outcomes_apart() -> Callable[..., list[Outcome]]:
    """Return a function that checks models and runs them in a runtime, in a process that is started for them."""

    def run(runtime: str, cases: Cases) -> list[Outcome]:
        _check(runtime, cases)
        return list(run_cases(runtime, [Case(model.SerializeToString(), inputs) for model, inputs in cases]))

    return run


def _check(runtime: str, cases: Cases) -> None:
    _require(runtime)
    for model, _ in cases:
        checker.check_model(model, full_check=True)


def _outcome(answer: Answer) -> Outcome:
    if answer.end is End.RETURNED:
        return Outcome(outputs=tuple(answer.value))
    return Outcome(problem=f"{answer.end.value}: {answer.words}")


@pytest.fixture
def division() -> Callable[..., ModelProto]:
    """Return a function that builds ``C = A / B``; an operand that is given as an array is an initializer."""

    def build(element_type: ElementType, a: Operand, b: Operand, *, opset: int = 17) -> ModelProto:
        code = element_type.onnx_code or 0
        inputs = [helper.make_tensor_value_info("unused", 1, (1,))]
        initializers = []
        for name, operand in (("A", a), ("B", b)):
            if isinstance(operand, np.ndarray):
                initializers.append(numpy_helper.from_array(operand, name))
            else:
                inputs.append(helper.make_tensor_value_info(name, code, operand))
        rank = max(x.ndim if isinstance(x, np.ndarray) else len(x) for x in (a, b))
        nodes = [
            helper.make_node("Div", ["A", "B"], ["C"], "ratio"),
            helper.make_node("Identity", ["unused"], ["same"]),
        ]
        outputs = [
            helper.make_tensor_value_info("C", code, [None] * rank),
            helper.make_tensor_value_info("same", 1, (1,)),
        ]
        graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)

    return build
