"""The survey: the runs published in ``docs/survey``, and what is made of the newest of each runtime.

``python -m building.documentation.survey RUN.json ...`` adds runs that ``vinculum conform --save`` wrote: of a runtime
there is one run for each version and processor. Then it writes ``docs/survey.html``, ``docs/assets/survey.svg`` and the
table in ``docs/reference/survey.md``; `make survey` does all this.
"""

from __future__ import annotations

import lzma
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from string import ascii_uppercase
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from building.documentation.survey_picture import DOCUMENTS, PICTURE, SURVEY, drawn
from vinculum.conformance.expect import KnownDeviations, read_known_deviations
from vinculum.conformance.run.diff import run_diff
from vinculum.conformance.run.file import as_json, read_runs
from vinculum.conformance.run.record import Run
from vinculum.reporting.conformance.html import document
from vinculum.reporting.conformance.view import view

RUNS, PAGE = DOCUMENTS / "survey", DOCUMENTS / "reference" / "survey.md"
_KNOWN = DOCUMENTS.parent / "known_deviations"
_HERE = re.compile(r"(?:/[\w.+-]+)+/(?=site-packages/|torchinductor_)")
"""Folders of the machine that asked, as they stand in messages of runtimes."""
_ANSWERS = re.compile(r'<table class="answers">.*?</table>', re.DOTALL)
_TABLE = re.compile(r"(?<=<!-- runs -->\n).*?(?=<!-- end of runs -->)", re.DOTALL)


def published(run: Run) -> str:
    """Return the name of the file of a run: by its runtime, version and processor."""
    shown = view(run)
    names = (run.backend, shown.version.rpartition(" ")[2], run.versions.get("processor", ""))
    slugs = [re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-") for name in names]
    return f"{'-'.join(slugs)}-{zlib.crc32(shown.processor.encode()):08x}.json.xz"


def add(files: Iterable[Path], folder: Path) -> None:
    """Publish the runs in files in a folder, each in place of an earlier one of the same name."""
    for run in (run for file in files for run in read_runs(file)):
        (folder / published(run)).write_bytes(lzma.compress(_HERE.sub("", as_json([run])).encode(), preset=9))


def runs_in(folder: Path) -> list[Run]:
    """Return the published runs, the newest of each runtime first."""
    found: list[Run] = []
    with TemporaryDirectory() as unpacked:
        for packed in sorted(folder.glob("*.json.xz")):
            file = Path(unpacked, packed.stem)
            file.write_bytes(lzma.decompress(packed.read_bytes()))
            found += read_runs(file)
    return sorted(found, key=lambda run: run.date, reverse=True)


def newest(runs: Iterable[Run], order: Sequence[str]) -> list[Run]:
    """Return the newest run of each runtime, which stand first, in the given order of backends and then by name."""
    found: dict[str, Run] = {}
    for run in runs:
        found.setdefault(run.backend, run)
    places = {backend: place for place, backend in enumerate(order)}
    return sorted(found.values(), key=lambda run: (places.get(run.backend, len(places)), run.title.lower()))


def table(runs: Sequence[Run], shown: Sequence[Run]) -> Iterator[str]:
    """Yield the processors of all runs, and a table of them: those on the page, each before others of its runtime."""
    listed = [run for one in shown for run in runs if run.backend == one.backend]
    processors = dict.fromkeys(view(run).processor for run in listed)
    letters = dict(zip(processors, ascii_uppercase, strict=False))
    yield f"Processors: {'; '.join(f'**{letter}** {processor}' for processor, letter in letters.items())}."
    yield ""
    yield "| runtime | version | processor | cases | deviate | |"
    yield "|---|---|---|---|---|---|"
    for run in listed:
        (one,) = (one for one in shown if one.backend == run.backend)
        about, packed = view(run), f"[run](../survey/{published(run)})"
        told = "on the page" if run is one else f"{len(run_diff([one], [run])[0].changes):,} cases differ from that"
        counts = f"{about.total:,} | {about.deviating:,}"
        yield f"| {about.title} | {about.version} | {letters[about.processor]} | {counts} | {packed}, {told} |"
    yield ""


def with_answers(page: str) -> str:
    """Return the text of the page with the first table of the survey in it, where it marks the place."""
    found = _ANSWERS.search(SURVEY.read_text("utf-8"))
    assert found is not None  # `reporting.conformance.html` writes it
    rows = "".join(line.strip() for line in found[0].replace('href="#', 'href="../survey.html#').splitlines())
    return page.replace("<!-- answers -->", f'<div class="survey">{rows}</div>')


def _known() -> dict[str, KnownDeviations]:
    files = {file.relative_to(_KNOWN.parent): read_known_deviations(file) for file in sorted(_KNOWN.glob("*.toml"))}
    return {known.backend: replace(known, file=file) for file, known in files.items()}


ORDER = ("onnxruntime", "openvino", "torch", "torch[compile=true]", "tensorflow", "jax", "tvm", "iree", "tract")
"""The runtimes that stand first on the page."""


def main(files: Sequence[str]) -> None:
    """Add the runs in files, and write all that is made of those published."""
    RUNS.mkdir(exist_ok=True)
    add(map(Path, files), RUNS)
    runs = runs_in(RUNS)
    shown = newest(runs, ORDER)
    SURVEY.write_text(document(shown, _known()), encoding="utf-8")
    PICTURE.write_text(drawn(SURVEY.read_text("utf-8")), encoding="utf-8")
    text = PAGE.read_text("utf-8")
    PAGE.write_text(_TABLE.sub(lambda _: "\n".join(table(runs, shown)), text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
