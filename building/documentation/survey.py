"""The survey: the runs published in ``docs/survey``, and what is made of the newest of each runtime.

``python -m building.documentation.survey RUN.json ...`` adds runs that ``vinculum conform --save`` wrote: of a
runtime there is one run for each version and processor. Then it writes the tables in ``docs/reference/survey.md``.
In the site, each answer of the first table leads to its cases, on a page for each runtime.
"""

from __future__ import annotations

import lzma
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from string import ascii_uppercase

from building.documentation import made
from building.documentation.made import MadePage, code, safe
from vinculum.conformance.expect import read_known_deviations
from vinculum.conformance.run.diff import run_diff
from vinculum.conformance.run.file import as_json, read_runs
from vinculum.conformance.run.record import Result, Run
from vinculum.reporting.conformance import html
from vinculum.reporting.conformance.questions import QUESTIONS, Told, told
from vinculum.reporting.conformance.view import Finding, Severity, View, verdict_sentence, view
from vinculum.reporting.escape import escaped, one_line
from vinculum.reporting.terminal import counted

DOCUMENTS = Path(__file__).parents[2] / "docs"
RUNS, PAGE = DOCUMENTS / "survey", DOCUMENTS / "reference" / "survey.md"
_KNOWN = DOCUMENTS.parent / "known_deviations"
_HERE = re.compile(r"(?:/[\w.+-]+)+/(?=site-packages/|torchinductor_)")
"""Folders of the machine that asked, as they stand in messages of runtimes."""
_TABLES = {
    name: re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- end of {name} -->)", re.DOTALL) for name in ("answers", "runs")
}
_CASES_SHOWN = 3
"""Of each cause, below an answer."""


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
    found = (run for file in sorted(folder.glob("*.json.xz")) for run in read_runs(file))
    return sorted(found, key=lambda run: run.date, reverse=True)


def newest(runs: Iterable[Run], order: Sequence[str]) -> list[Run]:
    """Return the newest run of each runtime, which stand first, in the given order of backends and then by name."""
    found: dict[str, Run] = {}
    for run in runs:
        found.setdefault(run.backend, run)
    places = {backend: place for place, backend in enumerate(order)}
    return sorted(found.values(), key=lambda run: (places.get(run.backend, len(places)), run.title.lower()))


def table(runs: Sequence[Run], shown: Sequence[Run]) -> Iterator[str]:
    """Yield the processors of all runs, and a table of them: those shown, each before others of its runtime."""
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
        told = "shown above" if run is one else f"{_differing(one, run):,} cases differ from that"
        counts = f"{about.total:,} | {about.deviating:,}"
        yield f"| {about.title} | {about.version} | {letters[about.processor]} | {counts} | {packed}, {told} |"
    yield ""


def _differing(one: Run, other: Run) -> int:
    """Return in how many cases two runs have other answers; later versions may have found other causes."""
    changes = run_diff([one], [other])[0].changes
    return sum(bool(each.differing) or each.before.verdict.kind is not each.after.verdict.kind for each in changes)


def tables() -> dict[str, str]:
    """Return the two tables of the page."""
    shown = newest_shown()
    return {"answers": answers(shown), "runs": "\n".join(table(_published(), [one.run for one in shown]))}


def answers(shown: Sequence[View]) -> str:
    """Return the first table in words alone, for readers of the file."""
    rows = [[safe(one.title), *map(_answer, told(one))] for one in shown]
    return made.table(["", *(f"{one.heading}<br>{one.about}" for one in QUESTIONS)], rows).rstrip("\n") + "\n"


def _answer(one: Told) -> str:
    return f"**{safe(one.words)}**" if one.severity in (Severity.FATAL, Severity.WRONG) else safe(one.words)


@cache
def _published() -> list[Run]:
    return runs_in(RUNS)


@cache
def newest_shown() -> tuple[View, ...]:
    """Return the newest run of each runtime, with what is known of it."""
    known = {known.backend: known for known in map(read_known_deviations, sorted(_KNOWN.glob("*.toml")))}
    return tuple(view(run, known.get(run.backend)) for run in newest(_published(), ORDER))


def with_answers(page: str) -> str:
    """Return the text of the page with the first table as the site shows it: coloured, each answer a link."""
    rows = html.answers(newest_shown(), lambda one, *place: "#".join([f"survey/{_name(one.run)}.html", *place[1:]]))
    table = "".join(line.strip() for line in rows.splitlines())
    return _TABLES["answers"].sub(lambda _: f'<div class="survey">{table}</div>\n', page)


