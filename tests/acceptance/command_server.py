"""Runs commands, each in a process of its own: forked from this one, which has imported what they import.

Run as a program with the number of a connection's file descriptor, and where the sandbox's processes are forked. A
command has its own arguments, folder, streams, signals and exit code, as in a process that a shell starts. It only need
not import NumPy and ONNX anew, which takes a hundred times as long as most commands.
"""

from __future__ import annotations

import gc
import os
import runpy
import signal
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from multiprocessing.connection import Connection
from pathlib import Path

from tests import fake_runtime, warm_processes
from vinculum.cli.main import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "layer_norm"
COMMANDS = (
    ["run", f"{EXAMPLE}/model.onnx", "--input", f"x={EXAMPLE}/x.npy"],
    ["convert", f"{EXAMPLE}/model.onnx", "--opset", "14", "-o", os.devnull],  # refused, in one line
    ["run", "--help"],
    ["info"],  # looks for the versions of what is installed
)
"""Between them they import what commands import when they run, some of it late in packages that they use."""
LATE = (
    "vinculum.analysis.accuracy",
    "vinculum.analysis.checker",
    "vinculum.analysis.tracing.trace",
    "vinculum.analysis.triage",
    "vinculum.analysis.witness.search",
    "vinculum.conformance.audit",
    "vinculum.conformance.execute.installation",
    "vinculum.conformance.execute.suite",
    "vinculum.conformance.fingerprint",
    "vinculum.conformance.vectors.export",
    "vinculum.conformance.vectors.answers",
    "vinculum.models.convert.file_conversion",
    "vinculum.repair.file_hardening",
    "vinculum.models.sampling.input_sets",
    "vinculum.reporting.check.page",
    "vinculum.reporting.check.sarif",
    "vinculum.reporting.check.trace",
    "vinculum.reporting.check.witness_files",
    "vinculum.reporting.conformance.fingerprint",
    "vinculum.reporting.conformance.html",
    "vinculum.reporting.conformance.terminal",
    "vinculum.reporting.models.audit",
    "vinculum.reporting.models.harden",
    "vinculum.reporting.spec.page",
    "vinculum.reporting.spec.trace",
)
"""What commands import only when they get to it, and those do not."""

STORES = ("h5py", "zarr")
"""Optional packages, of which the same is true; others start threads."""

PROGRAM = "--python"
"""The first argument where the second is a program in Python, which is run instead of the command."""

LIMIT = 200
"""Seconds that a command may take."""

Asked = tuple[list[str], str, int, str | None, tuple[str, str]]
"""The arguments, the folder, the columns, the fake runtimes, and the files for standard output and standard error."""


def prepare() -> None:
    """Import what commands import; no thread is started, for none would be in the copies."""
    fake_runtime.hide_runtimes()
    for name in (*LATE, *filter(find_spec, STORES)):
        import_module(name)
    for arguments in COMMANDS:
        sys.argv[1:] = arguments
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            main()
    gc.freeze()  # Collecting in a copy would write to all of it, and so copy it.


def serve(connection: Connection) -> None:
    """Run commands and send their exit codes until the connection ends."""
    while True:
        try:
            asked: Asked = connection.recv()
        except EOFError:
            return
        process = os.fork()
        if process == 0:
            signal.alarm(LIMIT)  # a command that hangs is ended by SIGALRM
            code = 1
            try:
                code = run(*asked)
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(process, 0)
        connection.send(os.waitstatus_to_exitcode(status))


def run(arguments: list[str], folder: str, columns: int, fakes: str | None, streams: tuple[str, str]) -> int:
    """Run a command in this process and return its exit code."""
    for descriptor, file in enumerate(streams, start=1):
        opened = os.open(file, os.O_WRONLY)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.chdir(folder)
    os.environ["COLUMNS"] = str(columns)
    if fakes is not None:
        os.environ[fake_runtime.VARIABLE] = fakes
    fake_runtime.hide_runtimes()
    sys.path[0] = folder  # where `python -m vinculum` looks first
    if arguments[0] == PROGRAM:
        sys.argv[:] = arguments[1:]
        runpy.run_path(arguments[1], run_name="__main__")
        return 0
    sys.argv[1:] = arguments
    return main()


if __name__ == "__main__":
    address = sys.argv[2]  # A command has arguments of its own in this place.
    with Connection(int(sys.argv[1])) as asking:
        warm_processes.fork_from(lambda: address)
        prepare()
        serve(asking)
