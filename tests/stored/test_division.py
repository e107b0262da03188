"""Stored arrays have the quotients and errors of arrays in memory, whatever their format and blocks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import h5py
import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import RULES, SHAPES_ALIKE, case, outcome, telling
from tests.stored.stores import KINDS, Array, put, taken
from vinculum import Operator, div
from vinculum.errors import AttributeValueError, BroadcastError, MissingPackageError, ModelError
from vinculum.stored import divide, job, journal, work
from vinculum.stored.arrays import UNNAMED
from vinculum.tensors.storage import dtype_of, element_type_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")


@pytest.fixture(scope="module", autouse=True)
def nothing_flushed() -> Iterator[None]:
    """Do not flush to disk, which takes long; each result is flushed three times."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (job, journal):
            patch.setattr(module, "sync_data", lambda file: None)
        yield


OUT = {"npy": "c.npy", "zarr": "c.zarr", "hdf5": "c.h5:/group/q"}
SONNX: dict[str, Any] = {"name": "Div", "dialect": "sonnx", "variant": "int"}

POLICIES: tuple[Any, ...] = ({}, {"zero_divisor": "zero"}, {"overflow": "raise", "zero_divisor": "saturate"})


def stored(operator: Operator, names: list[str], out: str, dtype: np.dtype[Any], task_bytes: int) -> Array:
    """Return the result of a job, and check that it leaves no other files."""
    raw_type = element_type_of(np.empty(0, dtype)) if dtype.isbuiltin == 2 else None
    path = Path(out.partition(":")[0])
    before = set(path.parent.iterdir())
    try:
        divide(names[0], names[1], out, operator=operator, element_type=raw_type, task_bytes=task_bytes)
    except BaseException:
        assert set(path.parent.iterdir()) == before
        raise
    assert set(path.parent.iterdir()) == before | {path}
    return taken(out, dtype if raw_type is not None else None)


