"""``python -m vinculum``, and the command ``vinculum``: the command line."""

import signal
import sys


def main() -> int:
    """Run the command line and return its exit code, as `vinculum.cli.main.main` does.

    Ctrl-C ends the process at once while its modules are imported: there is nothing to clean up, and what is imported
    may take an interruption for an error of its own.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from vinculum.cli.main import main

    signal.signal(signal.SIGINT, before)
    return main()


if __name__ == "__main__":
    sys.exit(main())
