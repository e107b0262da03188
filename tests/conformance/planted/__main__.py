"""``python -m tests.conformance.planted``: what is said of every planted divider, and the three figures below it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conformance.asking import asked
from tests.conformance.planted.dividers import DIVIDERS, Divider
from tests.conformance.planted.measuring import FRESH, measured
from tests.machine.conformance.planted.in_c import IN_C
from vinculum.conformance.cases.case import Level


def _all(folder: Path) -> Iterator[Divider]:
    """Yield all planted dividers, those in C too where there is a compiler."""
    yield from DIVIDERS.values()
    if compiler := shutil.which("cc"):
        for number, own in enumerate(IN_C.values()):
            (folder / str(number)).mkdir()
            yield own.built(compiler, folder / str(number))


def main() -> None:
    """Ask every divider all cases of the default level; exit with 1 if anything is not as it should be."""
    measures = []
    print("| divider | types | cause: fresh operations that contradict it | |\n|---|---|---|---|")
    with TemporaryDirectory() as folder:
        for divider in _all(Path(folder)):
            one = measured(divider, asked(Level.DEFAULT), FRESH)
            said = "; ".join(f"{name}: {against} of {spoken}" for name, (against, spoken) in one.checked.items())
            print(f"| {divider.name} | {divider.types} | {said} | {one.failures} |", flush=True)
            measures.append((one.found, one.named, bool(one.false)))
    found, named, false = (sum(each) for each in zip(*measures, strict=True))
    print(f"\n{len(measures)} dividers: {found} found, {named} truly named, {false} falsely named")
    sys.exit(not found == named == len(measures))


if __name__ == "__main__":
    main()
