"""``python -m tests.conformance.planted``: what is said of every planted divider, and the three figures below it."""

from __future__ import annotations

import sys

from tests.conformance.asking import asked
from tests.conformance.planted.dividers import DIVIDERS
from tests.conformance.planted.measuring import FRESH, measured
from vinculum.conformance.cases.case import Level


def main() -> None:
    """Ask every divider all cases of the default level; exit with 1 if anything is not as it should be."""
    measures = []
    print(
        "| divider | types | cause: cases that it explains; fresh operations that contradict it | |\n|---|---|---|---|"
    )
    for divider in DIVIDERS.values():
        one = measured(divider, asked(Level.DEFAULT), FRESH)
        print(f"| {divider.name} | {divider.types} | {'; '.join(one.said)} | {one.failures} |", flush=True)
        measures.append((one.found, one.named, bool(one.false)))
    found, named, false = (sum(each) for each in zip(*measures, strict=True))
    print(f"\n{len(measures)} dividers: {found} found, {named} truly named, {false} falsely named")
    sys.exit(not found == named == len(measures))


if __name__ == "__main__":
    main()
