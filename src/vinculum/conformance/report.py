"""What a run of the suite found out about one runtime: everything that the reports show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from vinculum.conformance.case import Level
from vinculum.conformance.verdict import Kind, Verdict


@dataclass(frozen=True)
class Result:
    """One case and its verdict.

    Attributes
    ----------
    id, clause : str
        The case's.
    operator : str
        The row of the matrix: ``"Div-14"``, ``"Divide-1"``, ``"SONNX Div (int)"``.
    element_type : str
        The column of the matrix.
    statement : str
        What the clause asks for, in our words.
    verdict : Verdict
        What the answer is worth.
    reproducer : str or None
        Python source that shows it in the runtime's own interface; None for a pass.
    """

    id: str
    clause: str
    operator: str
    element_type: str
    statement: str
    verdict: Verdict
    reproducer: str | None = None


@dataclass(frozen=True)
class Report:
    """What a run of the suite found out about one runtime.

    Attributes
    ----------
    backend : str
        As it was asked for: ``"onnxruntime"``, ``"openvino[device=GPU]"``, ``"package.module:attribute"``.
    title : str
        What sentences call it: ``"ONNX Runtime"``.
    versions : Mapping of str to str
        The versions of what the answers depend on: packages, Python, platform, processor.
    level : Level
        Which cases were run.
    results : tuple of Result
        One for each case, in the suite's order.
    seconds : float
        How long it took.
    """

    backend: str
    title: str
    versions: Mapping[str, str]
    level: Level
    results: tuple[Result, ...]
    seconds: float

    def counts(self) -> Counter[Kind]:
        """Return how many results there are of each kind."""
        return Counter(result.verdict.kind for result in self.results)
