"""Div, Reciprocal and Mod in ONNX Runtime, by the library: every type, version and way of broadcasting, exact."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest

import vinculum
from tests.kernels.comparing import assert_same, encodings, is_nan
from tests.kernels.witness import pairs, random_encodings, values
from tests.runtimes.onnxruntime.sessions import FLOATS, INTEGERS, TYPES, Array, Session, message_of, text_of
from vinculum.onnxruntime import register
from vinculum.reference.rounding import round_to_nearest_even
from vinculum.spec.element_types import ELEMENT_TYPES

Fail = onnxruntime.capi.onnxruntime_pybind11_state.Fail
SHAPES = (
    *(((2, 3), (2, 3)), ((2, 3), (1, 3)), ((2, 1), (2, 3)), ((1, 1), (2, 3)), ((2, 3), (1, 1)), ((2, 1), (1, 3))),
    *(
        ((0, 3), (1, 3)),
        ((300, 400), (300, 1)),
        ((300, 1), (1, 400)),
        ((1, 100_000), (1, 1)),
        ((3, 70_000), (1, 70_000)),
    ),
)


def every_pair(name: str) -> tuple[Array, Array]:
    """Return every two telling values as dividends and divisors."""
    some = values(name)
    a, b = (np.ascontiguousarray(x) for x in np.broadcast_arrays(some[:, None], some))
    return a, b


def of_shape(name: str, shape: tuple[int, int], seed: int = 0) -> Array:
    """Return operands whose integers are never zero."""
    flat = random_encodings(name, math.prod(shape), seed)
    if name in INTEGERS:
        flat[flat == 0] = 1
    return flat.reshape(shape)


class TestDiv:
    """The quotients of `vinculum.div`, and of the reference."""

    @pytest.mark.parametrize("name", TYPES)
    def test_every_two_values(self, name: str) -> None:
        a, b = every_pair(name)
        for zero_divisor, overflow in (("zero", "wrap"), ("saturate", "saturate")):
            expected = pairs(name, zero_divisor=zero_divisor, overflow=overflow).quotients
            session = Session(text_of("c = Div(a, b)", name), zero_divisor=zero_divisor, overflow=overflow)
            assert_same(session(a, b), expected)

    @pytest.mark.parametrize("name", TYPES)
    def test_broadcasting(self, name: str) -> None:
        session = Session(text_of("c = Div(a, b)", name), threads=2)
        for of_a, of_b in SHAPES:
            a, b = of_shape(name, of_a), of_shape(name, of_b, seed=1)
            assert_same(session(a, b), vinculum.div(a, b))

    def test_ranks(self) -> None:
        ranks = "int32[d_0, d_1, d_2] a, int32[e_0] b) => (int32[f_0, f_1, f_2] c) { c = Div(a, b) }"
        session = Session(f'<ir_version: 8, opset_import: ["": 14]> model ({ranks}')
        a = np.arange(-30, 30, dtype=np.int32).reshape(3, 4, 5)
        for b in (np.array([7], np.int32), np.array([1, 2, 3, -1, -2], np.int32)):
            assert_same(session(a, b), vinculum.div(a, b))
        scalars = Session(
            '<ir_version: 8, opset_import: ["": 14]> model (int8 a, int8 b) => (int8 c) { c = Div(a, b) }'
        )
        assert_same(scalars(np.array(-7, np.int8), np.array(2, np.int8)), np.array(-3, np.int8))

    @pytest.mark.parametrize("opset", [7, 12, 13, 14, 19])
    @pytest.mark.parametrize("fusions", [False, True])
    def test_versions(self, opset: int, fusions: bool) -> None:
        session = Session(text_of("c = Div(a, b)", "int64", opset), fusions=fusions)
        smallest = np.iinfo(np.int64).min
        assert session(np.array([[7, smallest, -7]], np.int64), np.array([[2, -1, 2]], np.int64)).tolist() == [
            [3, smallest, -3]
        ]

    @pytest.mark.parametrize("opset", [1, 6])
    def test_versions_that_place_the_second_operand(self, opset: int) -> None:
        a = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
        for axis, b in ((0, np.array([2, 4], np.float32)), (1, np.array([2, 4, 8], np.float32))):
            text = (
                f"float[2, 3] a, float[{b.size}] b) => (float[2, 3] c) {{ c = Div <broadcast=1, axis={axis}> (a, b) }}"
            )
            session = Session(f'<ir_version: 8, opset_import: ["": {opset}]> model ({text}')
            assert_same(session(a, b), vinculum.div(a, b, opset=6, broadcast=1, axis=axis))

    @pytest.mark.parametrize(
        ("attributes", "reason"),
        [
            ("broadcast=1, axis=2", "the shapes [2, 3] and [3] do not fit together"),
            ("axis=1", "the shapes [2, 3] and [3] do not fit together without broadcast=1"),
            ("broadcast=1, axis=-1", "axis is -1; allowed: 0 and more"),
            ('broadcast="1"', "broadcast is text; allowed: an integer"),
        ],
    )
    def test_places_that_are_not_there(self, attributes: str, reason: str) -> None:
        text = f"float[2, 3] a, float[3] b) => (float[2, 3] c) {{ c = Div <{attributes}> (a, b) }}"
        with pytest.raises(Exception, match="vinculum: ") as raised:
            Session(f'<ir_version: 8, opset_import: ["": 6]> model ({text}')(
                np.ones((2, 3), np.float32), np.ones(3, np.float32)
            )
        assert message_of(raised.value).startswith(f"Div '' of float: {reason}")

    def test_shapes_that_do_not_fit(self) -> None:
        session = Session(text_of("c = Div(a, b)", "int8"))
        with pytest.raises(Exception, match="vinculum: ") as raised:
            session(np.ones((2, 3), np.int8), np.ones((2, 2), np.int8))
        assert message_of(raised.value).endswith("of int8: the shapes [2, 3] and [2, 2] do not fit together")


class TestReciprocal:
    """Those of `vinculum.reciprocal`."""

    @pytest.mark.parametrize("name", FLOATS)
    def test_every_value(self, name: str) -> None:
        session = Session(text_of("c = Reciprocal(a)", name, operands="a"), threads=2)
        for some in (values(name)[None], random_encodings(name, 100_000)[None]):
            assert_same(session(some), vinculum.reciprocal(some))

    @pytest.mark.parametrize("opset", [6, 13, 21])
    def test_versions(self, opset: int) -> None:
        for fusions in (False, True):
            session = Session(text_of("c = Reciprocal(a)", "float32", opset, operands="a"), fusions=fusions)
            assert session(np.array([[3]], np.float32)) == np.float32(1 / 3)


def remainder(a: int, b: int, *, of_c: bool) -> int:
    """Return a remainder with the divisor's sign, or with the dividend's, as C's; by 0 it is 0."""
    if b == 0:
        return 0
    return int(math.copysign(1, a)) * (abs(a) % abs(b)) if of_c else a % b


