"""Dask arrays have the quotients and errors of NumPy arrays; types and shapes are checked when the graph is built."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import vinculum
from tests.cases import RULES, case, outcome, telling
from vinculum import Operator
from vinculum.errors import AttributeValueError, BroadcastError, ConstraintError, ElementTypeError
from vinculum.spec.element_types import REAL
from vinculum.tensors.storage import dtype_of

Array = NDArray[Any]
div: Any = vinculum.div  # typed as for NumPy arrays
sonnx_div: Any = vinculum.sonnx.div


INTEGERS = [np.dtype(name) for name in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")]


def computed(lazy: Any, scheduler: str = "sync") -> Any:
    """Return the quotients, after checking that they have the declared type and shape."""
    assert isinstance(lazy, da.Array)
    quotients = lazy.compute(scheduler=scheduler)
    assert type(lazy._meta) is np.ndarray
    assert (lazy._meta.dtype, lazy._meta.shape) == (lazy.dtype, (0,) * lazy.ndim)
    assert (lazy.dtype, lazy.ndim) == (quotients.dtype, quotients.ndim)
    assert all(np.isnan(size) or size == n for size, n in zip(lazy.shape, quotients.shape, strict=True))
    return quotients


def with_zeros(rng: np.random.Generator, divisor: Array, share: float) -> Array:
    """Return a divisor with zeros in some places."""
    divisor = divisor.copy()
    divisor[rng.random(divisor.shape) < share] = 0
    return divisor


def chunked(rng: np.random.Generator, array: Array) -> Any:
    """Return a Dask array of random chunks, up to three along a dimension."""
    chunks = []
    for size in array.shape:
        cuts = sorted(rng.integers(0, size + 1, rng.integers(0, 3)).tolist())
        chunks.append(tuple(np.diff([0, *sorted(set(cuts) - {0, size}), size]).tolist()))
    return da.from_array(array, chunks=tuple(chunks))


def tasks(lazy: Any) -> int:
    """Return how many tasks are left when Dask has fused what it can."""
    (optimised,) = dask.optimize(lazy)
    return len(dict(optimised.__dask_graph__()))


class TestQuotients:
    """The same bits as those of NumPy arrays."""

    @pytest.mark.parametrize("rule", RULES)
    def test_every_type_by_every_rule(self, rule: str) -> None:
        rng = np.random.default_rng(0)
        arguments, shapes = RULES[rule]
        for number, element_type in enumerate(Operator(**arguments).spec.element_types):
            dtype, every = dtype_of(element_type), list(enumerate(shapes))
            for place, (shape_a, shape_b) in every[number % 2 :: 2] or every:
                a, b = telling(rng, shape_a, dtype), telling(rng, shape_b, dtype)
                x, y = chunked(rng, a), chunked(rng, b)
                zero_divisor: Any = ("raise", "zero")[
                    (number + place) // 2 % 2
                ]  # floats know no policies, and take each
                with case(dtype, shape_a, shape_b, zero_divisor):
                    divide: Any = Operator(**arguments, zero_divisor=zero_divisor)
                    assert outcome(lambda: computed(divide(x, y))) == outcome(lambda: divide(a, b))  # noqa: B023 - called at once

    @given(
        rule=st.sampled_from(sorted(RULES)),
        dtype=st.sampled_from(INTEGERS),
        zero_divisor=st.sampled_from(["raise", "zero", "saturate"]),
        overflow=st.sampled_from(["wrap", "raise", "saturate"]),
        share=st.sampled_from([0, 0.05, 0.5]),
        seed=st.integers(0, 2**32),
        number=st.integers(0, 20),
    )
    @pytest.mark.filterwarnings("ignore:Increasing number of chunks")  # Dask's, of chunks that do not fit each other
    def test_every_policy_on_any_chunks(
        self, rule: str, dtype: np.dtype[Any], zero_divisor: Any, overflow: Any, share: float, seed: int, number: int
    ) -> None:
        rng = np.random.default_rng(seed)
        arguments, shapes = RULES[rule]
        shape_a, shape_b = shapes[number % len(shapes)]
        a, b = telling(rng, shape_a, dtype), with_zeros(rng, telling(rng, shape_b, dtype), share)
        divide: Any = Operator(**arguments, zero_divisor=zero_divisor, overflow=overflow)
        x, y = chunked(rng, a), chunked(rng, b)
        assert outcome(lambda: computed(divide(x, y))) == outcome(lambda: divide(a, b))

    def test_of_one_operand(self) -> None:
        rng = np.random.default_rng(1)
        for element_type in Operator("Reciprocal").spec.element_types:
            a = telling(rng, (40,), dtype_of(element_type))
            x = da.from_array(a, chunks=7)
            assert computed(vinculum.reciprocal(x)).tobytes() == vinculum.reciprocal(a).tobytes()

    def test_of_the_other_byte_order(self) -> None:
        a = np.arange(1, 9, dtype=np.dtype("i4").newbyteorder())
        got = computed(div(da.from_array(a, chunks=3), da.from_array(a, chunks=4)))
        assert got.dtype.isnative
        assert got.tolist() == [1] * 8

    def test_of_blocks_without_elements(self) -> None:
        each: Any = (
            [((0, 0),), ((0, 0, 0),)],
            [((0, 0), (2, 2)), ((0, 0, 0), (3, 1))],
            [((0,), (4,)), ((1,), (2, 2))],
        )
        for chunks in each:
            a, b = (da.ones(tuple(map(sum, along)), chunks=along) for along in chunks)
            assert computed(div(a, b)).shape == a.shape

    def test_with_a_numpy_operand(self) -> None:
        a, b = np.arange(12, dtype=np.int32).reshape(3, 4), np.array([1, 2, 3, 4], np.int32)
        wanted = div(a, b).tolist()
        assert computed(div(da.from_array(a, chunks=2), b)).tolist() == wanted
        assert computed(div(a, da.from_array(b, chunks=2))).tolist() == wanted
        assert computed(div(a, da.from_array(b, chunks=2)[1])).tolist() == div(a, b[1]).tolist()


class TestErrorsAtOnce:
    """Errors that do not depend on values are raised when the graph is built, with NumPy's messages."""

    @pytest.mark.parametrize(
        ("divide", "a", "b"),
        [
            (div, np.ones(3, "i4"), np.ones(3, "i8")),
            (div, np.ones(3, "?"), np.ones(3, "?")),
            (div, np.ones(3, "i4"), np.ones(4, "i4")),
            (partial(div, opset=1), np.ones(3, "i4"), np.ones(3, "i4")),
            (partial(div, opset=6), np.ones(3, "f4"), np.ones((2, 3), "f4")),
            (partial(div, opset=6, broadcast=1, axis=-1), np.ones((2, 3), "f4"), np.ones(3, "f4")),
            (partial(vinculum.divide, auto_broadcast="pdpd"), np.ones((2, 3), "f4"), np.ones(2, "f4")),
            (sonnx_div, np.ones(3, "i4"), np.ones(3, "i8")),
            (sonnx_div, np.ones(3, "i4"), np.ones((1, 3), "i4")),
            (Operator("Reciprocal"), np.ones(3, "f4"), np.ones(3, "f4")),
            (Operator("Reciprocal"), np.ones(3, "i4"), None),
            (Operator("Div"), np.ones(3, "i4"), None),
        ],
    )
    def test_in_the_same_words(self, divide: Any, a: Array, b: Array | None) -> None:
        lazy = [None if x is None else da.from_array(x, chunks=2) for x in (a, b)]
        wanted = outcome(lambda: divide(a, b))
        assert isinstance(wanted[0], type)
        assert outcome(lambda: divide(*lazy)) == wanted

    def test_out(self) -> None:
        x = da.ones(3, dtype="i4")
        with pytest.raises(AttributeValueError, match=r"^out is given with a Dask operand, .* dask\.array\.store"):
            div(x, x, out=np.empty(3, "i4"))
        with pytest.raises(AttributeValueError, match=r"^where masks arrays in CPU memory only; instead, divide by 1"):
            div(x, x, where=x > 0)

    def test_blocks_with_masks(self) -> None:
        x = da.ma.masked_array(da.ones(3, dtype="f4"), False)
        with pytest.raises(ElementTypeError, match="each block of A is a masked array"):
            div(x, x)

    def test_other_collections_of_dask(self) -> None:
        x = dask.delayed(np.ones)(3)
        with pytest.raises(ElementTypeError, match=r"A is a Delayed of dask\.delayed, not a dask\.array"):
            div(x, da.ones(3))
        with pytest.raises(ElementTypeError, match="A is a list"):
            div([1.0], da.ones(3))


