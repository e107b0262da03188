"""Running a model over stored arrays, batch by batch to save memory; a killed run can be resumed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import AttributeValueError, ModelError, VinculumError
from vinculum.kernels.threads import threads
from vinculum.models.model import Engine, Model, check_engine
from vinculum.models.source import load
from vinculum.models.values import ModelTensor
from vinculum.ops.policies import Policies
from vinculum.spec.element_types import ElementType
from vinculum.stored.arrays import (
    UNNAMED,
    Place,
    Stored,
    check_place,
    check_unchanged,
    create,
    journal_of,
    open_stored,
)
from vinculum.stored.flat import as_bytes
from vinculum.stored.job import carry_out
from vinculum.stored.journal import Done
from vinculum.stored.plan import Region, Shape, extents
from vinculum.stored.workers import workers
from vinculum.text import quoted

Array = NDArray[Any]


@dataclass(frozen=True)
class BatchReport:
    """The result of a run over stored arrays.

    Attributes
    ----------
    items : int
        The number of items along the batch axis.
    blocks : int
        The number of blocks in which they were run.
    resumed : int
        How many of the blocks an earlier run had finished.
    outputs : dict of str to (str, tuple of int)
        The NumPy name of each output's element type, and its shape.
    """

    items: int
    blocks: int
    resumed: int
    outputs: dict[str, tuple[str, Shape]]


@dataclass(frozen=True)
class StoredInput:
    """An input that is divided into blocks."""

    name: str  # Its name in the model.
    place: Place  # Where it is stored.
    identity: list[object]  # Its identity when the job began.
    raw_type: ElementType | None  # The element type, if the file only stores raw bytes.


@dataclass(frozen=True)
class StoredOutput:
    """An output: its place, its type, and the shape of an item."""

    name: str
    place: Place
    dtype: np.dtype[Any]
    item: Shape

    @property
    def raw_type(self) -> ElementType | None:
        """The element type, if the file only stores raw bytes."""
        return next((t for t in UNNAMED if t.numpy == self.dtype.name), None)


@dataclass(frozen=True)
class ModelRun:
    """The work on the blocks of a batch; see `vinculum.stored.job.Work`."""

    model: Path  # The file, which the workers can read too.
    state: tuple[int, int]  # Its size and modification time when the job began.
    cut: tuple[StoredInput, ...]  # The inputs that are divided into blocks.
    whole: Mapping[str, Array]  # The inputs that are passed whole to each block.
    # The number of items, and of items in a block.
    items: int
    batch: int
    # As in `Model.run`.
    policies: Policies
    engine: Engine
    outputs: tuple[StoredOutput, ...] = ()

    @property
    def targets(self) -> tuple[Place, ...]:
        """Where the outputs are written."""
        return tuple(output.place for output in self.outputs)

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return -(-self.items // self.batch)

    def job(self) -> dict[str, Any]:
        """Return the data that identifies this job."""
        return {
            "vinculum": 1,
            "model": [self.model.name, *self.state],
            "inputs": {one.name: one.identity for one in self.cut},
            "whole": {name: [x.dtype.str, x.shape, zlib.crc32(as_bytes(x, "C"))] for name, x in self.whole.items()},
            "batch": self.batch,
            "zero_divisor": self.policies.zero_divisor,
            "overflow": self.policies.overflow,
            "engine": self.engine,
            "outputs": {one.name: [one.dtype.name, one.item] for one in self.outputs},
        }

    def at(self, targets: tuple[Place, ...]) -> Self:
        """Return the same run with other places for its outputs."""
        pairs = zip(self.outputs, targets, strict=True)
        return replace(self, outputs=tuple(replace(output, place=place) for output, place in pairs))

    def create(self) -> None:
        """Create the files of the outputs."""
        for output in self.outputs:
            chunk = tuple(max(1, size) for size in (self.batch, *output.item))
            create(output.place, (self.items, *output.item), output.dtype, chunk)

    def run(self, start: int, stop: int, write: bool) -> Done:
        """Run the model on some blocks and write the outputs."""
        crc = 0
        for number in range(start, stop):
            found = self.outputs_of(number)
            for output in self.outputs:
                array = found[output.name]
                region = self._region(number, output.item)
                if (array.dtype, array.shape) != (output.dtype, extents(region)):
                    raise ModelError(
                        f"output {quoted(output.name)} from item {region[0].start} on is {array.dtype} of shape "
                        f"{array.shape}, not {output.dtype} of {extents(region)}: the model does not keep the batch"
                    )
                with open_stored(output.place, output.raw_type, writable=True) as target:
                    target.write(region, np.ascontiguousarray(array))
                crc = zlib.crc32(as_bytes(array, "C"), crc)
        return Done(start, stop, crc)

    def intact(self, done: Done) -> Done | None:
        """Return `done` if the outputs still hold its results, else None."""
        crc = 0
        try:
            for number in range(done.start, done.stop):
                for output in self.outputs:
                    with open_stored(output.place, output.raw_type) as target:
                        crc = zlib.crc32(as_bytes(_read(target, self._region(number, output.item)), "C"), crc)
        except (OSError, ModelError):  # Truncated by a power failure, for example.
            return None
        return done if crc == done.crc else None

    def finish(self, done: Sequence[Done]) -> None:
        """Raise an error if an input or the model has changed."""
        for one in self.cut:
            check_unchanged(one.place, one.identity, one.raw_type)
        if _state(self.model) != self.state:
            raise ModelError(
                f"{str(self.model)!r} changed during the run; delete the .partial and .journal files, and start again"
            )

    def outputs_of(self, number: int) -> dict[str, Array]:
        """Return the model's outputs for a block."""
        inputs = dict(self.whole)
        for one in self.cut:
            with open_stored(one.place, one.raw_type) as stored:
                inputs[one.name] = _read(stored, self._region(number, stored.shape[1:]))
        rows = self._region(number, ())[0]
        try:
            with threads(1):  # Blocks run in parallel already.
                return _loaded(self.model, self.state).run(
                    inputs,
                    zero_divisor=self.policies.zero_divisor,
                    overflow=self.policies.overflow,
                    engine=self.engine,
                )
        except VinculumError as error:
            error.locate(f"items {rows.start} to {rows.stop - 1} of the batch")
            raise

    def _region(self, number: int, item: Shape) -> Region:
        start = number * self.batch
        return slice(start, min(start + self.batch, self.items)), *(slice(0, size) for size in item)