def _name(run: Run) -> str:
    return re.sub(r"[^a-z0-9]+", "-", run.backend.lower()).strip("-")


def survey_pages() -> list[MadePage]:
    """Return a page for each runtime: its answers, each with its cases, then every cause."""
    return [MadePage(one.title, f"{_name(one.run)}.md", "".join(_runtime(one))) for one in newest_shown()]


def _runtime(one: View) -> Iterator[str]:
    yield f"# How {safe(one.title)} divides\n\n"
    counts = f"{one.passing:,} pass, {one.deviating:,} deviate, {one.unsupported:,} are not supported"
    yield f"{safe(one.version)} on {safe(one.processor)}, {one.date}. {counted(one.total, 'case')}: {counts}. "
    yield f"{one.explained}\n\nEach case is in [the run](../../survey/{published(one.run)}), which `vinculum report` "
    yield "shows. [All runtimes](../survey.md)\n\n"
    for number, (question, answer) in enumerate(zip(QUESTIONS, told(one), strict=True)):
        if answer.results:
            yield f"## {safe(question.heading)} {{#{number}}}\n\n"
            yield f"{safe(question.about)}: **{safe(answer.words)}**. "
            yield from _cases(answer.results, one)
    if one.findings:
        yield "## Why it deviates\n\n"
    for finding in one.findings:
        yield f"**{finding.worst.value}**: {safe(one_line(finding.statement))} ({counted(finding.total, 'case')}: "
        yield f"{safe(finding.where)}).{_reasons(finding, one)}\n\n{_case(finding.shown)}"


def _reasons(finding: Finding, one: View) -> str:
    """Return what is known of a cause, with links."""
    reasons = ((safe(one_line(why)), link) for why, link, _ in finding.reasons(one.known))
    return "".join(f" {why}" + (f" [{safe(link)}]({link})." if link else ".") for why, link in reasons)


def _cases(results: Sequence[Result], one: View) -> Iterator[str]:
    """Yield how many cases an answer rests on, and of those that deviate a few of each cause, with their scripts."""
    causes: dict[int, list[Result]] = {}
    places = {id(result): place for place, finding in enumerate(one.findings) for result in finding.results}
    for result in results:
        if result.verdict.kind.deviates:
            causes.setdefault(places[id(result)], []).append(result)
    deviating = sum(map(len, causes.values()))
    yield f"{counted(len(results), 'case')}{f', {deviating:,} of which deviate' if deviating else ''}.\n\n"
    for _, found in sorted(causes.items()):
        for place, result in enumerate(found[:_CASES_SHOWN]):
            yield _case(result, is_open=place == 0)
        if len(found) > _CASES_SHOWN:
            yield f"And {len(found) - _CASES_SHOWN:,} more of the same cause.\n\n"
    if not causes:
        seen = {result.id.scenario: verdict_sentence(result.verdict) for result in results}
        yield from (f"- {safe(scenario)}: {safe(sentence)}\n" for scenario, sentence in seen.items())
        yield "\n"


def _case(result: Result, *, is_open: bool = False) -> str:
    """Return a case that unfolds to what happened, the clause, and the script that shows it."""
    title = f"{result.verdict.kind.value}: {code(escaped(str(result.id)))}".replace('"', "'")
    lines = [
        safe(verdict_sentence(result.verdict)),
        "",
        f"{safe(one_line(result.clause))}: {safe(one_line(result.statement))}",
    ]
    if result.reproducer:
        lines += ["", "```python", *map(escaped, result.reproducer.expandtabs(4).rstrip("\n").split("\n")), "```"]
    return "".join(
        f"{line}\n"
        for line in (f'???{"+" * is_open} quote "{title}"', "", *(f"    {line}".rstrip() for line in lines), "")
    )


ORDER = ("onnxruntime", "openvino", "torch", "torch[compile=true]", "tensorflow", "jax", "tvm", "iree", "tract")
"""The runtimes that stand first."""


def main(files: Sequence[str]) -> None:
    """Add the runs in files, and write all that is made of those published."""
    RUNS.mkdir(exist_ok=True)
    add(map(Path, files), RUNS)
    text = PAGE.read_text("utf-8")
    for name, rows in tables().items():
        start, end = next(_TABLES[name].finditer(text)).span()
        text = text[:start] + rows + text[end:]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
