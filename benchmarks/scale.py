"""Measure divisions larger than memory: ``python -m benchmarks.scale [--gib 4] [--folder DIR]``.

Operands of 4 GiB together are divided into a third array, of int32 and of float32, so that 6 GiB of disk are needed at
a time, or 8 where Dask divides integers to float64. Each way has a process of its own. Times leave out imports and the
start of workers, and include that the result is brought to the disk; memory is the most that one process had. The
disk's own speed is what a plain copy takes that reads as many bytes and writes as many. Zarr arrays are uncompressed,
in chunks of 64 MiB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

_PIECE = 2 << 20
_CHUNK = 64 << 20
_TYPES = ("int32", "float32")


def make(folder: Path, dtype: str, gib: float, zarr_too: bool) -> None:
    """Write the operands, with no zero among the divisors."""
    count = int(gib * 2**30) // 8
    rng = np.random.default_rng(0)
    drawn = [rng.integers(1, 2**31, _CHUNK // 4, np.int32).astype(dtype) for _ in range(3)]
    for number, name in enumerate("ab"):
        out: Any = np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.dtype(dtype), (count,))
        if zarr_too:
            import zarr

            (folder / f"{name}.npy").unlink()
            options: dict[str, Any] = {"chunks": (_CHUNK // 4,), "compressors": None}
            out = zarr.create_array(folder / f"{name}.zarr", shape=(count,), dtype=dtype, **options)
        for turn, start in enumerate(range(0, count, _CHUNK // 4)):
            size = min(_CHUNK // 4, count - start)
            out[start : start + size] = drawn[(turn + turn * number + number) % 3][:size]
    os.sync()  # else the disk is busy with them while the first way is measured


def copy(folder: Path) -> None:
    """Read both operands and write the first, without dividing."""
    buffer = bytearray(_PIECE)
    with (folder / "c.npy").open("wb", buffering=0) as out:
        os.posix_fallocate(out.fileno(), 0, (folder / "a.npy").stat().st_size)  # as the job does: it halves the time
        for name in ("b.npy", "a.npy"):
            with (folder / name).open("rb", buffering=0) as source:
                while size := source.readinto(buffer):
                    if name == "a.npy":
                        out.write(memoryview(buffer)[:size])
        os.fsync(out.fileno())


def memmap(folder: Path) -> None:
    """Divide in a loop over mapped files, by NumPy."""
    a, b = (np.load(folder / name, mmap_mode="r") for name in ("a.npy", "b.npy"))
    c = np.lib.format.open_memmap(folder / "c.npy", "w+", a.dtype, a.shape)
    divide = np.floor_divide if a.dtype.kind == "i" else np.divide
    step = _PIECE // a.itemsize
    for start in range(0, len(a), step):
        divide(a[start : start + step], b[start : start + step], out=c[start : start + step])
    c.flush()


def stored(folder: Path, suffix: str, client: Any = None) -> None:
    """Divide by `vinculum.stored.divide`."""
    from vinculum.stored import divide

    divide(folder / f"a{suffix}", folder / f"b{suffix}", folder / f"c{suffix}", client=client)


def dask(folder: Path, exact: bool, client: Any) -> None:
    """Divide Dask arrays from Zarr to Zarr: by `vinculum.div` with policy "zero", or by Dask's own ``/``."""
    import dask.array as da
    import zarr

    import vinculum

    a, b = (da.from_zarr(folder / f"{name}.zarr") for name in "ab")
    lazy: Any = vinculum.div(a, b, zero_divisor="zero") if exact else a / b
    options: dict[str, Any] = {"chunks": (_CHUNK // 4,), "compressors": None}
    lazy.to_zarr(zarr.create_array(folder / "c.zarr", shape=a.shape, dtype=lazy.dtype, **options))
    client.run(os.sync)


WAYS: dict[str, tuple[str, int | None, Callable[..., None]]] = {
    "a plain copy": ("npy", None, copy),
    "NumPy, mapped files": ("npy", None, memmap),
    "vinculum divide": ("npy", None, partial(stored, suffix=".npy")),
    "vinculum divide, zarr": ("zarr", None, partial(stored, suffix=".zarr")),
    "vinculum divide, 1 worker": ("zarr", 1, partial(stored, suffix=".zarr")),
    "vinculum divide, 2 workers": ("zarr", 2, partial(stored, suffix=".zarr")),
    "dask, vinculum.div, 1 worker": ("zarr", 1, partial(dask, exact=True)),
    "dask, vinculum.div, 2 workers": ("zarr", 2, partial(dask, exact=True)),
    "dask, true divide, 1 worker": ("zarr", 1, partial(dask, exact=False)),
    "dask, true divide, 2 workers": ("zarr", 2, partial(dask, exact=False)),
}


def peak() -> int:
    """Return the most memory that this process has had, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) >> 10


def measure(way: str, folder: Path) -> dict[str, float]:
    """Return seconds and MiB of one way, in this process and in those that it starts."""
    import distributed

    _, processes, act = WAYS[way]
    with ExitStack() as opened:
        client = None
        if processes is not None:
            cluster = distributed.LocalCluster(processes, threads_per_worker=1, dashboard_address=None)
            client = opened.enter_context(distributed.Client(opened.enter_context(cluster)))
        options = {} if client is None else {"client": client}
        if client is not None:
            client.run(__import__, "vinculum.stored")  # workers import what they need
            client.run(__import__, "dask.array")
        start = perf_counter()
        act(folder, **options)
        seconds = perf_counter() - start
        peaks = [peak()] if client is None else list(client.run(peak).values())
    return {"seconds": seconds, "mebibytes": max(peaks)}


def rows(folder: Path, dtype: str, gib: float, ways: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return what was measured, by way; each has a process of its own, whose size is not that of this one."""
    found: dict[str, dict[str, float]] = {}
    for form in ("npy", "zarr"):
        here = folder / form
        here.mkdir()
        make(here, dtype, gib, zarr_too=form == "zarr")
        for way in ways:
            if WAYS[way][0] != form:
                continue
            command = [sys.executable, "-m", "benchmarks.scale", "--step", way, "--folder", str(here)]
            found[way] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            made = here / f"c.{form}"
            rmtree(made) if made.is_dir() else made.unlink()
        rmtree(here)
    return found


def main(
    gib: float = 4,
    folder: Path | None = None,
    step: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Print a table of seconds, GiB read and written a second, and MiB."""
    if step is not None and folder is not None:
        print(json.dumps(measure(step, folder)))
        return
    table = Table("way", *(f"{dtype}, {unit}" for dtype in _TYPES for unit in ("s", "GiB/s", "MiB")))
    found = {}
    for dtype in _TYPES:
        with TemporaryDirectory(dir=folder) as place:
            found[dtype] = rows(Path(place), dtype, gib, WAYS)
    for way in WAYS:
        cells = []
        for dtype in _TYPES:
            one = found[dtype][way]
            cells += [f"{one['seconds']:.1f}", f"{1.5 * gib / one['seconds']:.2f}", f"{one['mebibytes']:.0f}"]
        table.add_row(way, *cells)
    Console(width=110).print(table)


if __name__ == "__main__":
    typer.run(main)
