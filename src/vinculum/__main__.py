"""``python -m vinculum``, and the command ``vinculum``: the command line."""

import signal
import sys


def main() -> int:
    """Run the command line and return its exit code, as `vinculum.cli.main.main` does.

    Ctrl-C during the imports ends the process at once: there is nothing to clean up, and an imported module may mistake
    the interruption for an error of its own.
    """
    # A process that a shell starts in the background ignores interruptions, and must continue to do so.
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from vinculum.cli.main import main

    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return main()


if __name__ == "__main__":
    sys.exit(main())