class TestMod:
    """Remainders with the divisor's sign, or as C has them."""

    @pytest.mark.parametrize("name", INTEGERS)
    @pytest.mark.parametrize("fmod", [0, 1])
    def test_every_two_integers(self, name: str, fmod: int) -> None:
        a, b = every_pair(name)
        expected = [remainder(int(x), int(y), of_c=bool(fmod)) for x, y in zip(a.flat, b.flat, strict=True)]
        for zero_divisor in ("zero", "saturate"):
            session = Session(
                text_of(f"c = Mod <fmod={fmod}> (a, b)", name), zero_divisor=zero_divisor, overflow="raise"
            )
            assert session(a, b).ravel().tolist() == expected

    @pytest.mark.parametrize("name", FLOATS)
    def test_every_two_floats(self, name: str) -> None:
        """What fmod leaves is a number of the type: nothing is rounded."""
        (element_type,) = (known for known in ELEMENT_TYPES if known.numpy == name)
        a, b = every_pair(name)
        remainders = Session(text_of("c = Mod <fmod=1> (a, b)", name))(a, b)
        with np.errstate(invalid="ignore"):
            dividends, divisors = a.astype(np.float64), b.astype(np.float64)
        nan = is_nan(a) | is_nan(b) | np.isinf(dividends) | (divisors == 0)
        assert (is_nan(remainders) == nan).all()
        with_sign = element_type.binary_format
        assert with_sign is not None
        signs = encodings(a) & with_sign.sign_mask
        assert ((encodings(remainders) & with_sign.sign_mask == signs) | nan).all()
        infinite = np.isinf(divisors) & ~nan
        assert_same(remainders[infinite], a[infinite])
        finite = ~nan & ~infinite
        for x, y, found in zip(a[finite], b[finite], remainders[finite], strict=True):
            dividend, divisor = Fraction(float(x)), Fraction(float(y))
            assert Fraction(float(found)) == dividend - math.trunc(dividend / divisor) * divisor, (x, y)

    @pytest.mark.parametrize("name", [*INTEGERS, "float32"])
    def test_broadcasting(self, name: str) -> None:
        session = Session(text_of(f"c = Mod <fmod={int(name in FLOATS)}> (a, b)", name), threads=2)
        for of_a, of_b in SHAPES:
            a, b = of_shape(name, of_a), of_shape(name, of_b, seed=1)
            with np.errstate(all="ignore"):
                expected = np.fmod(a, b) if name in FLOATS else vinculum.remainder(a, b)
            assert_same(session(a, b), expected)

    @pytest.mark.parametrize("name", FLOATS)
    def test_every_two_floats_with_the_divisors_sign(self, name: str) -> None:
        """What Mod-28 adds: the exact remainder, rounded once."""
        (element_type,) = (known for known in ELEMENT_TYPES if known.numpy == name)
        assert element_type.binary_format is not None
        sign = element_type.binary_format.sign_mask
        a, b = every_pair(name)
        remainders = Session(text_of("c = Mod(a, b)", name))(a, b)
        with np.errstate(invalid="ignore"):
            dividends, divisors = a.astype(np.float64), b.astype(np.float64)
        nan = is_nan(a) | is_nan(b) | np.isinf(dividends) | (divisors == 0)
        assert (is_nan(remainders) == nan).all()
        assert ((encodings(remainders) & sign == encodings(b) & sign) | nan).all()
        unequal = (encodings(a) & sign != encodings(b) & sign) & (dividends != 0)
        infinite = np.isinf(divisors) & ~nan & (dividends != 0)
        assert_same(remainders[infinite], np.where(unequal, b, a)[infinite])
        finite = ~nan & ~infinite & ~np.isinf(divisors)
        for x, y, found in zip(a[finite], b[finite], encodings(remainders)[finite], strict=True):
            dividend, divisor = Fraction(float(x)), Fraction(float(y))
            left = dividend - math.floor(dividend / divisor) * divisor
            wanted = round_to_nearest_even(left, element_type.binary_format, negative_zero=bool(y < 0))
            assert found == wanted, (x, y)


