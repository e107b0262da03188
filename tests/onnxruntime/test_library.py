"""The library for ONNX Runtime in a minimal host: registration, results, inferred shapes and errors."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from fractions import Fraction
from math import floor, prod, trunc
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, call

import numpy as np
import pytest

import vinculum
from tests.kernels.comparing import DTYPES, FLOATS, INTEGERS, assert_same, encodings, is_nan
from tests.kernels.witness import TYPES, crossed, pairs, random_encodings, values
from tests.onnxruntime.host import INPUTS, NAME, NUMBERS, START, Array, Host, HostError, Node, Shape, field
from tests.optional import needs_core
from vinculum.errors import AttributeValueError, VinculumError
from vinculum.models.engines.onnxruntime.divider import Divider
from vinculum.onnxruntime import get_library_path, register
from vinculum.reference.rounding import round_to_nearest_even

pytestmark = needs_core()
DIVIDERS: list[Any] = []
VERSIONS = ("1.23.0", "1.24.1", "1.32.0")


@pytest.fixture(params=VERSIONS)
def host(request: pytest.FixtureRequest) -> Host:
    """Return a host in which the library is registered."""
    host = Host(request.param)
    host.register()
    return host


def of_shape(name: str, shape: tuple[int, ...], seed: int) -> Array:
    """Return operands; integers are never zero."""
    flat = random_encodings(name, prod(shape), seed)
    if name in INTEGERS:
        flat[flat == 0] = 1
    return flat.reshape(shape)


def _remainder(a: Any, b: Any, *, of_c: bool) -> Any:
    """Return a remainder with the dividend's sign, as C's, or with the divisor's; of integers or rationals."""
    return a - b * (trunc(Fraction(a) / b) if of_c else floor(Fraction(a) / b))


