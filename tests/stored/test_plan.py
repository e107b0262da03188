"""Plans of blocks: every element is in one block, every chunk too, and blocks are no larger than asked for."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vinculum.stored.plan import BlockPlan, default_chunk, even, extents, flat, of_chunks, strips

SHAPES = st.lists(st.integers(0, 6), max_size=4).map(tuple)


def blocks_of(plan: BlockPlan) -> np.ndarray:
    """Return the number of each element's block, and check that each element has one."""
    owner = np.full(plan.shape, -1)
    for number in range(plan.blocks):
        region = plan.region(number)
        assert (owner[region] == -1).all()
        owner[region] = number
        assert owner[region].shape == extents(region)
    assert (owner >= 0).all()
    return owner


@given(SHAPES, st.integers(1, 50), st.sampled_from("CF"))
def test_flat_blocks_are_ranges_of_the_file_in_its_order(shape: tuple[int, ...], elements: int, order: str) -> None:
    plan = flat(shape, elements, order)
    in_file = blocks_of(plan).ravel(order="F" if order == "F" else "C")
    assert (np.diff(in_file) >= 0).all()
    assert np.bincount(in_file, minlength=1).max() <= elements if in_file.size else not plan.blocks


@given(SHAPES, st.integers(1, 50), st.sampled_from("CF"))
def test_even_blocks_are_small_along_every_axis(shape: tuple[int, ...], elements: int, order: str) -> None:
    plan = even(shape, elements, order)
    blocks_of(plan)
    assert prod(plan.block) <= elements
    assert even((64, 64), 256).block == (16, 16)


@given(SHAPES, st.integers(1, 50), st.lists(st.integers(1, 4), min_size=4, max_size=4))
def test_blocks_of_chunks_share_none(shape: tuple[int, ...], elements: int, sizes: list[int]) -> None:
    chunk = tuple(sizes[: len(shape)])
    plan = of_chunks(shape, chunk, elements)
    owner = blocks_of(plan)
    for at in np.ndindex(*(-(-size // along) for size, along in zip(shape, chunk, strict=True))):
        inside = owner[tuple(slice(i * along, (i + 1) * along) for i, along in zip(at, chunk, strict=True))]
        assert len(set(inside.flat)) == 1
    assert prod(plan.block) <= max(elements, prod(chunk))


@given(SHAPES, st.integers(1, 50), st.sampled_from("CF"))
def test_strips_are_in_the_order_of_the_file(shape: tuple[int, ...], elements: int, order: Any) -> None:
    whole = np.arange(prod(shape)).reshape(shape, order=order)
    padded = np.pad(whole, 1)
    parts = [
        padded[strip].ravel(order) for strip in strips(tuple(slice(1, size + 1) for size in shape), elements, order)
    ]
    assert np.array_equal(np.concatenate([np.empty(0, int), *parts]), np.arange(whole.size))


def test_ranges_of_each_order() -> None:
    plan = BlockPlan((100, 10, 10), (4, 5, 10))
    assert (plan.ranges("C"), plan.ranges("F")) == (1 / 50, 1 / 4)
    assert BlockPlan((), ()).ranges("C") == 1


def test_chunks_that_cross_blocks() -> None:
    plan = BlockPlan((100, 100), (20, 100))
    assert not plan.cuts((10, 10))
    assert not plan.cuts((20, 7))
    assert plan.cuts((100, 10))
    assert plan.cuts((15, 100))


def test_an_axis_is_cut_only_if_a_block_does_not_hold_it() -> None:
    assert flat((100, 10, 10), 250).block == (2, 10, 10)
    assert flat((100, 10, 10), 25).block == (1, 2, 10)
    assert flat((100, 10, 10), 250, "F").block == (100, 2, 1)
    assert of_chunks((100, 100), (10, 10), 2000).block == (20, 100)
    assert of_chunks((100, 100), (10, 10), 350).block == (10, 30)
    assert of_chunks((9, 8), (1, 3), 20).block == (2, 9)
    assert default_chunk((3, 1 << 30), 8) == (1, 1 << 20)
