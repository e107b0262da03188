"""The results of an audit: everything that its report shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vinculum.conformance.run.record import Verdict
from vinculum.conformance.runtimes.backends import parsed
from vinculum.models.engines.openvino import EXACT_ON_OPENVINO
from vinculum.models.execution import Division
from vinculum.models.inner_divisions import InnerDivision
from vinculum.sandbox import Answer, End
from vinculum.shown import Shown
from vinculum.spec.element_types import FLOAT, FLOAT16, ElementType

Index = tuple[int, ...]


@dataclass(frozen=True)
class Hazard:
    """Critical operands of one kind in a division.

    - `what`: The kind: ``"divisor zero"``, ``"MIN/-1"``, ``"quotient overflows"``.
    - `count`: The number of quotients affected.
    - `first`: The index of the first such quotient.
    """

    what: str
    count: int
    first: Index


@dataclass(frozen=True)
class NodeRecord:
    """The observations of one division.

    - `element_type`: The operands' element type; None if it is not known.
    - `verdict`: The verdict on its quotients for the inputs; None if they were not observed.
    - `alone`: If `verdict` or `edges` is not a pass: the verdict on the runtime's quotients of the same operands in a
      model with this node alone. If that passes, the runtime treats the node differently in its context; it may have
      divided operands of a wider type, which it rounded to expose them.
    - `smallest_divisor`: The divisor of the smallest magnitude that is not zero; None if there is none.
    - `unobserved`: Why there is no verdict.
    - `edges`: The joint verdict on its quotients in all sets of edge cases; None if they were observed in none.
    - `sizes`: The numbers of quotients in the runs that were compared, in ascending order.
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
    sizes: tuple[int, ...] = ()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The existing verdicts."""
        return tuple(verdict for verdict in (self.verdict, self.edges) if verdict is not None)

    @property
    def is_wrong(self) -> bool:
        """Whether a quotient is wrong."""
        return any(not verdict.kind.passes for verdict in self.verdicts)


@dataclass(frozen=True)
class EdgeRuns:
    """The results of running the exposed model on sets of edge cases.

    - `sets`, `compared`: How many sets were tried, and on how many of them the model ran.
    - `skipped`: The first answer to a set on which the model did not run.
    - `died`: The first crash of the process.
    - `suspects`: The divisions of that run in which our engine finds MIN/-1 or a zero divisor, and such operands.
    """

    sets: int = 0
    compared: int = 0
    skipped: Answer | None = None
    died: Answer | None = None
    suspects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Audit(Shown):
    """The results of an audit of one model in one runtime.

    - `backend`: The backend as requested: ``"openvino[device=GPU]"``.
    - `title`: The runtime's name in sentences.
    - `versions`: The versions of the packages that its answers depend on.
    - `nodes`: One for each division, in the model's order.
    - `plain`, `exposed`: The answers of the original model and of the model with its divisions exposed, without
      outputs. A model without divisions is not run.
    - `suspects`: If the exposed model did not return: the divisions in which our engine finds MIN/-1 or a zero divisor.
    - `changed`: A sentence for each output that differs between the two.
    - `seconds`: The duration of all runs, including loading.
    - `inner`: The nodes that divide internally; their quotients are not audited.
    - `expanded`: How many such nodes were replaced by the function bodies with which ONNX defines them.
    - `guarded`: Whether `vinculum harden` has guarded divisions; they are audited with their guards.
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
        """Whether a quotient is wrong, a run on the inputs did not return, or the process crashed."""
        runs_end = all(run.end is End.RETURNED for run in (self.plain, self.exposed))
        return self.edges.died is not None or not runs_end or any(node.is_wrong for node in self.nodes)

    @property
    def runtime(self) -> str:
        """The backend without its options."""
        return parsed(self.backend)[0]

    @property
    def cure(self) -> tuple[str, ...]:
        """Lines of Python that make the wrong divisions exact; empty where no remedy is known."""
        if self.expanded:  # The wrong divisions may not be in the model itself.
            return ()
        name, options = parsed(self.backend)
        wrong = any(node.is_wrong and node.element_type in (FLOAT, FLOAT16) for node in self.nodes)
        on_cpu = name == "openvino" and options.get("device", "CPU") == "CPU"
        return EXACT_ON_OPENVINO if on_cpu and wrong else ()