class TestErrorsWhenComputed:
    """Errors that depend on values have the count and the first index of the whole arrays."""

    def operands(self) -> tuple[Array, Array, Any, Any]:
        a, b = np.full((20, 24), 6, np.int32), np.full((20, 24), 2, np.int32)
        b[3, 23] = b[4, 0] = b[19, 1] = 0
        a[3, 22] = a[9, 9] = -(2**31)
        b[3, 22] = b[9, 9] = -1
        return a, b, da.from_array(a, chunks=(7, 11)), da.from_array(b, chunks=(9, 13))

    @pytest.mark.parametrize("scheduler", ["sync", "threads"])
    @pytest.mark.parametrize("divide", [div, vinculum.divide, lambda a, b, **kw: sonnx_div(a, b)])
    @pytest.mark.parametrize("policies", [{}, {"overflow": "raise"}, {"overflow": "raise", "zero_divisor": "zero"}])
    def test_the_first_is_not_in_the_first_block(self, scheduler: str, divide: Any, policies: Any) -> None:
        a, b, x, y = self.operands()
        wanted = outcome(lambda: divide(a, b, **policies))
        assert wanted[3] in {(3, 22), (3, 23)}
        lazy = divide(x, y, **policies)
        assert outcome(lambda: lazy.compute(scheduler=scheduler)) == wanted
        assert outcome(lambda: lazy.persist(scheduler=scheduler).compute()) == wanted
        assert outcome(lambda: lazy[:2, :2].compute(scheduler=scheduler)) == wanted

    def test_nothing_is_written_before(self) -> None:
        _, _, x, y = self.operands()
        target = np.full((20, 24), 99, np.int32)
        with pytest.raises(vinculum.DivisionByZeroError):
            da.store(div(x, y), target, scheduler="threads")
        assert (target == 99).all()

    def test_blocks_of_another_type_than_said(self) -> None:
        x = da.map_blocks(
            lambda block: block.astype("f8"), da.ones(4, dtype="f4", chunks=2), dtype="f4", meta=np.empty(0, "f4")
        )
        with pytest.raises(ElementTypeError, match="a block of A has type float64; its Dask array declares float"):
            div(x, da.ones(4, dtype="f4")).compute(scheduler="sync")


