"""Conformance runs as one self-contained HTML page: it needs no network, and obeys nothing that a runtime said.

The summary and the matrices are there without JavaScript; the cases are listed by it, from data that stands in the page
once. Every text goes through `escaped`, is escaped by the template, and set as text by the script.
"""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

from vinculum.conformance.execute.run import Run
from vinculum.conformance.expect import KnownDeviations
from vinculum.conformance.oracle.verdict import Kind
from vinculum.reporting.conformance.data import data
from vinculum.reporting.conformance.findings import Finding, findings, foremost
from vinculum.reporting.conformance.matrix import WORST_FIRST, Cases, Cell, Matrix, in_order, matrix
from vinculum.reporting.conformance.severity import OF_KIND, Severity, severity
from vinculum.reporting.conformance.survey import UlpRow, errors_in_ulps, silence, ulp_bins
from vinculum.reporting.conformance.words import verdict_sentence
from vinculum.reporting.escape import escaped, one_line, short

if TYPE_CHECKING:
    from jinja2 import Template

_FINDINGS_SHOWN = 12

# A cell has room for one short word.
_WORDS = {
    Kind.CRASHED: "crash",
    Kind.HUNG: "hung",
    Kind.OUT_OF_MEMORY: "memory",
    Kind.WRONG_VALUE: "wrong",
    Kind.ACCEPTED: "accept",
    Kind.WRONG_TYPE: "type",
    Kind.WRONG_SHAPE: "shape",
    Kind.ULPS: "ulps",
    Kind.REFUSED: "refuse",
    Kind.UNSUPPORTED: "none",
    **dict.fromkeys((Kind.UNSPECIFIED, Kind.REFUSED_AS_REQUIRED, Kind.EXACT), "ok"),
}


GLOSSARY = (
    ("case", "one division of two tensors: an operator version, an element type, operands, shapes, attributes"),
    ("cause", "a prediction of deviating cases: an arithmetic that gives exactly their bits, or a rule"),
    ("exact", "the quotient that the document defines, rounded once, to nearest with ties to even"),
    ("ulp", "unit in the last place: the distance between neighbouring numbers of the element type"),
    ("subnormal number", "a float nearer to zero than the smallest normal one; some runtimes flush it to zero"),
    ("saturated", "a number too large for the type becomes its largest number"),
    ("narrowed", "converted to a smaller type, so that upper bits or digits are lost"),
    ("constant operand", "an operand stored in the model, which a runtime may fold before it runs"),
    ("unspecified", "no document defines the quotient: an integer divided by 0, the smallest integer by -1"),
    ("SIGFPE", "the signal that ends a process whose integer division traps, as x/0 and MIN/-1 do on x86"),
)


@dataclass(frozen=True)
class Runtime:
    """What the template shows of one runtime."""

    run: Run
    matrix: Matrix
    findings: tuple[Finding, ...]
    known: KnownDeviations | None

    @property
    def name(self) -> str:
        """What headings call it."""
        title = short(self.run.title)
        return title[:1].upper() + title[1:]

    @property
    def shown(self) -> tuple[Finding, ...]:
        """The findings that stand above the matrix."""
        return foremost(self.findings, _FINDINGS_SHOWN)

    @property
    def cases(self) -> Cases:
        """All its cases."""
        return Cases(self.run.results)

    @property
    def errors(self) -> tuple[UlpRow, ...]:
        """How many quotients are off by how much, by element type."""
        return errors_in_ulps(self.run)

    @property
    def numbered(self) -> tuple[tuple[int, Finding], ...]:
        """All findings with their numbers: first those that stand above the matrix, then those folded away."""
        rest = (finding for finding in self.findings if finding not in self.shown)
        return tuple((self.findings.index(finding), finding) for finding in (*self.shown, *rest))

    @property
    def package(self) -> str:
        """The version of what answered."""
        package, version = next(iter(self.run.versions.items()), ("", ""))
        return short(f"{package} {version}".strip())


def document(runs: Sequence[Run], known: Mapping[str, KnownDeviations] | None = None) -> str:
    """Return the page on one or several runtimes.

    Parameters
    ----------
    runs : sequence of Run
        One for each runtime.
    known : Mapping of str to KnownDeviations, optional
        What is known of backends: the reasons then stand beside the cases.
    """
    files_of = {run.backend: known[run.backend].on(run.versions) for run in runs if known and run.backend in known}
    runtimes = [Runtime(run, matrix(run), findings(run), files_of.get(run.backend)) for run in runs]
    style, script = (
        files(__package__).joinpath("templates", f"conformance.{end}").read_text("utf-8") for end in ("css", "js")
    )
    rows = tuple(dict.fromkeys(operator for runtime in runtimes for operator in runtime.matrix.operators))
    columns = in_order(name for runtime in runtimes for name in runtime.matrix.element_types)
    return _template().render(
        runtimes=runtimes,
        groups=[
            (row, [name for name in columns if any((row, name) in r.matrix.cells for r in runtimes)]) for row in rows
        ],
        kinds=[kind for kind in WORST_FIRST if any(runtime.run.counts()[kind] for runtime in runtimes)],
        severity_of=OF_KIND,
        severity=severity,
        address=_address,
        style=style,
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=data(runs, files_of),
        silence=silence(runs),
        ulp_bins=ulp_bins(),
        command=_command(runs, files_of),
        glossary=GLOSSARY,
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(short=short, one_line=one_line, number=_number, cell_word=_word, cell_count=_count)
    environment.filters.update(cell_title=_title, sentence=verdict_sentence)
    environment.tests.update(web=_web)
    return environment.get_template("conformance.html.j2")


def _address(runtime: Runtime, *parts: str) -> str:
    """Return the part of an address after the #: ``openvino/cell/Div-14/float``; the script reads it."""
    return "/".join(quote(one_line(part), safe="-_.!~*'()") for part in (runtime.run.backend, *parts))


def _command(runs: Sequence[Run], known: Mapping[str, KnownDeviations]) -> str:
    """Return the command that makes such a page."""
    options = runs[0].selection.options if runs else ()
    given = [known[run.backend] for run in runs if run.backend in known]
    expected = [part for one in given for part in ("--expect", str(one.file))]
    words = ["vinculum", "conform", *(run.backend for run in runs), *options, *expected, "--html", "run.html"]
    return " ".join(shlex.quote(escaped(word)) for word in words)


def _web(link: str) -> bool:
    """Tell whether a link leads to the web, and not to a script."""
    return link.startswith(("https://", "http://"))


def _number(value: int) -> str:
    return f"{value:,}"


def _word(cell: Cell) -> str:
    if not (cell.deviating or cell.is_lacking):
        return "ok"
    return _WORDS[Kind.WRONG_VALUE if cell.severity is Severity.WRONG and cell.worst is Kind.ULPS else cell.worst]


def _count(cell: Cell) -> str:
    if cell.deviating:
        return f"{cell.deviating:,} of {cell.total:,}"
    left = cell.total - cell.passing
    return f"{cell.passing:,}, {left:,} none" if 0 < left < cell.total else f"{cell.total:,}"


def _title(cell: Cell) -> str:
    counts = ", ".join(f"{cell.counts[kind]:,} {kind.value}" for kind in WORST_FIRST if cell.counts[kind])
    return short(f"{cell.operator}, {cell.element_type}: {counts}")
