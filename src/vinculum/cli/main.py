"""The command `vinculum`: its subcommands, and the conversion of every error to one line and an exit code."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import traceback
import warnings
from io import TextIOWrapper
from types import FrameType
from typing import Annotated, NoReturn, TextIO, cast

import typer

from vinculum.cli.help import FRAMED, add_commands, commands
from vinculum.cli.options import BROKEN, FINDING, FINE, INTERRUPTED, UNUSABLE
from vinculum.errors import ConstraintError, DifferenceError, DivisionByZeroError, IntegerOverflowError, VinculumError
from vinculum.reporting.escape import one_line
from vinculum.reporting.terminal import WithoutTrailingBlanks, console

# Some versions of Typer contain their own copy of Click; in all versions this class is the root of its errors.
_UsageError: type[Exception] = next(
    c for c in typer.BadParameter.__mro__ if issubclass(c, Exception) and c.__name__ == "ClickException"
)

_ended_by: list[int] = []
"""The signals that ended the command."""

app = typer.Typer(
    name="vinculum",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
add_commands(app)


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
    """Run the command line and return its exit code, one of those in `vinculum.cli.help`."""
    if sys.stdout is None:  # The caller closed it, as `>&-` does.
        return _fail("there is no standard output to write to")
    _prepare()
    try:
        code = commands(app, console().width >= FRAMED)(prog_name="vinculum", standalone_mode=False)
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
        where = f"{error.filename} cannot be read or written" if error.filename else "writing the report failed"
        return _fail(f"{where}: {error.strerror or error}")
    except MemoryError as error:
        return _fail(f"there is not enough memory: {error}")
    except KeyboardInterrupt:
        return _interrupted()
    except Exception:
        if not _ended_by:
            traceback.print_exc()
        return _fail("this is an internal error of Vinculum; please report it with the lines above", BROKEN)
    if code == INTERRUPTED:
        return _interrupted()
    return FINDING if code == FINDING else FINE


def _prepare() -> None:
    gc.freeze()  # Imported objects stay alive: scanning them repeatedly takes a tenth of a short command's time.
    if hasattr(signal, "SIGPIPE"):
        # If a reader such as `head` closes the pipe early, we end silently like other programs in a pipe.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        # All act as an interruption, which removes partially written files; ignored signals stay ignored.
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN:
            signal.signal(getattr(signal, name), _terminate)
    if not sys.warnoptions:
        # Other packages' warnings address programmers, not users of a command.
        warnings.simplefilter("ignore")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Characters that the terminal's encoding lacks are printed as escapes.
            stream.reconfigure(errors="backslashreplace")
    if not sys.stdout.isatty():
        sys.stdout = cast("TextIO", WithoutTrailingBlanks(sys.stdout))


def _usage(error: Exception) -> int:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    message = message.replace("Value error, ", "")  # A prefix of pydantic's.
    if not message:  # No command was given, and the help has been printed.
        return UNUSABLE
    context = getattr(error, "ctx", None)
    # Errors in parsing options do not contain the subcommand.
    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    given = [word for word in sys.argv[1:2] if word in known]
    command = context.command_path if context is not None else " ".join(["vinculum", *given])
    return _fail(f"{message.rstrip('.')}; see {command} --help")


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """Interrupt, and remember the signal, because other packages may turn the interruption into another error."""
    _ended_by.append(number)
    raise KeyboardInterrupt


def _interrupted() -> int:
    print("vinculum: interrupted", file=sys.stderr)
    return 128 + _ended_by[0] if _ended_by else INTERRUPTED


def _fail(message: str, code: int = UNUSABLE) -> int:
    if _ended_by:  # An interruption caused the error, such as one during the import of a C extension.
        return _interrupted()
    if sys.stderr is not None:  # None if the caller closed it; print would then take standard output.
        print(f"vinculum: error: {one_line(message)}", file=sys.stderr)
    return code


def _abandon_output() -> None:
    """Discard output that cannot be written, so that the interpreter does not try to flush it at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