class TestErrors:
    """An error of ONNX Runtime that names the node, how many elements there are, and the first with its operands."""

    def raised(self, node: str, name: str, a: Array, b: Array, **settings: Any) -> str:
        proto = onnx.parser.parse_model(text_of(node, name))
        proto.graph.node[0].name = "mean"
        with pytest.raises(Fail, match=r"running \w+ node. Name:'mean'") as raised:
            Session(proto.SerializeToString(), **settings)(a, b)
        return message_of(raised.value)

    @pytest.mark.parametrize("name", INTEGERS)
    def test_zero_divisors(self, name: str) -> None:
        a, b = np.array([[7, 100]], name), np.array([[1, 1], [0, 2], [3, 0]], name)
        assert self.raised("c = Div(a, b)", name, a, b) == (
            f"Div 'mean' of {name}: 2 of 6 divisors are zero, the first at index [1, 0]: 7 / 0; "
            "allowed with zero_divisor='zero' or 'saturate'"
        )
        assert self.raised("c = Mod(a, b)", name, a, b).startswith(
            f"Mod 'mean' of {name}: 2 of 6 divisors are zero, the first at index [1, 0]: 7 mod 0; "
        )

    @pytest.mark.parametrize("name", [name for name in INTEGERS if name.startswith("int")])
    def test_overflow(self, name: str) -> None:
        smallest = np.iinfo(name).min
        a, b = np.array([[7], [smallest]], name), np.array([[-1, 1, -1]], name)
        assert self.raised("c = Div(a, b)", name, a, b, overflow="raise") == (
            f"Div 'mean' of {name}: 2 of 6 quotients are MIN/-1, which the type cannot hold, the first at index "
            f"[1, 0]: {smallest} / -1; allowed with overflow='wrap' or 'saturate'"
        )

    def test_a_session_goes_on_after_an_error(self) -> None:
        session = Session(text_of("c = Div(a, b)", "int32"), threads=2)
        ones = np.ones((300, 300), np.int32)
        for _ in range(3):
            with pytest.raises(Fail, match=r"90000 of 90000 divisors are zero, the first at index .0, 0.: 1 / 0"):
                session(ones, ones * 0)
            assert (session(ones, ones) == 1).all()


CONSTANTS = """
<ir_version: 8, opset_import: ["": 14]> model () => (int32[2] c)
<int32[2] a = {-2147483648, -7}, int32[2] b = {-1, 2}> { c = Div(a, b) }
"""
IF = """
<ir_version: 8, opset_import: ["": 14]> model (int32[2] a, int32[2] b, bool which) => (int32[2] c)
{ c = If(which) <then_branch = one () => (int32[2] x) { x = Div(a, b) },
                 else_branch = other () => (int32[2] y) { y = Mod(a, b) }> }
"""
LOOP = """
<ir_version: 8, opset_import: ["": 14]> model (int32[2] a, int32[2] b) => (int32[2] c) <int64 n = {1}, bool goes = {1}>
{ c = Loop(n, goes, a) <body = once (int64 i, bool on, int32[2] x) => (bool go_on, int32[2] y)
                        { go_on = Identity(on)  y = Div(x, b) }> }
"""
SCAN = """
<ir_version: 8, opset_import: ["": 14]> model (int32[2] a, int32[2] b) => (int32[2] c)
{ d, c = Scan <num_scan_inputs = 1, body = once (int32[2] s, int32 x) => (int32[2] t, int32 y)
               { t = Identity(s)  z = Constant <value_int = -1> ()  m = Cast <to = 6> (z)  y = Div(x, m) }> (b, a) }
"""
FUNCTION = """
<ir_version: 8, opset_import: ["": 14, "own": 1]> model (int32[2] a, int32[2] b) => (int32[2] c) { c = own.ratio(a, b) }
<domain: "own", opset_import: ["": 14]> ratio (x, y) => (z) { z = Div(x, y) }
"""


