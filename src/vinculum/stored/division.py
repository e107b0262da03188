"""Division of stored arrays, block by block in bounded memory; an interrupted job can be resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError, ModelError
from vinculum.ops.operator import Operator, alignment_of
from vinculum.shown import Shown
from vinculum.spec.element_types import ElementType
from vinculum.stored.arrays import Place, Stored, check_place, open_stored
from vinculum.stored.identity import identity, settle
from vinculum.stored.job import carry_out
from vinculum.stored.plan import BLOCK_BYTES, BlockPlan, Shape, default_chunk, even, flat, of_chunks
from vinculum.stored.work import Division
from vinculum.stored.workers import workers
from vinculum.tensors.shapes import LARGEST_SIZE
from vinculum.tensors.storage import element_type_of, native_dtype
from vinculum.tensors.type_checking import check_element_types

_LARGER = 16  # How many times larger blocks may be where orders differ or chunks cross.

Name = str | os.PathLike[str]


@dataclass(frozen=True)
class Report(Shown):
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
    if task_bytes is not None and not (isinstance(task_bytes, int) and task_bytes >= 1):
        raise AttributeValueError(f"task_bytes is {task_bytes!r}; give a number of bytes from 1 on")
    if not isinstance(operator, Operator | None):
        raise AttributeValueError(f"operator is {operator!r}; give a vinculum.Operator")
    if not isinstance(element_type, ElementType | None):
        raise AttributeValueError(f"element_type is {element_type!r}; give one of vinculum.spec.element_types")
    # Workers may have other working directories.
    places = [Place.parse(os.fspath(name), absolute=client is not None) for name in (a, b, out) if name is not None]
    block_bytes = min(BLOCK_BYTES, task_bytes or BLOCK_BYTES)
    division = _division(operator or Operator("Div"), tuple(places[:-1]), places[-1], element_type, block_bytes)
    settle(division.identities.values())
    size = prod(division.plan.shape) * division.dtype.itemsize
    each = max(1, prod(division.plan.block) * division.dtype.itemsize)
    told = None if advance is None else (lambda blocks: advance(min(blocks * each, size), size))
    with workers(client) as pool:
        fair = -(-division.blocks // (2 * pool.number))  # so that a small job too has a task for each worker
        at_once = max(1, min((task_bytes or pool.task_bytes) // each, fair))
        resumed = carry_out(division, pool, at_once, told)
    named = element_type_of(np.empty(0, division.dtype)).name
    return Report(division.operator.spec.title, named, division.plan.shape, size, division.blocks, resumed)


def _division(
    operator: Operator,
    places: tuple[Place, ...],
    target: Place,
    raw_type: ElementType | None,
    block_bytes: int,
) -> Division:
    """Return a division after every check that needs no elements."""
    check_place(target)
    names = operator.spec.operand_names
    if len(places) != len(names):
        raise ElementTypeError(f"{operator.spec.title} takes {' and '.join(names)}; {len(places)} given")
    with ExitStack() as opened:
        operands = [opened.enter_context(open_stored(place, raw_type)) for place in places]
        types = tuple(element_type_of(np.empty(0, x.dtype), name) for x, name in zip(operands, names, strict=True))
        check_element_types(operator.spec, types)
        dtype = native_dtype(operands[0].dtype)
        alignment = alignment_of(operator, *(x.shape for x in operands))
        shape = alignment.shape
        if prod(size for size in shape if size) * dtype.itemsize > LARGEST_SIZE:
            raise BroadcastError(f"the result's shape {shape} holds more elements than a file can")
        alike = [(x, place) for x, place in zip(operands, places, strict=True) if x.shape == shape]
        alike.sort(key=lambda one: one[0].grid is None)
        elements = max(1, block_bytes // dtype.itemsize)
        chunk = (alike[0][0].grid if alike else None) or default_chunk(shape, dtype.itemsize)
        plan = _plan(shape, [x for x, _ in alike], target, chunk, elements)
        identities = {name: identity(place, x) for name, place, x in zip(names, places, operands, strict=True)}
    for path in (target.path, target.partial.path, target.journal):
        if path.exists() and any(path.samefile(place.path) for place in places):
            raise ModelError(f"{str(path)!r} is an operand, which is never written; give another place for the result")
    like = alike[0][1] if alike else None
    division = Division(operator, places, identities, target, raw_type, dtype, alignment, plan, chunk, like)
    division.reserve()
    return division


def _plan(shape: Shape, alike: Sequence[Stored], target: Place, chunk: Shape, elements: int) -> BlockPlan:
    """Return blocks for access in long ranges or whole chunks; `alike` are the operands of the result's shape.

    Where no blocks suit all files, larger ones have longer ranges, and read a chunk less often.
    """
    if target.format == "zarr" or (alike and alike[0].grid is not None):
        plan = of_chunks(shape, chunk, elements)
        crossing = any(x.grid is not None and plan.cuts(x.grid) for x in alike)
        return of_chunks(shape, chunk, _LARGER * elements) if crossing else plan
    order = alike[0].order if alike and target.format == "npy" else "C"
    if all(x.order == order for x in alike):
        return flat(shape, elements, order)
    elements = max(elements, min(_LARGER * elements, prod(shape) // 4))
    orders = [order, *(x.order for x in alike)]
    return min((cut(shape, elements, order) for cut in (flat, even)), key=lambda plan: sum(map(plan.ranges, orders)))
