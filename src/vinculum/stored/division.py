"""Division of stored arrays, block by block in bounded memory; an interrupted job can be resumed."""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Self

import numpy as np

from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError, ModelError
from vinculum.kernels.contract import Exceptions
from vinculum.kernels.threads import threads
from vinculum.ops.operator import Operator
from vinculum.ops.policies import raise_exceptions
from vinculum.spec.element_types import ElementType
from vinculum.stored.arrays import Array, Place, Stored, check_place, check_unchanged, create, journal_of, open_stored
from vinculum.stored.flat import as_bytes, in_buffer
from vinculum.stored.job import carry_out
from vinculum.stored.journal import Done
from vinculum.stored.plan import BlockPlan, Region, Shape, default_chunk, even, extents, flat, of_chunks, part
from vinculum.stored.workers import workers
from vinculum.tensors.broadcasting import Alignment
from vinculum.tensors.shapes import LARGEST_SIZE
from vinculum.tensors.storage import element_type_of, native_dtype
from vinculum.tensors.type_checking import check_element_types

_BLOCK_BYTES = 2 << 20  # So that a thread's blocks of both operands and of the result fit in its processor's cache.

Name = str | os.PathLike[str]


@dataclass(frozen=True)
class Report:
    """The result of a division of stored arrays.

    Attributes
    ----------
    operator, element_type : str
        The operator version, and the operands' element type.
    shape : tuple of int
        The shape of the result.
    bytes : int
        The size of the result.
    blocks : int
        The number of blocks computed.
    resumed : int
        How many of these blocks an earlier run had finished.
    """

    operator: str
    element_type: str
    shape: Shape
    bytes: int
    blocks: int
    resumed: int