class TestQuotients:
    """The same bits and the same errors as in memory."""

    @pytest.mark.parametrize("rule", [*RULES, "SONNX"])
    def test_every_type_by_every_rule(self, rule: str, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        arguments, shapes = (SONNX, SHAPES_ALIKE) if rule == "SONNX" else RULES[rule]
        for number, element_type in enumerate(Operator(**arguments).spec.element_types):
            task_bytes = (100, 20, 150, 1, 30, 60)[number % 6]
            for place, (shape_a, shape_b) in enumerate(shapes[number % 4 :: 4] or shapes):
                dtype = dtype_of(element_type)
                a, b = telling(rng, shape_a, dtype), telling(rng, shape_b, dtype)
                names = [put(tmp_path, name, x, "npy") for name, x in (("a", a), ("b", b))]
                policy = {} if rule == "SONNX" else POLICIES[(number + place) % 3]
                with case(dtype, shape_a, shape_b, policy), TemporaryDirectory(dir=tmp_path) as folder:
                    operator = Operator(**arguments, **policy)
                    got = partial(stored, operator, names, f"{folder}/c.npy", dtype, task_bytes)
                    assert outcome(got) == outcome(partial(operator, a, b))

    @settings(max_examples=settings().max_examples // 2)  # each takes long
    @given(
        shape=st.lists(st.integers(0, 7), max_size=3),
        repeated=st.lists(st.booleans(), min_size=3, max_size=3),
        dropped=st.integers(0, 3),
        kinds=st.tuples(*[st.sampled_from(KINDS)] * 2, st.sampled_from(("npy", "zarr", "hdf5"))),
        dtype=st.sampled_from(["i1", "u2", "i4", "i8", "f4", "f8"]),
        zero_divisor=st.sampled_from(["raise", "zero", "saturate"]),
        overflow=st.sampled_from(["wrap", "raise"]),
        zeros=st.booleans(),
        swapped=st.booleans(),
        chunk=st.integers(1, 4),
        task_bytes=st.integers(1, 200),
        seed=st.integers(0, 2**32),
    )
    def test_any_shapes_stored_as_anything(
        self,
        shape: list[int],
        repeated: list[bool],
        dropped: int,
        kinds: tuple[str, str, str],
        dtype: str,
        zero_divisor: Any,
        overflow: Any,
        zeros: bool,
        swapped: bool,
        chunk: int,
        task_bytes: int,
        seed: int,
    ) -> None:
        rng = np.random.default_rng(seed)
        shape_b = [1 if again else size for size, again in zip(shape, repeated, strict=False)][dropped:]
        a, b = (telling(rng, tuple(sizes), np.dtype(dtype)) for sizes in (shape, shape_b))
        b = np.where(b == 0, b.dtype.type(1), b)
        if zeros:
            b = np.where(rng.random(b.shape) < 0.1, b.dtype.type(0), b)
        if swapped:
            a, b = b, a
        operator = Operator("Div", zero_divisor=zero_divisor, overflow=overflow)
        with TemporaryDirectory() as folder:
            names = [
                put(Path(folder), name, x, kind, chunk) for name, x, kind in zip("ab", (a, b), kinds, strict=False)
            ]
            got = partial(stored, operator, names, f"{folder}/{OUT[kinds[2]]}", a.dtype, task_bytes)
            assert outcome(got) == outcome(partial(operator, a, b))

    @pytest.mark.parametrize("kind", ["npy", "zarr", "hdf5"])
    def test_types_that_files_have_no_name_for(self, kind: str, tmp_path: Path) -> None:
        rng = np.random.default_rng(1)
        operator = Operator("Divide", zero_divisor="zero")
        for element_type in UNNAMED:
            dtype = dtype_of(element_type)
            a, b = telling(rng, (5, 6), dtype), telling(rng, (6,), dtype)
            with case(dtype), TemporaryDirectory(dir=tmp_path) as folder:
                names = [put(Path(folder), name, x, kind) for name, x in (("a", a), ("b", b))]
                if kind == "npy":  # as NumPy itself saves it
                    np.save(names[0], a)
                got = partial(stored, operator, names, f"{folder}/{OUT[kind]}", dtype, 20)
                assert outcome(got) == outcome(partial(operator, a, b))

    @pytest.mark.parametrize("most", [1, 7, 300])
    def test_systems_that_move_fewer_bytes_than_asked(
        self, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As Linux does above 2 GiB, and near limits: the rest of a part is read and written by further calls."""
        a, b = np.arange(-60, 60, dtype="i4").reshape(10, 12), np.arange(1, 13, dtype="i4")
        names = [put(tmp_path, "a", a, "npy"), put(tmp_path, "b", b, "hdf5")]
        preadv, pwrite = os.preadv, os.pwrite
        monkeypatch.setattr(os, "preadv", lambda file, parts, offset: preadv(file, [parts[0][:most]], offset))
        monkeypatch.setattr(os, "pwrite", lambda file, part, offset: pwrite(file, part[:most], offset))
        divide(names[0], names[1], tmp_path / "c.npy", task_bytes=200)
        assert np.array_equal(np.load(tmp_path / "c.npy"), div(a, b))

    def test_of_one_operand(self, tmp_path: Path) -> None:
        a = np.array([3, 0, -0.0, 1e-300, np.inf], ">f8")
        np.save(tmp_path / "a.npy", a)
        report = divide(tmp_path / "a.npy", None, tmp_path / "c.npy", operator=Operator("Reciprocal"), task_bytes=16)
        assert (report.operator, report.blocks, report.bytes) == ("Reciprocal-13", 3, 40)
        got = np.load(tmp_path / "c.npy")
        assert got.dtype == np.float64
        assert got.tobytes() == Operator("Reciprocal")(a).tobytes()

    def test_of_an_enumeration(self, tmp_path: Path) -> None:
        """Quotients do not have HDF5's names of numbers, and NumPy does not warn."""
        with h5py.File(tmp_path / "a.h5", "w") as file:
            file["x"] = np.array([6, 3], h5py.enum_dtype({"SIX": 6, "THREE": 3}, basetype="i2"))
        divide(f"{tmp_path}/a.h5:/x", f"{tmp_path}/a.h5:/x", tmp_path / "c.npy")
        assert np.load(tmp_path / "c.npy").tolist() == [1, 1]

    def test_negative_zeros_are_not_left_out(self, tmp_path: Path) -> None:
        """A chunk of them equals Zarr's fill value, but must be written."""
        a = put(tmp_path, "a", np.full(8, -0.0, "f4"), "npy")
        b = put(tmp_path, "b", np.full(8, 2, "f4"), "npy")
        divide(a, b, tmp_path / "c.zarr")
        assert np.signbit(taken(str(tmp_path / "c.zarr"))).all()


class TestBlocks:
    """The layout of a result in files follows the operands."""

    def test_fortran_order_stays(self, tmp_path: Path) -> None:
        a = np.arange(12, dtype="i4").reshape(3, 4)
        name = put(tmp_path, "a", a, "npy, Fortran")
        divide(name, put(tmp_path, "b", a + 1, "npy, Fortran"), tmp_path / "c.npy")
        assert np.load(tmp_path / "c.npy").flags.f_contiguous
        divide(put(tmp_path, "d", a, "npy"), name, tmp_path / "e.npy", operator=Operator("Div", zero_divisor="zero"))
        assert np.load(tmp_path / "e.npy").flags.c_contiguous

    @pytest.mark.parametrize("kinds", [("npy", "npy, Fortran"), ("npy, Fortran", "npy"), ("hdf5", "npy, Fortran")])
    @pytest.mark.parametrize("shape_b", [(41, 52, 23), (52, 1), (41, 1, 23)])
    def test_orders_that_differ(
        self, kinds: tuple[str, str], shape_b: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Blocks are cut into strips, and an operand of another order is read for all of a block."""
        monkeypatch.setattr(work, "BLOCK_BYTES", 300)
        rng = np.random.default_rng(0)
        a, b = rng.integers(-99, 99, (41, 52, 23)).astype("i4"), rng.integers(1, 99, shape_b).astype("i4")
        names = [put(tmp_path, name, x, kind) for name, x, kind in zip("ab", (a, b), kinds, strict=True)]
        divide(names[0], names[1], tmp_path / "c.npy", task_bytes=2000)
        assert np.array_equal(np.load(tmp_path / "c.npy"), div(a, b))
        b.flat[[-1, 7]] = 0
        names[1] = put(tmp_path, "z", b, kinds[1])
        got = partial(stored, Operator("Div"), names, f"{tmp_path}/d.npy", a.dtype, 2000)
        assert outcome(got) == outcome(partial(Operator("Div"), a, b))

    def test_zarr_stays_as_it_was(self, tmp_path: Path) -> None:
        a, b = np.arange(48, dtype="i4").reshape(6, 8), put(tmp_path, "b", np.ones(8, "i4"), "npy")
        for kind, shards in (("zarr", None), ("zarr, shards", (4, 4)), ("zarr 2", None)):
            out = tmp_path / f"out of {kind}.zarr"
            report = divide(put(tmp_path, kind, a, kind), b, out, task_bytes=1)
            made = zarr.open_array(out)
            assert (made.chunks, made.shards, made.metadata.zarr_format) == ((2, 2), shards, 3)
            assert report.blocks == (4 if shards else 12), "a block is what lies in a file"


class TestRefused:
    """Operands that cannot be divided are refused before any file is made."""

    @pytest.mark.parametrize(
        ("dtype", "error", "words"),
        [
            ("|i1", OSError, r"File too large|No space left|too large"),
            ("<f8", BroadcastError, "more elements than a file can"),
        ],
    )
    def test_results_larger_than_any_file(self, dtype: str, error: type[Exception], words: str, tmp_path: Path) -> None:
        for name, shape in (("a", (2**31, 1)), ("b", (2**31,))):
            with (tmp_path / f"{name}.npy").open("wb") as file:  # sparse
                np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
                file.truncate(file.tell() + 2**31 * np.dtype(dtype).itemsize)
        with pytest.raises(error, match=words):
            divide(tmp_path / "a.npy", tmp_path / "b.npy", tmp_path / "c.npy")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npy", "b.npy"]

    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("task_bytes", 0, "task_bytes is 0; give a number of bytes from 1 on"),
            ("task_bytes", "1", "task_bytes is '1'; give a number of bytes from 1 on"),
            ("operator", "Div", "operator is 'Div'; give a vinculum.Operator"),
            ("element_type", "bfloat16", "element_type is 'bfloat16'; give one of vinculum.spec.element_types"),
        ],
    )
    def test_arguments(self, name: str, value: Any, words: str) -> None:
        with pytest.raises(AttributeValueError, match=words):
            divide("a.npy", "b.npy", "c.npy", **{name: value})

    @pytest.mark.parametrize("kind", ["zarr", "hdf5, chunks"])
    def test_a_chunk_that_cannot_be_decoded(self, kind: str, tmp_path: Path) -> None:
        name = put(tmp_path, "a", np.arange(64).reshape(8, 8), kind)
        path, _, dataset = name.partition(":")
        offset = 0
        if dataset:
            with h5py.File(path) as file:
                offset = file[dataset].id.get_chunk_info(9).byte_offset
        with Path(path if dataset else f"{path}/c/2/1").open("r+b") as chunk:
            chunk.seek(offset)
            chunk.write(b"no numbers")
        with pytest.raises(OSError, match="finished blocks are kept") as error:
            divide(name, put(tmp_path, "b", np.ones(8, int), "npy"), tmp_path / "c.npy")
        assert error.value.filename == name
        assert "\n" not in str(error.value)

    def test_a_group_of_zarr(self, tmp_path: Path) -> None:
        zarr.open_group(tmp_path / "a.zarr", mode="w")
        with pytest.raises(ModelError, match=r"a\.zarr' is not a Zarr array \(a group\? name the array's own folder\)"):
            divide(tmp_path / "a.zarr", tmp_path / "a.zarr", tmp_path / "c.npy")


class TestPackages:
    """A missing package is named, with the command that installs it."""

    @pytest.mark.parametrize("kind", ["zarr", "hdf5"])
    def test_missing(self, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        package = {"zarr": "zarr", "hdf5": "h5py"}[kind]
        name = put(tmp_path, "a", np.ones(3, "f4"), "npy")
        monkeypatch.setitem(sys.modules, package, None)
        for module in ("vinculum.stored.zarr_arrays", "vinculum.stored.hdf5"):
            monkeypatch.delitem(sys.modules, module, raising=False)
        with pytest.raises(MissingPackageError, match=rf"needs the package {package}: pip install {package}"):
            divide(name, name, tmp_path / OUT[kind])
