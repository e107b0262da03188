"""The tasks for a block: dividing it, or finding the elements for which a policy raises."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from math import prod
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from vinculum.errors import BroadcastError, ElementTypeError
from vinculum.kernels.contract import Exceptions, Index, joined
from vinculum.kernels.threads import threads
from vinculum.ops.operator import Operator, divide_blocks
from vinculum.ops.policies import raise_exceptions
from vinculum.tensors import storage

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class BlockDivision:
    """The division of one block, as a task."""

    operator: Operator
    dtype: np.dtype[Any]  # The declared type of the Dask arrays, in native byte order.
    unknown: tuple[int, ...]  # The dimensions in which both sizes were unknown.

    @property
    def __name__(self) -> str:
        """The name of its tasks in Dask; the argument of `map_blocks` for this depends on Dask's version."""
        return f"vinculum-{self.operator.spec.name.lower()}"

    def __dask_tokenize__(self) -> object:
        """Return what identifies it to Dask; otherwise Dask pickles the operator, which takes 15 times as long."""
        made_from, _ = self.operator.__reduce__()
        return type(self).__name__, repr(made_from), self.dtype.name, self.unknown

    def __call__(self, *blocks: object) -> Array:
        """Return the quotients of a block; the verdict follows the operands if a policy raises."""
        quotients = self.divide(*blocks[: len(self.operator.spec.inputs)])
        if isinstance(quotients, Exceptions):
            self.judge(quotients)  # the operands have changed since they were checked
        return quotients

    def divide(self, *blocks: object) -> Array | Exceptions:
        """Return the quotients of a block, or the exceptions for which a policy raises; one thread per block."""
        names = self.operator.spec.operand_names
        arrays = [self.checked(block, name) for block, name in zip(blocks, names, strict=True)]
        if any(arrays[0].shape[d] != arrays[1].shape[d] for d in self.unknown):
            raise BroadcastError(
                f"a block of A has shape {arrays[0].shape} and that of B {arrays[1].shape}, unknown when they were "
                "joined; call compute_chunk_sizes() on both operands first"
            )
        with threads(1):
            return divide_blocks(self.operator, *arrays)

    def checked(self, block: object, name: str) -> Array:
        """Return a block as an array, after checking that it has the element type that its Dask array declares."""
        array = storage.as_operand(block, f"a block of {name}")
        storage.element_type_of(array, f"a block of {name}")
        if storage.native_dtype(array.dtype) != self.dtype:
            raise ElementTypeError(
                f"a block of {name} has type {array.dtype}; its Dask array declares {self.dtype}: nothing is converted"
            )
        return array

    def judge(self, exceptions: Exceptions) -> NoReturn:
        """Raise the same error as for NumPy arrays."""
        raise_exceptions(exceptions, self.operator.policies, self.operator.spec, partial=False)


@dataclass(frozen=True)
class Findings:
    """The exceptional elements of some blocks.

    Their indices have two numbers for each dimension: that of the block, and the index within it. Such indices sort
    like those in the whole array, even if the sizes of the preceding blocks are unknown.
    """

    exceptions: Exceptions  # The number of elements is known only at the end.
    sizes: tuple[frozenset[tuple[int, int]], ...]  # For each dimension, the number and size of each block.


@dataclass(frozen=True)
class BlockCheck:
    """A task's search for exceptional elements; all except MIN/-1 are found in the divisor's block alone."""

    division: BlockDivision
    __name__ = "vinculum-check"  # The name of its tasks in Dask.

    def __call__(self, *blocks: Any, block_id: tuple[int, ...]) -> Findings:
        """Return the findings of a block."""
        if len(blocks) == 1:
            divisor = self.division.checked(blocks[0], "B")
            shape, found = divisor.shape, _zeros(divisor)
        else:
            shape, quotients = np.broadcast_shapes(*map(np.shape, blocks)), self.division.divide(*blocks)
            found = quotients if isinstance(quotients, Exceptions) else Exceptions(0, 0, None, 0, None)
        sizes = tuple(frozenset([along]) for along in zip(block_id, shape, strict=True))
        return Findings(found.moved(lambda index: tuple(chain(*zip(block_id, index, strict=True)))), sizes)


def _zeros(divisor: Array) -> Exceptions:
    """Return the exceptions of zero divisors."""
    zeros = divisor.size - int(np.count_nonzero(divisor))
    first = np.unravel_index(int(np.argmin(divisor.astype(bool))), divisor.shape) if zeros else None
    return Exceptions(0, zeros, None if first is None else tuple(map(int, first)), 0, None)


def merged(parts: Iterable[Findings]) -> Findings:
    """Return the joint findings of all blocks."""
    found = list(parts)
    sizes = (frozenset[tuple[int, int]]().union(*along) for along in zip(*(part.sizes for part in found), strict=True))
    return Findings(joined((part.exceptions for part in found), 0), tuple(sizes))


@dataclass(frozen=True)
class Verdict:
    """The last task's verdict on all findings, with the result's shape if it is known."""

    division: BlockDivision
    shape: tuple[int, ...] | None

    def __call__(self, parts: Iterable[Findings], *earlier: object) -> bool:
        """Raise the same error as for NumPy arrays if there are findings; else return true, as do earlier verdicts."""
        all_parts = merged(parts)
        found = all_parts.exceptions
        if found.zero_divisors or found.overflows:
            starts = [list(accumulate((size for _, size in sorted(along)), initial=0)) for along in all_parts.sizes]
            looked_at = prod(start[-1] for start in starts)
            elements = looked_at if self.shape is None else prod(self.shape)

            def in_whole(place: Index) -> Index:
                return tuple(s[block] + i for s, block, i in zip(starts, place[::2], place[1::2], strict=True))

            zeros = found.zero_divisors * (elements // looked_at)  # counted as often as the divisor is repeated
            self.division.judge(replace(found.moved(in_whole), elements=elements, zero_divisors=zeros))
        return True
