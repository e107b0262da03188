"""The work on each block of a division of stored arrays."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np

from vinculum.errors import ModelError
from vinculum.kernels.contract import Exceptions, Index, joined
from vinculum.kernels.threads import threads
from vinculum.ops.operator import Operator, divide_blocks
from vinculum.ops.policies import raise_exceptions
from vinculum.spec.element_types import ElementType
from vinculum.stored.arrays import Array, Place, Stored, create, open_stored
from vinculum.stored.flat import as_bytes, in_buffer
from vinculum.stored.identity import Identity, check_opened, check_unchanged
from vinculum.stored.journal import Done
from vinculum.stored.plan import BLOCK_BYTES, BlockPlan, Region, Shape, extents, part, strips
from vinculum.tensors.broadcasting import Alignment
from vinculum.version import __version__


@dataclass(frozen=True)
class Division:
    """A division of stored arrays, block by block; it is pickled for the workers."""

    operator: Operator
    operands: tuple[Place, ...]
    identities: Mapping[str, Identity]  # Of each operand when the job began, by its name.
    target: Place
    raw_type: ElementType | None  # Of raw elements.
    dtype: np.dtype[Any]  # Of the quotients.
    alignment: Alignment
    plan: BlockPlan
    chunk: Shape  # What Zarr stores in a file.
    like: Place | None  # An operand of the result's shape, whose chunks and compression the result takes.
    made: int | None = None  # The inode of the file or folder that this job made for the quotients.
    version: str = __version__  # Workers that join later must have the same.

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return self.plan.blocks

    def job(self) -> dict[str, Any]:
        """Return the data that identify this job."""
        return {
            "vinculum": self.version,
            "operator": self.operator.spec.title,
            "attributes": dict(self.operator.attributes),
            "zero_divisor": self.operator.policies.zero_divisor,
            "overflow": self.operator.policies.overflow,
            "element_type": str(self.dtype),
            "operands": dict(self.identities),
            "shape": self.plan.shape,
            "block": self.plan.block,
            "order": self.plan.order,
        }

    def reserve(self) -> None:
        """Refuse blocks that are larger than memory, before anything is made."""
        size = prod(self.plan.block) * self.dtype.itemsize
        try:
            np.empty(size, np.uint8)
        except MemoryError:
            raise ModelError(
                f"a block of {self.plan.block}, one chunk, takes {size} bytes of memory, three times per thread, and "
                "there are fewer; store the operands in smaller chunks"
            ) from None

    def create(self) -> None:
        """Make the target."""
        with ExitStack() as opened:
            like = None if self.like is None else opened.enter_context(open_stored(self.like, self.raw_type))
            create(self.target, self.plan.shape, self.dtype, self.chunk, like)

    def run(self, start: int, stop: int, write: bool) -> Done:
        """Divide some blocks and write them; without `write`, only find exceptions for which a policy raises."""
        if self.version != __version__:
            raise ModelError(f"a worker has vinculum {__version__}, and the job {self.version}; install one")
        crc, found = 0, []
        with self._operands() as operands, self._target(writable=write) as target:
            for number in range(start, stop):
                for region, parts in self._parts(operands, target, self.plan.region(number)):
                    out = in_buffer(_buffer(2, self._bytes(region)), extents(region), self.dtype, target.order)
                    with threads(1):  # Each thread divides other blocks.
                        quotients = divide_blocks(self.operator, *parts, out=out)
                    if isinstance(quotients, Exceptions):
                        found.append(quotients.moved(partial(_in_result, region)))
                    elif write and not found:
                        self._check_made(target)
                        target.write(region, out)
                        crc = zlib.crc32(as_bytes(out, target.order), crc)
        return Done(start, stop, crc if write and not found else None, self._joined(found))

    def intact(self, done: Done) -> Done | None:
        """Return the finished blocks if the target still holds them, else None."""
        crc = 0
        try:
            with self._target() as target:
                for number in range(done.start, done.stop):
                    region = self.plan.region(number)
                    block = target.read(region, _buffer(2, self._bytes(region)))
                    crc = zlib.crc32(as_bytes(block, target.order), crc)
        except (OSError, ModelError):  # Such as a file truncated by a power failure.
            return None
        return done if crc == done.crc else None

    def finish(self, done: Sequence[Done]) -> None:
        """Raise if an operand has changed, or if a policy raises."""
        for place, before in zip(self.operands, self.identities.values(), strict=True):
            with open_stored(place, self.raw_type) as array:
                check_unchanged(place, array, before)
        found = self._joined([one.exceptions for one in done if one.exceptions is not None])
        if found is not None:
            raise_exceptions(found, self.operator.policies, self.operator.spec, partial=False)

    @contextmanager
    def _operands(self) -> Iterator[list[Stored]]:
        """Open the operands, and check before and after that they are those with which the job began."""
        with ExitStack() as opened:
            operands = [opened.enter_context(open_stored(place, self.raw_type)) for place in self.operands]
            begun = list(zip(self.operands, operands, self.identities.values(), strict=True))
            for one in begun:
                check_opened(*one)
            yield operands
            for one in begun:
                check_opened(*one)

    @contextmanager
    def _target(self, *, writable: bool = False) -> Iterator[Stored]:
        """Open the file or folder that the job made; another one in its place is refused."""
        with open_stored(self.target, self.raw_type, writable=writable) as target:
            self._check_made(target)
            yield target

    def _check_made(self, target: Stored) -> None:
        if target.status().st_ino != self.made:
            raise ModelError(f"{str(self.target.path)!r} is not what this job made; move it away, and begin again")

    def _parts(
        self, operands: Sequence[Stored], target: Stored, region: Region
    ) -> Iterator[tuple[Region, list[Array]]]:
        """Yield the parts of a block that are divided at once, and the operands' parts of each.

        An operand of another order is read for the whole block, in longer ranges, and the kernels transpose it.
        """
        tiles = {w: self._part(x, region, w) for w, x in enumerate(operands) if x.order != target.order}
        elements = max(1, BLOCK_BYTES // self.dtype.itemsize)
        for strip in strips(region, elements, target.order) if tiles and target.grid is None else [region]:
            inside = tuple(slice(s.start - r.start, s.stop - r.start) for s, r in zip(strip, region, strict=True))
            parts = []
            for which, operand in enumerate(operands):
                if which in tiles:
                    repeated = [own is None for own in self._axes(which)]
                    cuts = (slice(None) if one else cut for one, cut in zip(repeated, inside, strict=True))
                    parts.append(tiles[which][tuple(cuts)])
                else:
                    parts.append(self._part(operand, strip, which))
            yield strip, parts

    def _axes(self, which: int) -> tuple[int | None, ...]:
        """Return the axis of an operand for each axis of the result."""
        return (self.alignment.a, self.alignment.b)[which]

    def _part(self, operand: Stored, region: Region, which: int) -> Array:
        """Return an operand's part of a block, with the result's rank."""
        dimensions = self._axes(which)
        wanted = part(region, dimensions, len(operand.shape))
        block = operand.read(wanted, _buffer(which, prod(extents(wanted)) * operand.dtype.itemsize))
        return block.reshape([1 if own is None else block.shape[own] for own in dimensions])

    def _bytes(self, region: Region) -> int:
        return prod(extents(region)) * self.dtype.itemsize

    def _joined(self, found: Sequence[Exceptions]) -> Exceptions | None:
        """Return the exceptions of several blocks as those of the whole result; None if there are none."""
        return joined(found, prod(self.plan.shape)) if found else None


def _in_result(region: Region, index: Index) -> Index:
    """Return the index in the result of an element of a region."""
    return tuple(cut.start + i for cut, i in zip(region, index, strict=True))


_memory = threading.local()


def _buffer(which: int, size: int) -> Array:
    """Return this thread's buffer of at least `size` bytes; it is reused, as new pages cost as much as dividing."""
    buffers: dict[int, Array] = _memory.__dict__.setdefault("buffers", {})
    if which not in buffers or len(buffers[which]) < size:
        buffers[which] = np.empty(size, np.uint8)
    return buffers[which]
