"""What a hardening decides for each division, and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from onnx import ModelProto

from vinculum.models.execution import Division
from vinculum.models.harden.facts import Facts
from vinculum.ops.policies import Policies

Runtime = Literal["onnxruntime", "openvino", "portable"]

RUNTIMES: dict[str, str] = {
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "portable": "every runtime",
}
"""What a model can be hardened for, and what sentences call it."""


@dataclass(frozen=True, eq=False)
class Decision:
    """What becomes of one division node.

    Attributes
    ----------
    division : Division
        The node.
    facts : Facts
        What is known of its operands.
    what : str or None
        What was done, in words; None if the node is left as it is.
    why : str
        The risk, or why there is none.
    note : str or None
        What holds of the quotients on that runtime and a user may not expect.
    """

    division: Division
    facts: Facts
    what: str | None
    why: str
    note: str | None = None

    @property
    def rewritten(self) -> bool:
        """Whether the node is not what it was."""
        return self.what is not None


@dataclass(frozen=True, eq=False)
class Hardening:
    """A model whose divisions cannot crash a runtime.

    Attributes
    ----------
    model : ModelProto
        The new model.
    runtime : {"onnxruntime", "openvino", "portable"}
        What it is for.
    policies : Policies
        What it does with zero divisors and with MIN/-1.
    decisions : tuple of Decision
        One for every division, in the order of `Model.divisions`.
    inlined : int
        How many functions were inlined because the runtime takes none.
    remainders : tuple of str
        The names of the nodes that take integer remainders (Mod). They are no divisions and stay as they are, and
        runtimes die of them too.
    """

    model: ModelProto
    runtime: Runtime
    policies: Policies
    decisions: tuple[Decision, ...]
    inlined: int = 0
    remainders: tuple[str, ...] = ()
