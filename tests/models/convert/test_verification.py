"""``--verify``: both models run on the same inputs, and every bit of their outputs is compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.models.built_models import one_line, text_model
from vinculum import div, divide
from vinculum.errors import BroadcastError, DifferenceError, ModelError
from vinculum.models import Model, ModelTensor, load
from vinculum.models.convert.verification import Verification, verify
from vinculum.models.execution import LimitError, RunContext
from vinculum.spec.element_types import DOUBLE, FLOAT, INT4, INT32, INT64, ElementType

Function = Callable[..., Any]


@dataclass(frozen=True)
class Computed:
    """A program that calls a function with the inputs in their order."""

    function: Function
    names: tuple[str, ...]
    lacking: str | None = None

    def execute(self, arrays: Mapping[str, Any], execution: RunContext) -> dict[str, Any]:
        results = self.function(*arrays.values())
        return dict(zip(self.names, results if isinstance(results, tuple) else (results,), strict=True))

    def prepare(self) -> None:
        if self.lacking is not None:
            raise ModelError(self.lacking)

    def read_data(self) -> None:
        """Do nothing: there are none."""

    def in_engine(self, engine: str) -> Computed:
        raise ModelError("a function is no ONNX model")


def model(
    function: Function,
    element_type: ElementType | str = FLOAT,
    *,
    inputs: tuple[tuple[int | str | None, ...] | None, ...] = (("N",), ("N",)),
    outputs: tuple[str, ...] = ("c",),
    result: ElementType | str | None = None,
) -> Model:
    """Return a model that computes a function of inputs a, b, ..."""
    declared = tuple(ModelTensor(name, element_type, shape) for name, shape in zip("abcd", inputs, strict=False))
    returned = tuple(ModelTensor(name, result or element_type, None) for name in outputs)
    return Model(declared, returned, (), Computed(function, outputs))


def quotient(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return divide(a, b, m_pythondiv=False, zero_divisor="zero")


def floored(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return divide(a, b, zero_divisor="zero")


def saturated(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return div(a, b, zero_divisor="zero", overflow="saturate")


def _one_ulp_off(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    exact = quotient(a, b)
    return np.where(exact == 1.5, np.nextafter(exact, exact.dtype.type(9)), exact)


def _by_reciprocal(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return np.asarray(a * (1 / b))


def _sign_of_zero_lost(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(quotient(a, b) + 0)


class TestWrongConversions:
    """Each of these differences raises an error."""

    @pytest.mark.parametrize("shapes", [(("N",), ("N",)), ((2, 3, 4, 5), (4, 1)), ((), ()), (None, None)], ids=str)
    @pytest.mark.parametrize(
        ("element_type", "wrong", "values"),
        [
            (INT32, floored, ""),
            (INT4, floored, ""),
            (INT64, saturated, "-9223372036854775808 in the original, 9223372036854775807 in"),
            (FLOAT, _by_reciprocal, "(0x"),
            (DOUBLE, _by_reciprocal, "(0x"),
            (FLOAT, _sign_of_zero_lost, "0.0 (0x80000000) in the original, 0.0 (0x00000000) in"),
        ],
    )
    def test_quotients(self, shapes: tuple[Any, ...], element_type: ElementType, wrong: Function, values: str) -> None:
        with one_line(DifferenceError, "output 'c' differs at index (", values, " elements differ (inputs: set "):
            verify(model(quotient, element_type, inputs=shapes), model(wrong, element_type, inputs=shapes))

    def test_one_ulp_in_a_rare_element(self) -> None:
        with one_line(DifferenceError, "1.5 (0x3fc00000) in the original, 1.5000001 (0x3fc00001) in"):
            verify(model(quotient), model(_one_ulp_off))

    def test_a_dropped_axis(self) -> None:
        def with_axis(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
            return div(a, b[..., np.newaxis])

        shapes = (("N", "M", "K"), ("N", "M"))
        with pytest.raises(DifferenceError):
            verify(model(with_axis, inputs=shapes), model(quotient, inputs=shapes))

    def test_another_declared_type(self) -> None:
        with pytest.raises(DifferenceError, match="output 'c' is of element type float in the original, double in"):
            verify(model(quotient), model(quotient, result=DOUBLE))
        with pytest.raises(DifferenceError, match="input 'a' is of element type int32 in the original, int64 in"):
            verify(model(quotient, INT32), model(quotient, INT64, result=INT32))
        assert verify(model(quotient, result="unknown"), model(quotient)).compared > 0

    @pytest.mark.parametrize("names", [("d",), ("c", "d"), ()])
    def test_other_outputs(self, names: tuple[str, ...]) -> None:
        with pytest.raises(DifferenceError, match="the outputs of the original are 'c'; converted: "):
            verify(model(quotient), model(quotient, outputs=names))

    def test_another_order(self) -> None:
        both = model(lambda a, b: (a, b), outputs=("c", "d"))
        with pytest.raises(DifferenceError, match="the outputs of the original are 'c', 'd'; converted: 'd', 'c'"):
            verify(both, model(lambda a, b: (b, a), outputs=("d", "c")))
        with pytest.raises(DifferenceError, match="the inputs of the original are 'a', 'b'; converted: 'b', 'a'"):
            verify(both, replace(both, inputs=both.inputs[::-1]))

    def test_the_second_output(self) -> None:
        with pytest.raises(DifferenceError, match="output 'd'"):
            verify(*(model(lambda a, b, k=k: (a, b + k), outputs=("c", "d")) for k in (0, 1)))


class TestEqual:
    """Equal bits are no difference, and any NaN is any other."""

    def test_what_was_compared(self) -> None:
        assert verify(model(quotient, inputs=((2, 3), (3,))), model(quotient, inputs=((2, 3), (3,)))) == Verification(
            112, 112 * 6, 0
        )

    @pytest.mark.parametrize("element_type", ["bool", "string", "complex64", "int2", "float8e8m0", "float8e4m3fnuz"])
    def test_types_that_never_divide(self, element_type: str) -> None:
        same, other = (model(lambda a, b, k=k: (a, b)[k], element_type) for k in (0, 1))
        assert verify(same, same).compared == 112
        with pytest.raises(DifferenceError, match="output 'c' differs at index"):
            verify(same, other)

    def test_values_that_are_no_tensors(self) -> None:
        names = ("c", "d", "e")
        results: list[Function] = [lambda a, b: ([a, b], None, {"k": a}), lambda a, b: ([a, b], None, {"k": b})]
        assert verify(*(model(results[0], outputs=names) for _ in range(2))).skipped == 0
        with pytest.raises(DifferenceError, match="entry 'k' of output 'e' differs"):
            verify(*(model(result, outputs=names) for result in results))

    def test_sequences_go_in(self) -> None:
        items = ModelTensor("a", "sequence", None, element=ModelTensor("a", FLOAT, ("N",)))
        of_items = replace(model(lambda a: a[0]), inputs=(items,))
        assert verify(of_items, of_items).skipped == 0


class TestRefusedInputs:
    """If the original refuses a set of inputs, the converted model must refuse it too."""

    @staticmethod
    def _picky(error: Exception, outcome: Function = quotient) -> Model:
        """Return a model that raises an error for every set of inputs except the first."""
        sets = iter(range(10**6))

        def function(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
            if next(sets) > 0:
                raise error
            return np.asarray(outcome(a, b))

        return model(function)

    def test_both_refuse(self) -> None:
        picky = [self._picky(ModelError(f"node 'x' cannot be run: {k}")) for k in "ab"]
        assert verify(*picky) == Verification(1, 3, 111, "node 'x' cannot be run: a")

    def test_one_refuses(self) -> None:
        runs = model(quotient)
        with one_line(DifferenceError, "the converted runs, the original does not: no (inputs: set 1)"):
            verify(self._picky(ModelError("no")), runs)
        with one_line(DifferenceError, "the original runs, the converted does not: no (inputs: set 1)"):
            verify(runs, self._picky(ModelError("no")))

    def test_shapes_and_limits(self) -> None:
        runs = model(quotient)
        for error in (BroadcastError("shapes"), LimitError("too long")):
            assert verify(self._picky(error), runs).skipped == 111
        assert verify(runs, self._picky(LimitError("too long"))).skipped == 111

    def test_not_verified(self) -> None:
        def never(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
            raise ModelError("node 'x' cannot be run")

        runs, noise = model(quotient), np.random.default_rng(0)
        lacking = replace(runs, _program=Computed(quotient, ("c",), "node 'n' (Gemm) cannot be run: no"))
        random = model(lambda a, b: a + noise.random(a.shape, np.float32))
        odd = model(lambda a: a, "map", inputs=(None,))
        cases: list[tuple[Model, Model, str]] = [
            (lacking, runs, "in the original node 'n' (Gemm) cannot be run: no"),
            (runs, lacking, "in the converted node 'n' (Gemm) cannot be run: no"),
            (random, random, "the original itself gives other outputs at every run"),
            (odd, odd, "input 'a' (map, shape of any rank) is not a tensor"),
        ]
        for original, converted, reason in cases:
            with one_line(ModelError, f"the conversion cannot be verified: {reason}", "; give --no-verify to write it"):
                verify(original, converted)
        words = "cannot be verified: node 'x' cannot be run; give inputs that it runs on with --input, or --no-verify"
        with one_line(ModelError, words):
            verify(model(never), model(never))


class TestBounds:
    """Verifying takes bounded time and memory, and compares at least one set."""

    def test_slow_models(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "vinculum.models.convert.verification._SECONDS", -1.0
        )  # Clocks may stand still for a while.
        assert verify(model(quotient), model(quotient)).compared == 8

    def test_endless_loops(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("vinculum.models.convert.verification._SECONDS", 0.2)
        body = "(int64 i, bool go, float s) => (bool on, float t) { on = Identity(go) t = Neg(s) }"
        looping = load(text_model(f"y = Loop <body = body {body}> (n, , x)", "int64 n, float x", "float y"))
        verified = verify(looping, looping)
        assert verified.compared > 1
        assert verified.reason == "a loop takes longer than a trial run may"

    def test_sizes_that_an_input_asks_for(self) -> None:
        filling = load(text_model("y = ConstantOfShape(n)", "int64[1] n", "float[N] y"))
        verified = verify(filling, filling)
        assert verified.compared > 1
        assert verified.skipped > 1
