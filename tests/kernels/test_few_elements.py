"""The quickest way for few elements: it takes what is in order, and leaves all else to the general way untouched."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vinculum
from tests.kernels.comparing import DTYPES, FLOATS, INTEGERS, assert_same, random_encodings
from tests.kernels.layouts import every_other, negative_strides, rotated, unaligned
from vinculum.kernels.attempts import DONE, PLAIN, REFUSED
from vinculum.kernels.jobs import BLOCK
from vinculum.ops.operator import Operator, refuse

Array = npt.NDArray[Any]

SHAPE = (3, 4)
FEW = BLOCK // 4  # of 32 bits


class Subclass(np.ndarray[Any, Any]):
    """An array of another class."""


def ready(name: str = "int32", **arguments: Any) -> Operator:
    """Return an operator that has just divided that type, so that the quick way is open for it."""
    operator = Operator("Div", **arguments)
    operator(np.ones(2, DTYPES[name]), np.ones(2, DTYPES[name]))
    assert operator._attempt is not refuse
    return operator


def general(name: str = "Div", **arguments: Any) -> Operator:
    """Return an operator without the quick way."""

    class General(Operator):
        def __call__(self, a: object, b: object = None, out: Array | None = None) -> Array:
            return self._general_call(a, b, out)

    return General(name, **arguments)


def operands(dtype: Any = "int32", shape: tuple[int, ...] = SHAPE) -> tuple[Array, Array]:
    """Return operands without exceptional elements."""
    rng = np.random.default_rng(0)
    return rng.integers(1, 100, shape).astype(dtype), rng.integers(1, 9, shape).astype(dtype)


def outcome(operator: Operator, a: object, b: object, out: Array | None) -> object:
    """Return what a division comes to: the result as bytes, or the error and its line."""
    try:
        result = operator(a, b, out)
    except (vinculum.VinculumError, TypeError, ValueError) as error:
        return type(error), str(error)
    return type(result), result.dtype, result.shape, result.tobytes(), result is out


def assert_taken(operator: Operator, a: object, b: object, out: object) -> None:
    """Fail unless the quick way divides, and right."""
    assert operator._attempt(a, b, out) == DONE
    assert isinstance(out, np.ndarray)
    assert_same(out, general()(a, b))


Case = tuple[object, object, object]


def refusals() -> dict[str, Callable[[], Case]]:
    """Return what makes operands that are out of the ordinary, each in one way."""
    a, b = operands()
    two, few = np.full(2, 6, "i4"), np.full(1, 3, "i4")
    read_only = np.empty(SHAPE, "i4")
    read_only.flags.writeable = False
    zeros = b.copy()
    zeros[1, 2] = 0
    window = np.arange(1, 14, dtype="i4")
    return {
        "ranks that do not join": lambda: (a, np.ones((4, 3), "i4"), np.empty(SHAPE, "i4")),
        "a result of another shape": lambda: (a, b, np.empty((4, 3), "i4")),
        "a result of lower rank": lambda: (a, b, np.empty(12, "i4")),
        "a result of higher rank": lambda: (a, b, np.empty((1, 3, 4), "i4")),
        "one element of higher rank than the rest": lambda: (two, few.reshape(1, 1), np.empty(2, "i4")),
        "a result that the operands do not fill": lambda: (a[:1], b[:1], np.empty(SHAPE, "i4")),
        "a row that is too short": lambda: (a, b[0, :3], np.empty(SHAPE, "i4")),
        "no dimension to repeat": lambda: (a, b[:2], np.empty(SHAPE, "i4")),
        "an operand of another type": lambda: (a, b.astype("i8"), np.empty(SHAPE, "i4")),
        "an operand of another type and equal size": lambda: (a, b.astype("u4"), np.empty(SHAPE, "i4")),
        "a result of another type": lambda: (a, b, np.empty(SHAPE, "f4")),
        "operands of a type that is new to it": lambda: (a.astype("f8"), b.astype("f8"), np.empty(SHAPE, "f8")),
        "a type that nobody divides": lambda: (a.astype("c8"), b.astype("c8"), np.empty(SHAPE, "c8")),
        "objects": lambda: (a.astype(object), b.astype(object), np.empty(SHAPE, object)),
        "foreign byte order of an operand": lambda: (a.astype(">i4"), b, np.empty(SHAPE, "i4")),
        "foreign byte order of the result": lambda: (a, b, np.empty(SHAPE, ">i4")),
        "a subclass": lambda: (a.view(Subclass), b, np.empty(SHAPE, "i4")),
        "a subclass as the result": lambda: (a, b, np.empty(SHAPE, "i4").view(Subclass)),
        "a matrix": lambda: (a.view(np.matrix), b.view(np.matrix), np.empty(SHAPE, "i4")),
        "a masked array": lambda: (np.ma.MaskedArray(a), b, np.empty(SHAPE, "i4")),
        "columns first in the result": lambda: (a, b, np.empty(SHAPE, "i4", order="F")),
        "gaps in the result": lambda: (a, b, every_other(a)),
        "an unaligned operand": lambda: (unaligned(a), b, np.empty(SHAPE, "i4")),
        "an unaligned result": lambda: (a, b, unaligned(a)),
        "an operand with gaps that are no whole elements": lambda: (field_of_records(a), b, np.empty(SHAPE, "i4")),
        "a read-only result": lambda: (a, b, read_only),
        "the dividend as the result": lambda: ((c := a.copy()), b, c),
        "the divisor as the result": lambda: (a, (c := b.copy()), c),
        "a result one element on": lambda: ((w := window.copy())[:-1], w[:-1], w[1:]),
        "a result one element back": lambda: ((w := window.copy())[1:], w[1:], w[:-1]),
        "the result turned as the dividend": lambda: ((c := a.copy())[::-1, ::-1], b, c),
        "a row of the result as the divisor": lambda: (a, (c := b.copy())[0], c),
        "one element of the result as the divisor": lambda: (a, (c := a.copy())[1:2, 1:2], c),
        "one element of the result as the dividend": lambda: ((c := a.copy())[2, 3, ...], b, c),
        "zero divisors": lambda: (a, zeros, np.empty(SHAPE, "i4")),
        "no divisor": lambda: (a, None, np.empty(SHAPE, "i4")),
        "nothing at all": lambda: (None, None, None),
        "a list": lambda: ([1, 2], [1, 2], np.empty(2, "i4")),
        "a number": lambda: (6, 3, np.empty((), "i4")),
        "a NumPy number": lambda: (np.int32(6), np.int32(3), np.empty((), "i4")),
        "a result that is none": lambda: (a, b, [0]),
        "a class": lambda: (np.ndarray, np.ndarray, np.ndarray),
        "a type": lambda: (a.dtype, b.dtype, a.dtype),
    }


def field_of_records(array: Array) -> Array:
    """Return an array that other bytes lie between."""
    records = np.zeros(array.shape, np.dtype([("before", "u1"), ("kept", array.dtype), ("after", "u1")]))
    records["kept"] = array
    return records["kept"]


def layouts() -> dict[str, Callable[[Array, Array], tuple[Array, Array]]]:
    """Return what lays operands of three dimensions out in ways that general code has to walk."""
    return {
        "columns first": lambda a, b: (np.asfortranarray(a), b),
        "both columns first": lambda a, b: (np.asfortranarray(a), np.asfortranarray(b)),
        "gaps": lambda a, b: (every_other(a), b),
        "gaps between rows": lambda a, b: (a[:, ::2], b[:, 1::2]),
        "turns": lambda a, b: (a, negative_strides(b)),
        "rotated": lambda a, b: (a, rotated(b)),
        "a repeated dimension": lambda a, b: (a, np.broadcast_to(b[0], b.shape)),
        "a row": lambda a, b: (a, b[0, 0]),
        "a row as the dividend": lambda a, b: (a[0, 0], b),
        "a column": lambda a, b: (a, b[..., :1]),
        "a channel": lambda a, b: (a, b[0, :, :1]),
        "a matrix": lambda a, b: (a, b[0]),
        "the outermost": lambda a, b: (a, b[:, :1, :1]),
        "both repeated": lambda a, b: (a[:, :1], b[:1, :, :1]),
        "a longer divisor": lambda a, b: (a[0], b[:, :, :1]),
        "dimensions of one element": lambda a, b: (a[:, None, :, None], b[:, None, :, None]),
        "one more dimension": lambda a, b: (a[0, 0], b[0, 0, None]),
        "an empty dimension": lambda a, b: (a[:, :0], b[:, :1]),
    }


class TestRefusals:
    """What is out of the ordinary is refused before a byte is written, and goes the general way."""

    @pytest.mark.parametrize("kind", refusals())
    def test_refused_and_divided_all_the_same(self, kind: str) -> None:
        operator = ready()
        a, b, out = refusals()[kind]()
        if isinstance(out, np.ndarray) and kind != "zero divisors":
            before = out.tobytes()
            assert operator._attempt(a, b, out) == REFUSED
            assert out.tobytes() == before
        else:
            assert operator._attempt(a, b, out) == REFUSED
        given: Any = out
        x, y = (operand.copy() if isinstance(operand, np.ndarray) else operand for operand in (a, b))
        expected = outcome(general(), x, y, None)
        found = outcome(operator, a, b, given)
        if isinstance(found, tuple) and len(found) == 5 and isinstance(expected, tuple) and len(expected) == 5:
            assert found[4]  # the array given is the one returned
            assert found[1:4] == expected[1:4]
        else:
            a, b, out = refusals()[kind]()
            given = out
            assert found == outcome(general(), a, b, given)

    @pytest.mark.parametrize("kind", refusals())
    def test_without_a_result(self, kind: str) -> None:
        a, b, _ = refusals()[kind]()
        assert outcome(ready(), a, b, None) == outcome(general(), a, b, None)

    def test_another_operator_of_the_same_type_is_not_let_in(self) -> None:
        """The first call of an operator checks the type; SONNX's, say, has fewer of them."""
        ready("int32")
        operator = Operator("Div", opset=6)
        with pytest.raises(vinculum.ElementTypeError):
            operator(*operands("int8"))


