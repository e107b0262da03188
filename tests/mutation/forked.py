"""Runs pytest in processes forked from this one, which has imported the packages that never change."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import IO

import pytest

IMPORTED = ("dask.array", "h5py", "hypothesis.extra.numpy", "ml_dtypes", "onnx.reference", "pandas", "xarray", "zarr")
"""Packages that tests import; a missing one costs only time."""
_CONTEXT = get_context("fork")


def prepare() -> None:
    """Import the common packages."""
    for name in IMPORTED:
        with suppress(ImportError):
            importlib.import_module(name)


def run_pytest(arguments: Sequence[str], paths: Sequence[Path], limit: float) -> tuple[int | None, str]:
    """Run pytest with these paths first on `sys.path`; return its exit code, None after the limit, and the output."""
    with tempfile.TemporaryFile("w+") as output:
        process = _CONTEXT.Process(target=_run, args=(arguments, [str(path) for path in paths], output))
        process.start()
        process.join(limit)
        code = process.exitcode
        assert process.pid is not None
        with suppress(ProcessLookupError):  # The whole group may have ended.
            os.killpg(process.pid, signal.SIGKILL)
        process.join()
        output.seek(0)
        return code, output.read()


def _run(arguments: Sequence[str], paths: list[str], output: IO[str]) -> None:
    os.setsid()
    for stream in (sys.__stdout__, sys.__stderr__):
        assert stream is not None
        os.dup2(output.fileno(), stream.fileno())
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    sys.path[:0] = paths
    # Plug-ins of pytest have been imported already.
    code = pytest.main(["-W", "ignore::pytest.PytestAssertRewriteWarning", *arguments])
    sys.stdout.flush()
    os._exit(code)  # Do not wait for threads that a mistake has left.
