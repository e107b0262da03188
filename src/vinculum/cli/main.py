"""The command `vinculum`: its subcommands, and the conversion of every error to one line and an exit code."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from io import TextIOWrapper
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from rich.markup import escape

from vinculum.cli import panels
from vinculum.cli.answers import BROKEN, FINDING, FINE, INTERRUPTED, UNUSABLE
from vinculum.cli.commands.audit import audit
from vinculum.cli.commands.check import check
from vinculum.cli.commands.conformance.conform import conform
from vinculum.cli.commands.conformance.fingerprint import fingerprint
from vinculum.cli.commands.conformance.report import report
from vinculum.cli.commands.conformance.vectors import vectors
from vinculum.cli.commands.convert import convert
from vinculum.cli.commands.divide import divide
from vinculum.cli.commands.harden import harden
from vinculum.cli.commands.info import info
from vinculum.cli.commands.run import run
from vinculum.cli.commands.spec import spec
from vinculum.cli.commands.trace import trace
from vinculum.errors import (
    ConstraintError,
    DifferenceError,
    DivisionByZeroError,
    IntegerOverflowError,
    VinculumError,
)
from vinculum.reporting.escape import one_line

EXAMPLES: Mapping[Callable[..., None], Sequence[str]] = {
    run: (
        "vinculum run examples/layer_norm/model.onnx --input x=examples/layer_norm/x.npy",
        "vinculum run examples/openvino_image/model.xml --seed 0 --zero-divisor zero",
    ),
    check: (
        "vinculum check examples/windows/model.onnx",
        "vinculum check examples/layer_norm/model.onnx --as float16 --assume x=-10:10",
        "vinculum check examples/masked_mean/model.onnx --assume 'mask=0|1' --sarif /tmp/report.sarif",
    ),
    trace: ("vinculum trace examples/layer_norm/model.onnx --input x=examples/layer_norm/x.npy",),
    audit: ("vinculum audit examples/masked_mean/model.onnx --backend onnxruntime --seed 0",),
    harden: ("vinculum harden examples/windows/model.onnx --for onnxruntime -o /tmp/hardened.onnx",),
    convert: (
        "vinculum convert examples/layer_norm/model.onnx --opset 13 -o /tmp/converted.onnx",
        "vinculum convert examples/rms_norm/model.onnx -o /tmp/converted.xml",
    ),
    conform: (
        "vinculum conform onnx-reference --only 'Div-14/int32/*'",
        "vinculum conform 'openvino[device=CPU]' --quick --html /tmp/report.html",
    ),
    report: (
        "vinculum conform numpy --quick --save /tmp/run.json",
        "vinculum report /tmp/run.json --html /tmp/report.html",
    ),
    fingerprint: ("vinculum fingerprint numpy",),
    divide: ("vinculum divide a.npy b.npy -o c.npy", "vinculum divide a.zarr b.zarr -o c.zarr --operator Divide"),
    spec: ("vinculum spec Div --version 7 --against 6", "vinculum spec Divide --trace"),
    info: ("vinculum info --json",),
}
"""The commands, and the examples in their help, most of which run in a clone."""

EXIT_CODES = (
    "Exit codes: 0 success; 1 a finding, such as an integer divided by zero or a comparison that fails; 2 wrong usage "
    "or unreadable input; 3 an internal error; 130 interrupted, 143 terminated."
)

# Some versions of Typer contain their own copy of Click; in all versions this class is the root of its errors.
_UsageError: type[Exception] = next(
    c for c in typer.BadParameter.__mro__ if issubclass(c, Exception) and c.__name__ == "ClickException"
)

_ended_by: list[int] = []
"""The signals that ended the command, other than an interruption."""

app = typer.Typer(
    name="vinculum",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_NAMED = {command.__name__: command for command in EXAMPLES}
for panel, names in panels.COMMANDS.items():
    for name in names:
        if name == "vectors":
            app.add_typer(vectors, rich_help_panel=panel)
            continue
        below = "\n\n".join(("Examples:", *(f"  {example}" for example in EXAMPLES[_NAMED[name]]), EXIT_CODES))
        app.command(epilog=escape(below), rich_help_panel=panel)(_NAMED[name])


def _print_version(wanted: bool) -> None:
    if wanted:
        from vinculum.version import __version__

        print(f"vinculum {__version__}")
        raise typer.Exit


@app.callback()
def vinculum(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Exact division for tensor programs: ONNX, OpenVINO and SONNX, right to the last bit."""