class TestReals:
    """SONNX reals: object arrays of fractions, whose elements are checked when they are computed."""

    def test_zero(self) -> None:
        a = np.array([Fraction(1), Fraction(2), Fraction(0)])
        x = da.from_array(a, chunks=2)
        wanted = outcome(lambda: sonnx_div(a, a))
        assert wanted[0] is ConstraintError
        assert outcome(lambda: sonnx_div(x, x).compute(scheduler="sync")) == wanted

    def test_other_objects(self) -> None:
        x = da.from_array(np.array([1, 2], object), chunks=1)
        with pytest.raises(ElementTypeError, match=f"holds int; the {REAL.kind.value}s are fractions"):
            sonnx_div(x, x).compute(scheduler="sync")


class TestUnknownSizes:
    """Chunks of unknown size are joined with an equal number of chunks, or with sizes of 1."""

    def operands(self) -> tuple[Array, Array, Array, Any, Any, Any]:
        rng = np.random.default_rng(3)
        a, b = rng.integers(-9, 9, 40).astype("i4"), rng.integers(1, 9, 40).astype("i4")
        x, y = da.from_array(a, chunks=7), da.from_array(b, chunks=7)
        return a, b, a > 0, x, y, x > 0

    def test_quotients(self) -> None:
        a, b, kept, x, y, lazily_kept = self.operands()
        lazy = div(x[lazily_kept], y[lazily_kept])
        assert np.isnan(lazy.shape[0])
        assert computed(lazy).tolist() == div(a[kept], b[kept]).tolist()
        assert computed(div(x[lazily_kept], np.int32(3))).tolist() == div(a[kept], np.int32(3)).tolist()
        assert computed(sonnx_div(x[lazily_kept], y[lazily_kept])).tolist() == (a[kept] // b[kept]).tolist()

    def test_the_first_index(self) -> None:
        a, b, kept, x, _, lazily_kept = self.operands()
        b[np.flatnonzero(kept)[-2:]] = 0
        y = da.from_array(b, chunks=7)
        wanted = outcome(lambda: div(a[kept], b[kept]))
        assert outcome(lambda: div(x[lazily_kept], y[lazily_kept]).compute(scheduler="sync")) == wanted

    def test_that_cannot_be_joined(self) -> None:
        _, _, _, x, y, kept = self.operands()
        for other in (y, da.concatenate([y, y])[da.concatenate([kept, kept])]):
            with pytest.raises(BroadcastError, match=r"unknown sizes \(nan\) match only 1.*compute_chunk_sizes\(\)"):
                div(x[kept], other)

    def test_that_turn_out_to_differ(self) -> None:
        _, _, _, x, y, kept = self.operands()
        with pytest.raises(BroadcastError, match=r"a block of A has shape .*compute_chunk_sizes\(\) on both"):
            div(x[kept], y[y > 4], zero_divisor="zero").compute(scheduler="sync")


class TestGraphs:
    """Graphs have few tasks, and equal divisions have equal keys."""

    def test_a_chain_is_one_task_a_block(self) -> None:
        x = da.ones((100, 100), chunks=10, dtype="f4")
        assert tasks(div(x + 1, x * 2) + 1) == 100
        assert tasks(vinculum.reciprocal(x + 1) + 1) == 100
        integers = da.ones((100, 100), chunks=10, dtype="i4")
        assert tasks(div(integers + 1, integers * 2, zero_divisor="zero") + 1) == 100

    def test_equal_divisions_have_equal_keys(self) -> None:
        x = da.from_array(np.arange(1, 40, dtype="i4"), chunks=7)
        y = x.rechunk(5)
        operators: list[Any] = [Operator("Div", opset=14), Operator("Div", opset=14)]
        first, second = (operator(x, y) for operator in operators)
        assert set(dict(first.dask)) == set(dict(second.dask))
        assert first.name != div(x, y, zero_divisor="zero").name
        assert first.name != div(y, x).name
        divide: Any = vinculum.divide
        assert divide(x, y).name != divide(x, y, m_pythondiv=False).name