class TestRegistering:
    """Registration with entries of the session's configuration."""

    def test_operators(self, host: Host) -> None:
        names = [field(op, NAME, ctypes.c_char_p, ctypes.c_void_p)(op) for op in host.operators]
        assert {name: names.count(name) for name in names} == {b"Div": 12, b"Reciprocal": 4, b"Mod": 12}
        inputs = {field(op, INPUTS, ctypes.c_size_t, ctypes.c_void_p)(op) for op in host.operators}
        assert inputs == {1, 2}

    @pytest.mark.parametrize(("fusions", "starts"), [("0", {1}), ("1", {6, 7, 10})])
    def test_what_may_be_fused(self, fusions: str, starts: set[int]) -> None:
        host = Host()
        host.register({"custom_op.vinculum.fusions": fusions})
        assert {field(op, START, ctypes.c_int, ctypes.c_void_p)(op) for op in host.operators} == starts

    def test_the_same_settings_twice(self) -> None:
        """Operators are shared between registrations with the same settings."""
        host, entries = Host(), {"custom_op.vinculum.overflow": "raise"}
        first, _ = host.register(entries), host.register()
        operators = host.operators
        host.register(entries)
        assert host.operators is not operators
        with pytest.raises(HostError, match=r"^vinculum: these session options have the library already"):
            host.register_again(first)
        assert host.registered == 3

    def test_settings_that_are_none(self) -> None:
        with pytest.raises(HostError, match=r"is 'ignore'; allowed: 'raise', 'zero', 'saturate'$"):
            Host().register({"custom_op.vinculum.zero_divisor": "ignore"})

    def test_an_older_version(self) -> None:
        host = Host("1.16.3")
        older = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(
            lambda wanted: ctypes.addressof(host._table) if wanted <= 16 else None
        )
        host.base[0] = ctypes.cast(older, ctypes.c_void_p).value
        with pytest.raises(HostError, match=r"^vinculum: this ONNX Runtime is older than 1\.17; take a newer one$"):
            host.register()

    @pytest.mark.parametrize(
        "failing", ["CreateCustomOpDomain", "CustomOpDomain_Add", "AddCustomOpDomain", "HasSessionConfigEntry"]
    )
    def test_a_host_that_fails(self, failing: str) -> None:
        with pytest.raises(HostError, match=f"^{failing} fails$"):
            Host(failing=failing).register()

    def test_policies_of_register(self) -> None:
        options = Mock()
        register(options, zero_divisor="saturate", fusions=True)
        entries = {"zero_divisor": "saturate", "overflow": "wrap", "fusions": "1"}
        assert options.mock_calls == [
            *(call.add_session_config_entry(f"custom_op.vinculum.{key}", value) for key, value in entries.items()),
            call.register_custom_ops_library(get_library_path()),
        ]
        with pytest.raises(AttributeValueError, match="overflow is 'zero'; allowed: 'wrap', 'raise', 'saturate'"):
            register(options, overflow="zero")  # type: ignore[arg-type]
        with pytest.raises(AttributeValueError, match=r"^fusions is 'no'; allowed: False, True$"):
            register(options, fusions="no")  # type: ignore[arg-type]
        with pytest.raises(AttributeValueError, match=r"^session_options is an int; give an onnxruntime"):
            register(5)  # type: ignore[arg-type]

    def test_without_the_library(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr("vinculum.onnxruntime._LIBRARY", tmp_path / "operators.so")
        with pytest.raises(VinculumError, match="was not compiled: install Vinculum again where there is a C"):
            get_library_path()


class TestResults:
    """Those of `vinculum.div`, `vinculum.reciprocal` and `vinculum.remainder`."""

    @pytest.mark.parametrize("name", DTYPES)
    def test_every_two_values(self, name: str) -> None:
        a, b = crossed(values(name))
        for zero_divisor, overflow in (("zero", "wrap"), ("saturate", "saturate")):
            host = Host()
            host.register(
                {
                    f"custom_op.vinculum.{key}": value
                    for key, value in (("zero_divisor", zero_divisor), ("overflow", overflow))
                }
            )
            expected = pairs(name, zero_divisor=zero_divisor, overflow=overflow).quotients
            assert_same(host.node("Div", DTYPES[name])(a, b), expected)

    @pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
    def test_shapes(self, host: Host, name: str) -> None:
        div, mod = host.node("Div", DTYPES[name]), host.node("Mod", DTYPES[name], fmod=int(name in FLOATS))
        shapes = (((), ()), ((7,), ()), ((), (3, 1)), ((2, 1, 5), (4, 1)), ((2, 3, 4), (3, 1)), ((0, 4), (4,)))
        for of_a, of_b in (*shapes, ((300, 500), (500,)), ((1, 500), (300, 1)), ((200_000,), (1,))):
            a, b = of_shape(name, of_a, 0), of_shape(name, of_b, 1)
            assert_same(div(a, b), np.asarray(vinculum.div(a, b)))
            if name in INTEGERS:
                assert_same(mod(a, b), np.asarray(vinculum.remainder(a, b)))
            elif name != "bfloat16":
                with np.errstate(all="ignore"):
                    if a.size > 100:  # It takes a step for each bit between two exponents.
                        a, b = np.frexp(a)[0], np.frexp(b)[0]
                    assert_same(mod(a, b), np.asarray(np.fmod(a, b)))
        assert host.parts > 1

    @pytest.mark.parametrize("name", INTEGERS)
    @pytest.mark.parametrize("fmod", [0, 1])
    def test_remainders_of_every_two_integers(self, name: str, fmod: int) -> None:
        a, b = crossed(values(name))
        host = Host()
        host.register({"custom_op.vinculum.zero_divisor": "zero", "custom_op.vinculum.overflow": "raise"})
        found = host.node("Mod", DTYPES[name], fmod=fmod)(a, b)
        for x, y, remainder in zip(a.ravel().tolist(), b.ravel().tolist(), found.ravel().tolist(), strict=True):
            assert remainder == (_remainder(x, y, of_c=bool(fmod)) if y else 0), (x, y)

    @pytest.mark.parametrize("name", FLOATS)
    @pytest.mark.parametrize("fmod", [0, 1])
    def test_remainders_of_every_two_floats(self, host: Host, name: str, fmod: int) -> None:
        """Remainders with the dividend's sign are exact; those with the divisor's, of Mod-28, are rounded once."""
        fmt = TYPES[name].binary_format
        assert fmt is not None
        a, b = crossed(values(name))
        remainders = host.node("Mod", DTYPES[name], fmod=fmod)(a, b)
        with np.errstate(invalid="ignore"):
            dividends, divisors = a.astype(np.float64), b.astype(np.float64)
        nan = is_nan(a) | is_nan(b) | np.isinf(dividends) | (divisors == 0)
        assert (is_nan(remainders) == nan).all()
        signs = [encodings(x) & fmt.sign_mask for x in (a, b, remainders)]
        assert ((signs[2] == signs[0 if fmod else 1]) | nan).all()
        infinite = np.isinf(divisors) & ~nan & (dividends != 0)
        unequal = (signs[0] != signs[1]) & (not fmod)
        assert_same(remainders[infinite], np.where(unequal, b, a)[infinite])
        finite = ~nan & ~np.isinf(divisors)
        for x, y, found in zip(a[finite], b[finite], encodings(remainders)[finite], strict=True):
            exact = _remainder(Fraction(float(x)), Fraction(float(y)), of_c=bool(fmod))
            negative = bool(np.signbit(np.float64(x if fmod else y)))
            assert found == round_to_nearest_even(exact, fmt, negative_zero=negative), (x, y)

    @pytest.mark.parametrize("name", FLOATS)
    def test_reciprocals(self, host: Host, name: str) -> None:
        assert_same(host.node("Reciprocal", DTYPES[name])(values(name)), vinculum.reciprocal(values(name)))

    @pytest.mark.parametrize(
        ("of_b", "attributes"),
        [
            ((3,), {"broadcast": 1, "axis": 1}),
            ((4,), {"broadcast": 1}),
            ((3, 4), {"broadcast": 1, "axis": 1}),
            ((1, 1), {"broadcast": 1, "axis": 7}),
            ((2, 3, 4), {"broadcast": 0}),
        ],
    )
    def test_versions_that_place_the_second_operand(
        self, host: Host, of_b: tuple[int, ...], attributes: dict[str, Any]
    ) -> None:
        a, b = (np.arange(1, 1 + prod(shape), dtype=np.float32).reshape(shape) for shape in ((2, 3, 4), of_b))
        expected = vinculum.div(a, b, opset=6, **attributes)
        assert_same(host.node("Div", np.float32, **attributes)(a, b), expected)

    @pytest.mark.parametrize(
        ("of_b", "attributes", "reason"),
        [
            ((3,), {"broadcast": 1, "axis": 3}, "the shapes [2, 3, 4] and [3] do not fit together"),
            ((3,), {"broadcast": 1, "axis": 2**40}, "the shapes [2, 3, 4] and [3] do not fit together"),
            ((3, 1), {"broadcast": 1}, "the shapes [2, 3, 4] and [3, 1] do not fit together"),
            ((1, 2, 3, 4), {"broadcast": 1}, "the shapes [2, 3, 4] and [1, 2, 3, 4] do not fit together"),
            ((4,), {"axis": 2}, "the shapes [2, 3, 4] and [4] do not fit together without broadcast=1"),
            ((4,), {"broadcast": 1, "axis": -1}, "axis is -1; allowed: 0 and more"),
            ((4,), {"broadcast": 2}, "broadcast is 2; allowed: 0, 1"),
            ((4,), {"broadcast": "1"}, "broadcast is text; allowed: an integer"),
        ],
    )
    def test_places_that_are_not_there(
        self, host: Host, of_b: tuple[int, ...], attributes: dict[str, Any], reason: str
    ) -> None:
        a, b = np.ones((2, 3, 4), np.float32), np.ones(of_b, np.float32)
        with pytest.raises(HostError) as raised:
            host.node("Div", np.float32, **attributes)(a, b)
        assert str(raised.value) == f"vinculum: Div 'node' of float: {reason}"

    def test_attributes_that_later_versions_do_not_have(self) -> None:
        """With fusions, only newer versions are registered."""
        host = Host()
        host.register({"custom_op.vinculum.fusions": "1"})
        for name in ("axis", "broadcast"):
            with pytest.raises(HostError, match=f": {name} is an attribute of versions 1 and 6 only$"):
                host.node("Div", np.float32, **{name: 0})


class TestErrors:
    """Every error is a status of ONNX Runtime."""

    def test_elements(self, host: Host) -> None:
        a, b = np.array([[6, 7], [8, 9]], np.uint8), np.array([1, 0], np.uint8)
        with pytest.raises(HostError, match=r"2 of 4 divisors are zero, the first at index \[0, 1\]: 7 / 0; allowed"):
            host.node("Div", np.uint8)(a, b)
        with pytest.raises(HostError, match=r"2 of 4 divisors are zero, the first at index \[0, 1\]: 7 mod 0; allowed"):
            host.node("Mod", np.uint8)(a, b)
        host.register({"custom_op.vinculum.overflow": "raise"})
        smallest = np.array([-128], np.int8)
        with pytest.raises(HostError, match=r"1 of 1 quotients are MIN/-1, .*\[0\]: -128 / -1; allowed with overflow="):
            host.node("Div", np.int8)(smallest, np.array([-1], np.int8))
        assert host.node("Mod", np.int8)(smallest, np.array([-1], np.int8)) == 0

    @pytest.mark.parametrize(
        "failing",
        ["KernelContext_GetInput", "KernelContext_GetOutput", "GetTensorMutableData", "KernelContext_ParallelFor"],
    )
    def test_a_host_that_fails(self, failing: str) -> None:
        host = Host(failing=failing)
        host.register()
        operands = np.ones(100_000, np.int32)
        with pytest.raises(HostError, match=f"^{failing} fails$"):
            host.node("Div", np.int32)(operands, operands)

    @pytest.mark.parametrize("version", VERSIONS)
    def test_too_many_dimensions(self, version: str) -> None:
        host = Host(version)
        host.register()
        one = np.ones(1, np.int8)
        deep: Any = SimpleNamespace(shape=(1,) * 65, ndim=65, dtype=one.dtype, ctypes=one.ctypes)  # NumPy has no such
        with pytest.raises(HostError, match="more than 64 dimensions"):
            host.node("Div", np.int8)(deep, one)


@pytest.fixture
def nodes(host: Host) -> Iterator[dict[str, Node]]:
    """Return a node of each operator, and free it afterwards."""
    made = {name: host.node(name, np.float32, fmod=1) for name in ("Div", "Reciprocal", "Mod")}
    yield made
    for node in made.values():
        node.close()


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((2, 3), (2, 3), (2, 3)),
        ((2, 3), (3,), (2, 3)),
        ((1,), (2, 3), (2, 3)),
        (("n", 3), ("n", 3), ("n", 3)),
        (("n", 3), ("m", 3), None),
        (("n", 3), (1, 1), ("n", 3)),
        ((4, 3), ("n", 3), (4, 3)),
        ((1, 3), ("n", 3), ("n", 3)),
        (("", 3), ("", 3), None),  # sizes without a name may be different ones
        ((2, 1), (1, 3), None),  # neither operand's
        ((2, 3), (), None),  # a scalar, or not known
        ((0, 3), (1, 3), (0, 3)),
        ((0,), ("n",), None),
    ],
)
def test_shapes_that_are_inferred(nodes: dict[str, Node], first: Shape, second: Shape, expected: Shape | None) -> None:
    for name in ("Div", "Mod"):
        assert nodes[name].infer(first, second) == nodes[name].infer(second, first) == expected
    assert nodes["Reciprocal"].infer(first) == (None if "" in first else first)