def main() -> int:
    """Run the command line and return its exit code.

    Returns
    -------
    int
        0: fine. 1: a finding, such as an integer divided by zero. 2: wrong usage or unreadable input.
        3: an internal error. 130: interrupted; 128 and the number of another signal, such as 143: ended by it.
    """
    if sys.stdout is None:  # the caller closed it, as `>&-` does
        return _fail("there is no standard output to write to")
    _prepare()
    try:
        code = _commands(app)(prog_name="vinculum", standalone_mode=False)
        sys.stdout.flush()
    except _UsageError as error:
        return _usage(error)
    except (DifferenceError, DivisionByZeroError, IntegerOverflowError) as error:
        return _fail(str(error), FINDING)
    except ConstraintError as error:
        return _fail(str(error), FINDING if error.count else UNUSABLE)
    except VinculumError as error:
        return _fail(str(error))
    except OSError as error:
        _abandon_output()
        return _fail(_reason(error))
    except MemoryError as error:
        return _fail(f"there is not enough memory: {error}")
    except KeyboardInterrupt:
        return _interrupted()
    except Exception:
        traceback.print_exc()
        return _fail("this is an internal error of Vinculum; please report it with the lines above", BROKEN)
    if code == INTERRUPTED:
        return _interrupted()
    return FINDING if code == FINDING else FINE


@cache
def _commands(app: typer.Typer) -> Callable[..., Any]:
    """Return the commands with their options; cached, as making them takes as long as most commands."""
    commands = typer.main.get_command(app)
    panels.arrange(getattr(commands, "commands", {}))
    return commands


def _prepare() -> None:
    gc.freeze()  # Imported objects stay alive: scanning them repeatedly takes a tenth of a short command's time.
    if hasattr(signal, "SIGPIPE"):
        # If a reader such as `head` closes the pipe early, we end silently like other programs in a pipe.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            # End as after an interruption, which removes partially written files.
            signal.signal(getattr(signal, name), _terminate)
    if not sys.warnoptions:
        # Other packages' warnings address programmers, not users of a command.
        warnings.simplefilter("ignore")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Characters that the terminal's encoding lacks are printed as escapes.
            stream.reconfigure(errors="backslashreplace")


def _usage(error: Exception) -> int:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    message = message.replace("Value error, ", "")  # the validator's own word
    if not message:  # No command was given, and the help has been printed.
        return UNUSABLE
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else " ".join(["vinculum", *_command_given()])
    return _fail(f"{message.rstrip('.')}; see {command} --help")


def _command_given() -> list[str]:
    """Return the subcommand on the command line, which errors in parsing options do not contain."""
    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    return [word for word in sys.argv[1:2] if word in known]


def _reason(error: OSError) -> str:
    where = f"{error.filename} cannot be read or written" if error.filename else "writing the report failed"
    return f"{where}: {error.strerror or error}"


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """Interrupt, and remember by which signal: others may make an error of their own of the interruption."""
    _ended_by.append(number)
    raise KeyboardInterrupt


def _interrupted() -> int:
    print("vinculum: interrupted", file=sys.stderr)
    return 128 + _ended_by[0] if _ended_by else INTERRUPTED


def _fail(message: str, code: int = UNUSABLE) -> int:
    if sys.stderr is not None:  # None if the caller closed it; print would then take standard output.
        print(f"vinculum: error: {one_line(message)}", file=sys.stderr)
    return code


def _abandon_output() -> None:
    """Discard output that cannot be written, so that the interpreter does not try to flush it at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
