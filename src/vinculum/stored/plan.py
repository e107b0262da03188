"""The blocks in which a result is computed, and the part of each operand that a block needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

Shape = tuple[int, ...]
Region = tuple[slice, ...]

BLOCK_BYTES = 2 << 20  # So that a thread's blocks of both operands and of the result fit in its processor's cache.
_CHUNK_BYTES = 8 << 20


@dataclass(frozen=True)
class BlockPlan:
    """Blocks of one size, the last along an axis perhaps smaller, numbered in the order of the file."""

    shape: Shape  # Of the result.
    block: Shape  # At least 1 along each axis.
    order: str = "C"  # "C" or "F": whether the last axis varies fastest, or the first.

    @property
    def grid(self) -> Shape:
        """The number of blocks along each axis."""
        return tuple(-(-size // along) for size, along in zip(self.shape, self.block, strict=True))

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return prod(self.grid)

    def ranges(self, order: str) -> float:
        """Return how many ranges of a file in an order there are for each element."""
        run = 1
        for along, size in list(zip(self.block, self.shape, strict=True))[:: 1 if order == "F" else -1]:
            run *= along
            if along < size:
                break
        return 1 / run

    def cuts(self, chunk: Shape) -> bool:
        """Tell whether a chunk of another grid overlaps several blocks."""
        return any(
            along < size and along % other for along, other, size in zip(self.block, chunk, self.shape, strict=True)
        )

    def region(self, number: int) -> Region:
        """Return the region of a block in the result."""
        axes = range(len(self.shape))
        at = [0] * len(self.shape)
        for axis in axes if self.order == "F" else reversed(axes):
            number, at[axis] = divmod(number, self.grid[axis])
        return tuple(
            slice(i * along, min((i + 1) * along, size))
            for i, along, size in zip(at, self.block, self.shape, strict=True)
        )


def flat(shape: Shape, elements: int, order: str = "C") -> BlockPlan:
    """Cut the fewest leading axes of the file, so that each block of up to `elements` is one range of the file."""
    sizes = shape[::-1] if order == "F" else shape
    block = [1] * len(sizes)
    for axis, size in enumerate(sizes):
        inner = max(1, prod(sizes[axis + 1 :]))
        block[axis] = max(1, min(size, elements // inner))
        if inner <= elements:
            block[axis + 1 :] = [max(1, size) for size in sizes[axis + 1 :]]
            break
    return BlockPlan(shape, tuple(block[::-1] if order == "F" else block), order)


def strips(region: Region, elements: int, order: str) -> Iterator[Region]:
    """Cut a region as `flat` does; the parts, one after the other, have its bytes in the order of a file."""
    plan = flat(extents(region), elements, order)
    for number in range(plan.blocks):
        yield tuple(
            slice(cut.start + within.start, cut.start + within.stop)
            for cut, within in zip(region, plan.region(number), strict=True)
        )


def even(shape: Shape, elements: int, order: str = "C") -> BlockPlan:
    """Cut the longest axes, for files of different order, so that no range in any of them is very short."""
    block = [max(1, size) for size in shape]
    while prod(block) > elements:
        longest = max(range(len(block)), key=block.__getitem__)
        block[longest] = -(-block[longest] // 2)
    return BlockPlan(shape, tuple(block), order)


def of_chunks(shape: Shape, chunk: Shape, elements: int) -> BlockPlan:
    """Return blocks of one chunk, or of several along the last axes with up to `elements` in total."""
    block = list(chunk)
    for axis in reversed(range(len(block))):
        times = max(1, elements // prod(block))
        needed = -(-max(1, shape[axis]) // chunk[axis])
        block[axis] *= min(times, needed)
    return BlockPlan(shape, tuple(block))


def default_chunk(shape: Shape, itemsize: int) -> Shape:
    """Return the chunk of a Zarr array if no operand determines it."""
    return flat(shape, max(1, _CHUNK_BYTES // itemsize)).block


def part(region: Region, dimensions: tuple[int | None, ...], rank: int) -> Region:
    """Return an operand's part of a block: the block's range where dimensions match, else its only element."""
    along = {own: cut for own, cut in zip(dimensions, region, strict=True) if own is not None}
    return tuple(along.get(own, slice(0, 1)) for own in range(rank))


def extents(region: Region) -> Shape:
    """Return the shape of a region."""
    return tuple(cut.stop - cut.start for cut in region)