def divide(
    a: Name,
    b: Name | None,
    out: Name,
    *,
    operator: Operator | None = None,
    element_type: ElementType | None = None,
    task_bytes: int | None = None,
    client: Any = None,
    advance: Callable[[int, int], None] | None = None,
) -> Report:
    """Divide two stored arrays into a third, which appears only when it is complete.

    After an interruption the same call continues. Until the end there are ``out.partial`` and ``out.journal``.

    Parameters
    ----------
    a, b : path
        ``NAME.npy``, a folder of Zarr (version 2 or 3), or ``NAME.h5:/DATASET``; `b` is None for Reciprocal.
    out : path
        In one of these forms, and not existing yet; an HDF5 dataset gets a file of its own.
    operator : Operator, optional
        The operator; the newest Div if None.
    element_type : ElementType, optional
        The type of raw elements, as which files store types that their format lacks.
    task_bytes : int, optional
        The approximate number of bytes of the result per task and per line of the journal.
    client : distributed.Client, optional
        The client whose workers divide; they must see the same files. Threads of this process if None.
    advance : callable, optional
        Called with the number of bytes done and the total.

    Raises
    ------
    ModelError
        If an array cannot be read, `out` exists, the journal belongs to another job, or an operand changes.
    ElementTypeError, BroadcastError
        If the operator does not take such operands.
    DivisionByZeroError, IntegerOverflowError, ConstraintError
        As one call in memory would, with the count and the first index in the whole result; no file is left.
    OSError
        If something cannot be read or written; finished blocks are kept.
    """
    if task_bytes is not None and task_bytes < 1:
        raise AttributeValueError(f"task_bytes is {task_bytes}; give a number of bytes from 1 on")
    # Workers may have other working directories.
    places = [Place.parse(os.fspath(name), absolute=client is not None) for name in (a, b, out) if name is not None]
    *operands, target = places
    check_place(target)
    block_bytes = min(_BLOCK_BYTES, task_bytes or _BLOCK_BYTES)
    division = _division(operator or Operator("Div"), tuple(operands), target, element_type, block_bytes)
    journal = journal_of(target)
    for path in (target.path, target.partial.path, journal):
        if path.exists() and any(path.samefile(place.path) for place in operands):
            raise ModelError(f"{str(path)!r} is an operand, which is never written; give another place for the result")
    size = prod(division.plan.shape) * division.dtype.itemsize
    each = max(1, prod(division.plan.block) * division.dtype.itemsize)
    told = None if advance is None else (lambda blocks: advance(min(blocks * each, size), size))
    with workers(client) as pool:
        fair = -(-division.blocks // (2 * pool.number))  # so that a small job too has a task for each worker
        at_once = max(1, min((task_bytes or pool.task_bytes) // each, fair))
        resumed = carry_out(division, journal, pool, at_once, told)
    named = element_type_of(np.empty(0, division.dtype)).name
    return Report(division.operator.spec.title, named, division.plan.shape, size, division.blocks, resumed)


@dataclass(frozen=True)
class Division:
    """The work on each block, and its files; see `vinculum.stored.job.Work`.

    Attributes
    ----------
    operator : Operator
        The operator.
    operands : tuple of Place
        A and B, or the one operand.
    identities : tuple of list
        The identities of the operands when the job began.
    target : Place
        Where the quotients are written.
    raw_type : ElementType or None
        The type of raw elements.
    dtype : numpy.dtype
        The type of the quotients.
    alignment : Alignment
        How the operands are broadcast.
    plan : BlockPlan
        The blocks.
    chunk : tuple of int
        The shape of the part that Zarr stores in a file.
    like : Place or None
        An operand of the result's shape, whose chunks and compression the result takes if its format allows.
    """

    operator: Operator
    operands: tuple[Place, ...]
    identities: tuple[list[object], ...]
    target: Place
    raw_type: ElementType | None
    dtype: np.dtype[Any]
    alignment: Alignment
    plan: BlockPlan
    chunk: Shape
    like: Place | None

    @property
    def targets(self) -> tuple[Place, ...]:
        """Where the quotients are written."""
        return (self.target,)

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return self.plan.blocks

    def job(self) -> dict[str, Any]:
        """Return the data that identify this job."""
        return {
            "vinculum": 1,
            "operator": self.operator.spec.title,
            "attributes": dict(self.operator.attributes),
            "zero_divisor": self.operator.policies.zero_divisor,
            "overflow": self.operator.policies.overflow,
            "element_type": str(self.dtype),
            "operands": self.identities,
            "shape": self.plan.shape,
            "block": self.plan.block,
            "order": self.plan.order,
        }

    def at(self, targets: tuple[Place, ...]) -> Self:
        """Return the same division with its target in another place."""
        return replace(self, target=targets[0])

    def create(self) -> None:
        """Make the target."""
        with ExitStack() as opened:
            like = None if self.like is None else opened.enter_context(open_stored(self.like, self.raw_type))
            create(self.target, self.plan.shape, self.dtype, self.chunk, like)

    def run(self, start: int, stop: int, write: bool) -> Done:
        """Divide some blocks and write the quotients."""
        crc, found = 0, []
        with ExitStack() as opened:
            operands = [opened.enter_context(open_stored(place, self.raw_type)) for place in self.operands]
            target = opened.enter_context(open_stored(self.target, self.raw_type, writable=True))
            for number in range(start, stop):
                region = self.plan.region(number)
                parts = [self._part(x, region, which) for which, x in enumerate(operands)]
                out = in_buffer(_buffer(2, self._bytes(region)), extents(region), self.dtype, target.order)
                with threads(1):  # other blocks have other threads
                    quotients = self.operator.on_blocks(*parts, out=out)
                if isinstance(quotients, Exceptions):
                    found.append(_within(quotients, region))
                elif write and not found:
                    target.write(region, out)
                    crc = zlib.crc32(as_bytes(out, target.order), crc)
        return Done(start, stop, crc if write and not found else None, self._joined(found))

    def intact(self, done: Done) -> Done | None:
        """Return the finished blocks that the target still holds."""
        crc = 0
        try:
            with open_stored(self.target, self.raw_type) as target:
                for number in range(done.start, done.stop):
                    region = self.plan.region(number)
                    block = target.read(region, _buffer(2, self._bytes(region)))
                    crc = zlib.crc32(as_bytes(block, target.order), crc)
        except (OSError, ModelError):  # cut off, say, by a loss of power
            return None
        return done if crc == done.crc else None

    def finish(self, done: Sequence[Done]) -> None:
        """Raise if an operand has changed, or if a policy raises."""
        for place, before in zip(self.operands, self.identities, strict=True):
            check_unchanged(place, before, self.raw_type)
        found = self._joined([one.exceptions for one in done if one.exceptions is not None])
        if found is not None:
            raise_exceptions(found, self.operator.policies, self.operator.spec, partial=False)

    def _part(self, operand: Stored, region: Region, which: int) -> Array:
        """Return an operand's part of a block, with the result's rank."""
        dimensions = (self.alignment.a, self.alignment.b)[which]
        wanted = part(region, dimensions, len(operand.shape))
        block = operand.read(wanted, _buffer(which, prod(extents(wanted)) * operand.dtype.itemsize))
        return block.reshape([1 if own is None else block.shape[own] for own in dimensions])

    def _bytes(self, region: Region) -> int:
        return prod(extents(region)) * self.dtype.itemsize

    def _joined(self, found: Sequence[Exceptions]) -> Exceptions | None:
        """Return the exceptions of several blocks as those of the whole result."""
        if not found:
            return None
        zeros = [one.first_zero_divisor for one in found if one.first_zero_divisor is not None]
        overflows = [one.first_overflow for one in found if one.first_overflow is not None]
        return Exceptions(
            prod(self.plan.shape),
            sum(one.zero_divisors for one in found),
            min(zeros, default=None),
            sum(one.overflows for one in found),
            min(overflows, default=None),
        )


def _within(found: Exceptions, region: Region) -> Exceptions:
    """Return the exceptions of a block by their indices in the result."""

    def index(local: tuple[int, ...] | None) -> tuple[int, ...] | None:
        return None if local is None else tuple(cut.start + i for cut, i in zip(region, local, strict=True))

    return replace(
        found, first_zero_divisor=index(found.first_zero_divisor), first_overflow=index(found.first_overflow)
    )


_memory = threading.local()


def _buffer(which: int, size: int) -> Array:
    """Return this thread's buffer of at least `size` bytes; it is reused, as new pages cost as much as dividing."""
    buffers: dict[int, Array] = _memory.__dict__.setdefault("buffers", {})
    if which not in buffers or len(buffers[which]) < size:
        buffers[which] = np.empty(size, np.uint8)
    return buffers[which]


def _division(
    operator: Operator,
    places: tuple[Place, ...],
    target: Place,
    raw_type: ElementType | None,
    block_bytes: int,
) -> Division:
    """Return a division after every check that needs no elements."""
    names = operator.spec.operand_names
    if len(places) != len(names):
        raise ElementTypeError(f"{operator.spec.title} takes {' and '.join(names)}; {len(places)} given")
    with ExitStack() as opened:
        operands = [opened.enter_context(open_stored(place, raw_type)) for place in places]
        types = tuple(element_type_of(np.empty(0, x.dtype), name) for x, name in zip(operands, names, strict=True))
        check_element_types(operator.spec, types)
        dtype = native_dtype(operands[0].dtype)
        alignment = operator.alignment(*(x.shape for x in operands))
        shape = alignment.shape
        if prod(size for size in shape if size) * dtype.itemsize > LARGEST_SIZE:
            raise BroadcastError(f"the result's shape {shape} holds more elements than a file can")
        alike = [(x, place) for x, place in zip(operands, places, strict=True) if x.shape == shape]
        alike.sort(key=lambda one: one[0].grid is None)
        elements = max(1, block_bytes // dtype.itemsize)
        chunk = (alike[0][0].grid if alike else None) or default_chunk(shape, dtype.itemsize)
        plan = _plan(shape, [x for x, _ in alike], target, chunk, elements)
        identities = tuple(x.identity() for x in operands)
    like = alike[0][1] if alike else None
    return Division(operator, places, identities, target, raw_type, dtype, alignment, plan, chunk, like)


def _plan(shape: Shape, alike: Sequence[Stored], target: Place, chunk: Shape, elements: int) -> BlockPlan:
    """Return blocks for access in long ranges or whole chunks; `alike` are the operands of the result's shape."""
    if target.format == "zarr" or (alike and alike[0].grid is not None):
        return of_chunks(shape, chunk, elements)
    order = alike[0].order if alike and target.format == "npy" else "C"
    cut = flat if all(x.order == order for x in alike) else even
    return cut(shape, elements, order)