class TestDivider:
    """A callback that divides at the nodes with a number."""

    @pytest.mark.parametrize("name", ["float32", "bfloat16", "int8"])
    @pytest.mark.parametrize(("shapes", "axis"), [(((2, 3), (3,)), None), (((2, 3), (2,)), 0), (((0, 3), (3,)), None)])
    def test_what_it_is_given(self, name: str, shapes: tuple[tuple[int, ...], ...], axis: int | None) -> None:
        given: list[Any] = []

        def divide(asked: Any) -> int:
            one = asked.contents
            operands = [operand.array(DTYPES[name]) for operand in (one.dividend, one.divisor, one.quotient)]
            operands[2][...] = 7
            given.append((one.number, one.type, *(operand.tolist() for operand in operands)))
            return 0

        placed = {} if axis is None else {"broadcast": 1, "axis": axis}
        node = self.made(divide, name, {"vinculum_number": 5} | placed)
        a, b = (np.arange(1, 1 + prod(shape)).astype(DTYPES[name]).reshape(shape) for shape in shapes)
        quotient = node(a, b)
        assert quotient.tolist() == np.full(shapes[0], 7).tolist()
        assert given == [(5, NUMBERS[DTYPES[name]], a.tolist(), b.tolist(), quotient.tolist())]

    def test_a_reciprocal(self) -> None:
        ranks: list[int] = []

        def divide(asked: Any) -> int:
            ranks.extend((asked.contents.dividend.rank, asked.contents.divisor.rank))
            return 0

        node = self.made(divide, "float32", {"vinculum_number": 0}, "Reciprocal")
        node(np.ones((2, 2), np.float32))
        assert ranks == [0, 2]

    def test_its_failure(self) -> None:
        node = self.made(lambda asked: 1, "int32", {"vinculum_number": 0})
        with pytest.raises(HostError, match=r"^vinculum: Div 'node' of int32: the divider failed$"):
            node(np.ones(2, np.int32), np.ones(2, np.int32))

    @pytest.mark.parametrize("operator", ["Div", "Mod"])
    def test_what_has_no_number(self, operator: str) -> None:
        node = self.made(lambda asked: 1, "int32", {}, operator)
        assert node(np.array([7], np.int32), np.array([4], np.int32)).tolist() == [{"Div": 1, "Mod": 3}[operator]]

    @staticmethod
    def made(divide: Any, name: str, attributes: dict[str, int], operator: str = "Div") -> Node:
        """Return a node of a host with a divider, which is kept alive because the library keeps its settings."""
        divider = Divider(divide)
        DIVIDERS.append(divider)
        host = Host()
        host.register({"custom_op.vinculum.divider": str(ctypes.cast(divider, ctypes.c_void_p).value)})
        return host.node(operator, DTYPES[name], **attributes)
