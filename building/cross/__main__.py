"""Test the quotients on other processors, Pythons and targets: ``python -m building.cross arm64 python3.14``.

`make cross` and `make cross-all` call it. What it downloads and builds lies in build/cross; nothing is installed.
"""

from __future__ import annotations

import argparse
import sys

from building.cross import page
from building.cross.debian import CrossError
from building.cross.running import ENVIRONMENTS, LONG, QUICK, digest, run_all


def main() -> int:
    """Run what is named; return 1 with one line if something is missing or fails."""
    parser = argparse.ArgumentParser(prog="python -m building.cross", description=__doc__)
    parser.add_argument("environments", nargs="*", metavar="environment", help=", ".join(ENVIRONMENTS))
    parser.add_argument("--long", action="store_true", help=f"of each enumeration one part in {LONG}, not in {QUICK}")
    parser.add_argument("--record", action="store_true", help="write what passed to building/cross/recorded and docs")
    parser.add_argument("--digest", action="store_true", help="print the digest of what divides")
    given = parser.parse_args()
    if given.digest:
        print(digest())
    if unknown := sorted(set(given.environments) - set(ENVIRONMENTS)):
        parser.error(f"no environment {', '.join(unknown)}; there are {', '.join(ENVIRONMENTS)}")
    try:
        for name in given.environments:
            for record in run_all(ENVIRONMENTS[name], LONG if given.long else QUICK):
                if given.record:
                    record.write()
                    page.write()
    except CrossError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