def run_stored(
    model: Path,
    inputs: Mapping[str, Place | Array],
    outputs: Callable[[str], Place],
    *,
    batch: int,
    policies: Policies,
    engine: Engine = "reference",
    client: Any = None,
    advance: Callable[[int, int], None] | None = None,
) -> BatchReport:
    """Run a model over stored arrays, in blocks of items of the batch, and write its outputs.

    The model must treat the items of a batch, along the first axis, alike and independently. The same call again
    resumes a killed run.

    - `model`: the file.
    - `inputs`: stored arrays are divided into blocks along the first axis, unless the model fixes its size; others are
      passed whole to each block.
    - `outputs`: returns the place for the output of a name.
    - `batch`: the number of items in a block.
    - `policies`, `engine`: as in `Model.run`.
    - `client`, `advance`: as in `vinculum.stored.divide`; items are counted.

    OSError if something cannot be read or written; finished blocks are kept. DivisionByZeroError and
    IntegerOverflowError according to the policies; the message names the items, and no files are left. Another
    VinculumError if an input cannot be read or does not match the model's declaration, or the model does not keep the
    batch.
    """
    check_engine(engine)
    if batch < 1:
        raise AttributeValueError(f"batch is {batch}; give a number of items from 1 on")
    state = _state(model)
    loaded = _loaded(model.absolute(), state)
    cut, whole, items = _cut(loaded, inputs, batch)
    run = ModelRun(model.absolute(), state, cut, whole, items, batch, policies, engine)
    first = run.outputs_of(0)
    rows = min(batch, items)
    for name, array in first.items():
        if array.shape[:1] != (rows,):
            raise ModelError(
                f"output {quoted(name)} of {rows} items has shape {array.shape}: the model does not keep the batch"
            )
    made = tuple(StoredOutput(name, outputs(name), array.dtype, array.shape[1:]) for name, array in first.items())
    run = replace(run, outputs=made)
    for output in made:
        check_place(output.place)
    count_items = None if advance is None else (lambda blocks: advance(min(blocks * batch, items), items))
    with workers(client) as hands:
        resumed = carry_out(run, journal_of(made[0].place), hands, 1, count_items)
    shapes = {output.name: (output.dtype.name, (items, *output.item)) for output in made}
    return BatchReport(items, run.blocks, resumed, shapes)


def _cut(
    model: Model, inputs: Mapping[str, Place | Array], batch: int
) -> tuple[tuple[StoredInput, ...], dict[str, Array], int]:
    """Return the inputs that are divided into blocks, those that are not, and the number of items."""
    tensors = {tensor.name: tensor for tensor in model.inputs}
    cut: list[StoredInput] = []
    whole: dict[str, Array] = {}
    sizes: dict[str, int] = {}
    for name, given in inputs.items():
        if not isinstance(given, Place):
            whole[name] = given
            continue
        raw_type = next((t for t in UNNAMED if t is tensors[name].element_type), None)
        with open_stored(given, raw_type) as stored:
            if _is_cut(tensors[name], stored.shape, batch):
                cut.append(StoredInput(name, given, stored.identity(), raw_type))
                sizes[name] = stored.shape[0]
            else:
                whole[name] = _read(stored, tuple(slice(0, size) for size in stored.shape))
    if not cut:
        raise ModelError("no input has a batch axis: the model fixes the first size of each; run it without --batch")
    if len(set(sizes.values())) > 1 or 0 in sizes.values():
        counts = ", ".join(f"{name}: {size}" for name, size in sizes.items())
        raise ModelError(f"the numbers of items differ or are 0 ({counts}); give each input the same number")
    return tuple(cut), whole, next(iter(sizes.values()))


def _is_cut(tensor: ModelTensor, shape: Shape, batch: int) -> bool:
    if tensor.shape is None or not tensor.shape or not shape:
        return False
    declared = tensor.shape[0]
    return not isinstance(declared, int) or (declared == batch != shape[0])


def _read(stored: Stored, region: Region) -> Array:
    return stored.read(region, np.empty(prod(extents(region)) * stored.dtype.itemsize, np.uint8))


def _state(model: Path) -> tuple[int, int]:
    status = model.stat()
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=2)
def _loaded(model: Path, state: tuple[int, int]) -> Model:
    """Return the model in a file; each process reads it once, as long as the file does not change."""
    return load(model)