class TestTaken:
    """What is in order is divided by it: else it would be of no use, and the tests above would prove nothing."""

    @pytest.mark.parametrize("name", DTYPES)
    @pytest.mark.parametrize(
        "shape", [(), (1,), (0,), (3, 0), (16,), SHAPE, (1, 1, 3), (FEW // 2,), (2,) * 12], ids=str
    )
    def test_equal_shapes(self, name: str, shape: tuple[int, ...]) -> None:
        assert_taken(ready(name), *operands(DTYPES[name], shape), np.empty(shape, DTYPES[name]))

    @pytest.mark.parametrize("name", DTYPES)
    def test_one_element_for_all(self, name: str) -> None:
        operator = ready(name)
        a, b = operands(DTYPES[name])
        for one in ((), (1,), (1, 1)):
            assert_taken(operator, a, np.full(one, b[0, 0]), np.empty(SHAPE, DTYPES[name]))
            assert_taken(operator, np.full(one, a[0, 0]), b, np.empty(SHAPE, DTYPES[name]))

    @pytest.mark.parametrize("name", DTYPES)
    @pytest.mark.parametrize("layout", layouts())
    def test_layouts(self, name: str, layout: str) -> None:
        a, b = layouts()[layout](*operands(DTYPES[name], (6, 4, 5)))
        assert_taken(ready(name), a, b, np.empty(np.broadcast_shapes(a.shape, b.shape), DTYPES[name]))

    @pytest.mark.parametrize("name", DTYPES)
    def test_stored_by_columns(self, name: str) -> None:
        """Enough lines for them to be turned round by tiles, and more columns than a tile has."""
        a, b = operands(DTYPES[name], (70, 150))
        a_turned, b_turned = np.asfortranarray(a), np.asfortranarray(b)
        for x, y in ((a_turned, b), (a, b_turned), (a_turned, b_turned), (a_turned, b[0]), (a[:, :1], b_turned)):
            assert_taken(ready(name), x, y, np.empty_like(a))

    def test_as_many_dimensions_as_numpy_knows(self) -> None:
        shapes: list[tuple[int, ...]] = [(1,) * 64, (1,) * 59 + (2, 1, 2, 1, 2), (2, 1) * 5 + (1,) * 54, (2,) * 6]
        for shape, other in itertools.product(shapes, repeat=2):
            a, b = operands("i4", shape)[0], operands("i4", other)[1]
            assert_taken(ready(), a, b, np.empty(general()(a, b).shape, "i4"))  # np.broadcast_shapes knows 32

    def test_one_number_by_many_without_a_result(self) -> None:
        operator = ready()
        a, b = operands()
        assert_same(operator(a[0, 0, ...], b), a[0, 0] // b)
        turned = operator(a[0, 0, ...], b.T)
        assert_same(turned, a[0, 0] // b.T)
        assert turned.strides == general()(a[0, 0, ...], b.T).strides

    def test_none_at_all(self) -> None:
        """Nothing is divided, nor is one element missed that would stand for none."""
        operator, none, one = ready(), np.empty((0, 4), "i4"), np.zeros((1, 1), "i4")
        for a, b in ((none, none), (none, one), (one, none)):
            assert operator._attempt(a, b, np.empty((0, 4), "i4")) == DONE
            assert operator(a, b).shape == (0, 4)

    def test_beside_each_other(self) -> None:
        """Operands that end where the result begins do not overlap it."""
        for places in ((0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)):
            memory = np.arange(1, 37, dtype="i4").reshape(3, 12)
            a, b, out = (memory[place] for place in places)
            expected = a // b
            assert ready()._attempt(a, b, out) == DONE
            assert out.tolist() == expected.tolist()

    def test_read_only_operands(self) -> None:
        a, b = operands()
        a.flags.writeable = b.flags.writeable = False
        assert_taken(ready(), a, b, np.empty(SHAPE, "i4"))

    @pytest.mark.parametrize("name", FLOATS)
    def test_reciprocals(self, name: str) -> None:
        operator = Operator("Reciprocal")
        x = random_encodings(name, (5, 7), 1)
        expected = general("Reciprocal")(x)
        operator(x)
        out = np.empty_like(x)
        assert operator._attempt(x, None, out) == DONE
        assert_same(out, expected)
        assert operator._attempt(x, x, out) == REFUSED
        with pytest.raises(vinculum.ElementTypeError, match="takes one operand"):
            operator(x, x)

    def test_the_result_is_new_and_its_own(self) -> None:
        operator = ready()
        a, b = operands()
        first = operator(a, b)
        kept = first.copy()
        assert first.base is None
        assert first.flags.writeable
        assert not np.shares_memory(operator(b, b), first)
        assert_same(first, kept)


class TestMany:
    """More than few are only looked at: contiguous ones are divided at once, by as many threads as there are."""

    @pytest.mark.parametrize("name", DTYPES)
    def test_plain(self, name: str) -> None:
        operator, size = ready(name), BLOCK // DTYPES[name].itemsize + 1
        a, b = operands(DTYPES[name], (size,))
        expected = general()(a, b)
        out = np.zeros_like(a)
        assert operator._attempt(a, b, out) == PLAIN
        assert not out.any()
        assert operator(a, b, out) is out
        assert_same(out, expected)
        assert_same(operator(a, b), expected)
        assert_same(operator(a, b[:1]), general()(a, b[:1]))
        assert_same(operator(a[:1, None], b[None]), general()(a[:1, None], b[None]))

    def test_few_that_lie_far_apart(self) -> None:
        """They are many: each is in a line of the cache of its own, and other threads must not wait for them."""
        operator = ready()
        memory = np.arange(1, 4 * FEW + 1, dtype="i4")
        a, out = operands("i4", (4,))[0], np.zeros(4, "i4")
        for x, y in ((a, memory[::FEW]), (memory[::FEW], a), (a, memory[::-FEW])):
            assert operator._attempt(x, y, out) == PLAIN
            assert_same(operator(x, y, out), x // y)
        assert operator._attempt(a, memory[: 4 * 4096 : 4096], out) == DONE

    def test_layouts(self) -> None:
        operator = ready(zero_divisor="zero")
        a, b = operands("i4", (200, 3, 100))
        for layout, lay_out in layouts().items():
            x, y = lay_out(a, b)
            out = np.empty(np.broadcast_shapes(x.shape, y.shape), "i4")
            few = layout in ("one more dimension", "an empty dimension")
            assert operator._attempt(x, y, out) == (DONE if few else PLAIN), layout
            assert_same(operator(x, y, out), general()(x, y))

    def test_in_the_place_of_an_operand(self) -> None:
        operator = ready()
        a, b = operands("i4", (2, FEW))
        for place in (0, 1):
            both = [a.copy(), b.copy()]
            x, y = both
            assert operator._attempt(x, y, both[place]) == PLAIN
            assert operator(x, y, both[place]) is both[place]
            assert_same(both[place], a // b)
            assert_same(both[1 - place], (a, b)[1 - place])
        same = b.copy()
        assert (operator(same, same, same) == 1).all()

    def test_refused(self) -> None:
        operator = ready()
        memory = np.arange(1, 2 * FEW + 2, dtype="i4")
        for a, b, out in (
            (memory[:-1], memory[:-1], memory[1:]),
            (memory[1:], memory[1:], memory[:-1]),
            (memory[1:], memory[5:6], memory[1:]),
            (memory[5:6], memory[1:], memory[1:]),
            (memory[1:], memory[1:2], memory[1:]),
            ((square := memory[: 256 * 256].reshape(256, 256)).T, square, square),
            (square, square[::-1], square),
            (square, square[0], square),
        ):
            assert operator._attempt(a, b, out) == REFUSED
            expected = a // b
            assert operator(a, b, out) is out
            assert out.tolist() == expected.tolist()
            memory[:] = np.arange(1, memory.size + 1)

    def test_exceptional_elements(self) -> None:
        operator = ready(overflow="raise")
        a, b = operands("i4", (3, FEW))
        b[2, 7] = b[1, 5] = 0
        with pytest.raises(vinculum.DivisionByZeroError, match="first at index") as caught:
            operator(a, b)
        assert "partial" not in str(caught.value)
        assert (caught.value.count, caught.value.first_index) == (2, (1, 5))
        with pytest.raises(vinculum.DivisionByZeroError, match="partial results"):
            operator(a, b, np.empty_like(a))
        b[b == 0] = 1
        a[2, 9], b[2, 9] = np.iinfo("i4").min, -1
        with pytest.raises(vinculum.IntegerOverflowError) as overflow:
            operator(a, b)
        assert (overflow.value.count, overflow.value.first_index) == (1, (2, 9))

    def test_many_reciprocals(self) -> None:
        operator = Operator("Reciprocal")
        x = random_encodings("float32", (3, FEW), 5)
        expected = operator(x)
        out = np.empty_like(x)
        assert operator._attempt(x, None, out) == PLAIN
        assert_same(operator(x, out=out), expected)
        assert_same(operator(x, out=x), expected)


class TestRules:
    """One element stands for all only where the version lets it."""

    def test_div_6_without_broadcast(self) -> None:
        operator = ready(opset=6)
        a, b = operands()
        for one in (b[0, 0, ...], b[:1, :1]):
            assert operator._attempt(a, one, np.empty_like(a)) == REFUSED
            with pytest.raises(vinculum.BroadcastError):
                operator(a, one)
            with pytest.raises(vinculum.BroadcastError):
                operator(one, a, np.empty_like(a))
        assert_same(operator(a, b), a // b)

    @pytest.mark.parametrize(
        "operator",
        [
            Operator("Div", opset=6, broadcast=1),
            Operator("Divide", auto_broadcast="none"),
            Operator("Divide", auto_broadcast="pdpd"),
            Operator("Div", dialect="sonnx", variant="int"),
        ],
        ids=repr,
    )
    def test_every_other_rule_judges_for_itself(self, operator: Operator) -> None:
        a, b = operands()
        operator(a, a)
        fresh = copy.copy(operator)
        for x, y in ((a, b), (a, b[0, 0, ...]), (a[:1, :1], b), (a, b[:1, :1]), (a, b[0])):
            assert outcome(operator, x, y, None) == outcome(copy.copy(fresh), x, y, None)

    def test_floor_and_truncation(self) -> None:
        a, b = np.array([-7, 7], "i4"), np.array([2, -2], "i4")
        for _ in range(3):
            assert Operator("Divide")(a, b).tolist() == vinculum.divide(a, b).tolist() == [-4, -4]
            assert Operator("Divide", m_pythondiv=False)(a, b).tolist() == vinculum.div(a, b).tolist() == [-3, -3]


class TestExceptionalElements:
    """They are found after the division, and done again as the policies say."""

    @pytest.mark.parametrize("name", INTEGERS)
    @pytest.mark.parametrize("zero_divisor", ["raise", "zero", "saturate"])
    @pytest.mark.parametrize("overflow", ["raise", "wrap", "saturate"])
    def test_as_the_general_way(self, name: str, zero_divisor: Any, overflow: Any) -> None:
        operator = ready(name, zero_divisor=zero_divisor, overflow=overflow)
        slow = general(zero_divisor=zero_divisor, overflow=overflow)
        smallest = np.iinfo(name).min
        for dividends, divisors in (
            ([5, smallest, 0], [0, 1, 0]),
            ([smallest, 6, 7], [-1, 3, 1]),
            ([smallest, 6, smallest], [-1, 0, -1]),
            ([smallest, 6, 9], [3]),
            ([smallest, 6, 9], [0]),
            ([smallest, 6, 9], [-1]),
            ([smallest], [-1, 1, 0]),
        ):
            a, b = (np.array(x).astype(DTYPES[name]) for x in (dividends, divisors))
            for _ in range(2):
                assert outcome(operator, a, b, None) == outcome(slow, a, b, None)
                out = np.empty(3, DTYPES[name])
                assert outcome(operator, a, b, out)[:2] == outcome(slow, a, b, np.empty_like(out))[:2]  # type: ignore[index]  # a tuple


class TestTurns:
    """What one call was about does not show in the next."""

    def test_element_types(self) -> None:
        operator = Operator("Div")
        pairs = {name: (random_encodings(name, (6,), 1), random_encodings(name, (6,), 2)) for name in FLOATS}
        pairs |= {name: operands(DTYPES[name]) for name in INTEGERS}
        expected = {name: general()(*pair) for name, pair in pairs.items()}
        for name in (*pairs, *reversed(pairs), *sorted(pairs)):
            for _ in range(2):
                assert_same(operator(*pairs[name]), expected[name])
        mixed = np.ones(2, "f4")
        with pytest.raises(vinculum.ElementTypeError):
            operator(mixed, np.ones(2, "f8"))
        assert operator(mixed, mixed).tolist() == [1, 1]

    def test_equal_types_that_are_other_objects(self) -> None:
        """NumPy compares them as equal; that they are other objects costs time, not the quotient."""
        operator = ready()
        tagged = np.dtype("i4", metadata={"unit": "m"})
        a, b = operands()
        for _ in range(2):
            assert operator(a.astype(tagged), b.astype(tagged)).tolist() == (a // b).tolist()
            assert operator(a.view(tagged), b).tolist() == (a // b).tolist()
            assert operator(a, b).tolist() == (a // b).tolist()

    @pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda op: pickle.loads(pickle.dumps(op))])
    def test_copies(self, again: Any) -> None:
        operator = ready("float32")
        twin = again(operator)
        a, b = operands("f4")
        for _ in range(3):
            assert_same(twin(a, b), a / b)
            assert_same(operator(b, a), b / a)
            assert twin(*operands("i8")).dtype == np.int64
        assert twin._attempt is not operator._attempt


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, Array, Array, Array | None]:
    """Draw operands of one type, alike, broadcast or unfit, and a result of some shape, or none."""
    name = draw(st.sampled_from(list(DTYPES)))
    sizes = st.lists(st.sampled_from([0, 1, 1, 2, 3, 17]), max_size=4)
    shape = tuple(draw(sizes))
    other = draw(st.sampled_from([shape, (), (1,), (1,) * len(shape), shape[-1:], tuple(draw(sizes))]))
    a, b = (random_encodings(name, s, draw(st.integers(0, 9))) for s in (shape, other))
    if draw(st.booleans()):
        a, b = b, a
    out = draw(st.sampled_from([None, shape, other]))
    return name, a, b, None if out is None else np.zeros(out, DTYPES[name])


class TestAgreement:
    """Both ways come to the same, whatever is divided."""

    @given(pairs(), st.sampled_from([{}, {"zero_divisor": "saturate", "overflow": "saturate"}]))
    def test_with_the_general_way(
        self, drawn: tuple[str, Array, Array, Array | None], policies: dict[str, Any]
    ) -> None:
        name, a, b, out = drawn
        operator, twin = ready(name, **policies), None if out is None else out.copy()
        quick, slow = outcome(operator, a, b, out), outcome(general(**policies), a, b, twin)
        assert quick[:2] == slow[:2]  # type: ignore[index]  # tuples both
        if out is not None and twin is not None and len(quick) == 5:  # type: ignore[arg-type]  # likewise
            assert_same(out, twin)
        elif len(quick) == 5:  # type: ignore[arg-type]  # likewise
            assert_same(operator(a, b), general(**policies)(a, b))
        else:
            assert quick == slow


def test_bfloat16_and_its_bits_are_kept_apart() -> None:
    """They share a kernel's element type, never an attempt."""
    operator = ready("bfloat16")
    bits = np.array([7, 200], "u2")
    assert operator(bits, np.array([2, 7], "u2")).tolist() == [3, 28]
    as_floats = bits.astype(ml_dtypes.bfloat16)
    assert operator(as_floats, as_floats).tolist() == [1, 1]