class TestEverywhereInAModel:
    """Plain ONNX Runtime dies of each of these."""

    A, B = np.array([-(2**31), -7], np.int32), np.array([-1, 2], np.int32)

    def test_constants(self) -> None:
        for entries in ({}, {"optimization.disable_constant_folding": "1"}):
            assert Session(CONSTANTS, entries=entries)().tolist() == [-(2**31), -3]

    def test_constants_where_fusions_are_allowed(self) -> None:
        """Before 1.32, ONNX Runtime looks at its own kernel's types too, and does not know them by our schema."""
        if tuple(map(int, onnxruntime.__version__.split(".")[:2])) >= (1, 32):
            assert Session(CONSTANTS, fusions=True)().tolist() == [-(2**31), -3]
        else:
            with pytest.raises(Exception, match="kernel_type_str_resolver"):
                Session(CONSTANTS, fusions=True)

    def test_constants_that_have_no_quotient(self) -> None:
        with pytest.raises(Exception, match=r"1 of 2 divisors are zero, the first at index .1.: -7 / 0"):
            Session(CONSTANTS.replace("{-1, 2}", "{-1, 0}"))()

    def test_large_constants(self) -> None:
        """They are divided where there are no threads, while the model is loaded."""
        text = """<ir_version: 8, opset_import: ["": 14]> model () => (int32[99999] c)
        <int64[1] n = {99999}, int32[1] a = {-7}, int32[1] b = {2}> { d = Expand(a, n) c = Div(d, b) }"""
        assert (Session(text, threads=2)() == np.full(99999, -3)).all()

    def test_branches(self) -> None:
        session = Session(IF)
        assert session(self.A, self.B, np.array(True)).tolist() == [-(2**31), -3]
        assert session(self.A, self.B, np.array(False)).tolist() == [0, 1]

    @pytest.mark.parametrize("text", [LOOP, FUNCTION])
    def test_loops_and_functions(self, text: str) -> None:
        assert Session(text)(self.A, self.B).tolist() == [-(2**31), -3]

    def test_scan(self) -> None:
        options = onnxruntime.SessionOptions()
        register(options)
        session = onnxruntime.InferenceSession(onnx.parser.parse_model(SCAN).SerializeToString(), options)
        assert session.run(["c"], {"a": self.A, "b": self.B})[0].tolist() == [-(2**31), 7]

    def test_shapes_that_are_not_known(self) -> None:
        """An operand of which no rank is known is not taken for a scalar."""
        text = """<ir_version: 8, opset_import: ["": 14]> model (float[2] a, int64[r] s, float[k] b) => (float[p, q] c)
        { d = Reshape(b, s) e = Div(a, d) c = Neg(e) }"""
        result = Session(text)(
            np.array([6, 8], np.float32), np.array([3, 1], np.int64), np.array([1, 2, 4], np.float32)
        )
        assert result.tolist() == [[-6, -8], [-3, -4], [-1.5, -2]]

    def test_what_is_fused(self, tmp_path: Path) -> None:
        """Where fusions are allowed, a decomposed mean is one node again."""
        text = """<ir_version: 8, opset_import: ["": 14]> model (float[4, 8] a) => (float[4, 8] c)
        <float two = {2}, float small = {0.00001}, float[8] w = {1, 1, 1, 1, 1, 1, 1, 1},
         float[8] z = {0, 0, 0, 0, 0, 0, 0, 0}>
        { m = ReduceMean <axes = [-1]> (a) d = Sub(a, m) s = Pow(d, two) v = ReduceMean <axes = [-1]> (s)
          e = Add(v, small) r = Sqrt(e) q = Div(d, r) p = Mul(q, w) c = Add(p, z) }"""
        a = np.arange(32, dtype=np.float32).reshape(4, 8) ** 2
        plain = Session(text, exact=False)(a)
        for fusions in (False, True):
            optimized = tmp_path / f"{fusions}.onnx"
            session = Session(text, fusions=fusions, optimized=optimized)
            assert np.allclose(session(a), plain, rtol=1e-5)
            assert ("Div" in {node.op_type for node in onnx.load(optimized).graph.node}) is not fusions
