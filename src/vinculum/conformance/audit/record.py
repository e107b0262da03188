"""What an audit found out: everything that its report shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vinculum.conformance.oracle.verdict import Verdict
from vinculum.conformance.runtimes.registry import parsed
from vinculum.models.engines.openvino import EXACT_ON_OPENVINO
from vinculum.models.execution import Division
from vinculum.models.inner_divisions import InnerDivision
from vinculum.sandbox import Answer, End
from vinculum.spec.element_types import FLOAT, FLOAT16, ElementType

Index = tuple[int, ...]


@dataclass(frozen=True)
class Hazard:
    """Operands of one kind that a division met.

    Attributes
    ----------
    what : str
        In words: ``"divisor zero"``, ``"MIN/-1"``, ``"quotient overflows"``.
    count : int
        In how many quotients.
    first : tuple of int
        The index of the first such quotient.
    """

    what: str
    count: int
    first: Index


@dataclass(frozen=True)
class NodeRecord:
    """What was observed of one division.

    Attributes
    ----------
    division : Division
        The node.
    element_type : ElementType or None
        The operands'; None if it is not known.
    shapes : tuple of tuple of int
        The operands' shapes.
    verdict : Verdict or None
        What its quotients are worth on the inputs; None if they were not observed.
    alone : Verdict or None
        If one of the two verdicts is not a pass: what the runtime's quotients of the same operands are worth in a model
        of this one node. If they are exact, the runtime does something else with the node where it stands; it may have
        had operands of a wider type, which it rounded to hand them out.
    hazards : tuple of Hazard
        What its operands are like.
    smallest_divisor : str or None
        The divisor of the smallest magnitude that is not zero; None if there is none.
    unobserved : str or None
        Why there is no verdict.
    edges : Verdict or None
        What its quotients are worth in all sets of edge cases together; None if they were observed in none.
    """

    division: Division
    element_type: ElementType | None
    shapes: tuple[Index, ...] = ()
    verdict: Verdict | None = None
    alone: Verdict | None = None
    hazards: tuple[Hazard, ...] = ()
    smallest_divisor: str | None = None
    unobserved: str | None = None
    edges: Verdict | None = None

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Those that there are."""
        return tuple(verdict for verdict in (self.verdict, self.edges) if verdict is not None)

    @property
    def is_wrong(self) -> bool:
        """Whether a quotient is not right."""
        return any(not verdict.kind.passes for verdict in self.verdicts)


@dataclass(frozen=True)
class EdgeRuns:
    """What became of the runs of the exposed model on sets of edge cases.

    Attributes
    ----------
    sets, compared : int
        How many sets were tried, and how many of them the model ran on.
    skipped : Answer or None
        The first run that did not return, if it is no finding.
    died : Answer or None
        The first in which the process died.
    suspects : tuple of str
        The divisions that our engine meets MIN/-1 or a zero divisor in, in that run.
    """

    sets: int = 0
    compared: int = 0
    skipped: Answer | None = None
    died: Answer | None = None
    suspects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Audit:
    """What an audit of one model in one runtime found out.

    Attributes
    ----------
    model : str
        The file.
    backend : str
        As it was asked for: ``"openvino[device=GPU]"``.
    title : str
        What sentences call the runtime.
    versions : Mapping of str to str
        The versions of the packages that its answers depend on.
    nodes : tuple of NodeRecord
        One for each division, in the model's order.
    plain, exposed : Answer
        What became of the model as it is, and with its divisions exposed, less their outputs.
        Without divisions it is not run.
    suspects : tuple of str
        If the second did not return: the divisions that our engine meets MIN/-1 or a zero divisor in.
    changed : tuple of str
        The outputs that differ between the two, each as a sentence.
    seconds : float
        How long all runs took, loading included.
    edges : EdgeRuns
        The runs on edge cases.
    inner : tuple of InnerDivision
        The nodes that divide inside, whose quotients nothing here compares.
    expanded : int
        How many such nodes gave way to the bodies that ONNX defines them by.
    guarded : bool
        Whether divisions are guarded as `vinculum harden` guards them; they are audited with their guards.
    """

    model: str
    backend: str
    title: str
    versions: Mapping[str, str]
    nodes: tuple[NodeRecord, ...]
    plain: Answer
    exposed: Answer
    seconds: float
    suspects: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    edges: EdgeRuns = EdgeRuns()
    inner: tuple[InnerDivision, ...] = ()
    expanded: int = 0
    guarded: bool = False

    @property
    def finds(self) -> bool:
        """Whether there is a quotient that is not right, or a run on the inputs that did not return, or a death."""
        runs_end = all(run.end is End.RETURNED for run in (self.plain, self.exposed))
        return self.edges.died is not None or not runs_end or any(node.is_wrong for node in self.nodes)

    @property
    def runtime(self) -> str:
        """The backend without its options."""
        return parsed(self.backend)[0]

    @property
    def cure(self) -> tuple[str, ...]:
        """Lines of Python that make divisions exact which are not; none where nothing is known to help."""
        if self.expanded:  # What was found are not the model's own divisions.
            return ()
        name, options = parsed(self.backend)
        wrong = any(node.is_wrong and node.element_type in (FLOAT, FLOAT16) for node in self.nodes)
        on_cpu = name == "openvino" and options.get("device", "CPU") == "CPU"
        return EXACT_ON_OPENVINO if on_cpu and wrong else ()
