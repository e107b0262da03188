"""Hardening of a whole ONNX model: every risky division and remainder is rewritten."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace

from onnx import ModelProto, NodeProto

from vinculum.errors import AttributeValueError, ModelError
from vinculum.models.onnx.divisions import DIVIDES, division_of
from vinculum.models.onnx.file import check_no_training
from vinculum.models.onnx.functions import inlined, overridden, since
from vinculum.models.onnx.inference import inner_first
from vinculum.models.onnx.rewriter import set_nodes
from vinculum.models.onnx.scopes import Scope, declared_element_type, name_of
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor
from vinculum.repair.bounds import UNKNOWN, Place, bounds_of
from vinculum.repair.decision import RUNTIMES, Decision, Facts, Hardening, Operator, Runtime, decided
from vinculum.repair.exported import Exported, exported_divisions, replace_exported
from vinculum.repair.guards import FIRST_OPSET, Guards
from vinculum.spec.element_types import ElementType

_UNTYPED = (
    "its element type is not known, or not the same in all calls of its function; declare it, or inline the function"
)


def harden(
    proto: ModelProto,
    runtime: Runtime,
    *,
    zero_divisor: ZeroDivisor = "zero",
    overflow: Overflow = "wrap",
    fix_exported: bool = False,
) -> Hardening:
    """Return a model whose integer divisions and remainders give the standard's results on a runtime, without crashes.

    A division that may have a zero divisor or be MIN/-1, or that the runtime computes wrongly, is rewritten in other
    standard operators, in subgraphs and functions too.

    - `proto`: as `vinculum.models.source.read_source` reads it. It is not changed.
    - `runtime`: ``"portable"`` relies only on a quotient of Div that is correct to about 20 bits, except for operands
      of uint64 beyond int64, which the runtime's own Div divides. OpenVINO's CPU device narrows int64, uint32 and
      uint64 to int32: there, results are exact if they and the operands are in the range of int32.
    - `zero_divisor`, `overflow`, `fix_exported`: as `vinculum.harden` takes them. x mod 0 and MIN mod -1 give 0.

    For ONNX Runtime the new nodes are written once, in a function of the model in the domain ``vinculum``, and each
    division becomes a call of it. OpenVINO does not support functions, and other runtimes may not: there, nodes replace
    the division, and the model's own functions are inlined, as they also are if their calls differ in element type.

    AttributeValueError if there is no such runtime or policy, or the policy is ``"raise"``. ModelError if a division
    cannot be hardened; the message names it.
    """
    policies = _policies(runtime, zero_divisor, overflow)
    check_no_training(proto)
    inline = runtime != "onnxruntime" and bool(proto.functions)
    hardening = _hardened(inlined(proto) if inline else proto, runtime, policies, fix_exported)
    if hardening.left and not inline and proto.functions:
        with suppress(ModelError):  # Inlined, each call has nodes of one type. If that fails, the first result is kept.
            hardening, inline = _hardened(inlined(proto), runtime, policies, fix_exported), True
    if not any(decision.rewritten for decision in hardening.decisions):
        return replace(hardening, model=deepcopy(proto))
    return replace(hardening, inlined=len(proto.functions) if inline else 0)


def _hardened(proto: ModelProto, runtime: Runtime, policies: Policies, fix_exported: bool) -> Hardening:
    model = deepcopy(proto)
    replaced = replace_exported(model) if fix_exported else {}
    decisions = _Hardener(model, runtime, policies, replaced).harden()
    return Hardening(model, runtime, policies, decisions, mended=bool(replaced))


def _policies(runtime: str, zero_divisor: ZeroDivisor, overflow: Overflow) -> Policies:
    if runtime not in tuple(RUNTIMES):
        raise AttributeValueError(f"the runtime is {runtime!r}; allowed: {', '.join(RUNTIMES)}")
    for name, value, other in (("zero_divisor", zero_divisor, "zero"), ("overflow", overflow, "wrap")):
        if value not in (other, "saturate"):
            reason = ", and no ONNX operator can raise an error" if value == "raise" else ""
            raise AttributeValueError(f"{name} is {value!r}{reason}; allowed here: {other!r}, 'saturate'")
    return Policies(zero_divisor, overflow)


class _Hardener:
    def __init__(
        self, model: ModelProto, runtime: Runtime, policies: Policies, replaced: Mapping[Place, Exported]
    ) -> None:
        self._model, self._runtime, self._policies, self._replaced = model, runtime, policies, replaced
        self._bounds = bounds_of(model)
        self._guards = Guards(model, runtime, policies)
        self._operators = (DIVIDES | {"Mod"}) - overridden(model)

    def harden(self) -> tuple[Decision, ...]:
        """Rewrite all risky divisions, and return the decisions, in the order of the scopes."""
        decisions = [self._scope(scope) for scope in inner_first(self._model)]
        self._guards.complete()
        return tuple(decision for group in reversed(decisions) for decision in group)

    def _scope(self, scope: Scope) -> list[Decision]:
        nodes: list[NodeProto] = []
        decisions: list[Decision] = []
        in_floats = {id(each.division): each for each in exported_divisions(scope)}
        for node in scope.holder.node:
            decision = self._decide(scope, node)
            if decision is None:
                nodes.append(node)
                continue
            if id(node) in in_floats:
                notes = (decision.note, f"{in_floats[id(node)].risk}; fix it with --fix-exported")
                decision = replace(decision, note="; ".join(filter(None, notes)))
            decisions.append(decision)
            if decision.facts is None or decision.what is None:
                nodes.append(node)
            else:
                nodes += self._guards.replace(scope, node, decision.facts, decision.what)
        if any(decision.rewritten for decision in decisions):
            set_nodes(scope.holder, nodes)
        return decisions

    def _decide(self, scope: Scope, node: NodeProto) -> Decision | None:
        """Return the decision about a node; None for a remainder of floats, and for another operator."""
        if node.domain or node.op_type not in self._operators:
            return None
        opset = scope.opsets[""]
        if node.op_type == "Mod":
            element_type = _type_of_remainder(scope, node)
            if element_type is not None and not element_type.is_integer:
                return None
            version = f"Mod-{since('Mod', opset)}"
        else:
            division = division_of(scope, node)
            element_type, version = division.element_type, division.operator
        undecided = Decision(name_of(node), scope.path, version, None, None, _UNTYPED)
        place = (scope.path, node.output[0])
        exported = self._replaced.get(place)
        operator = _operator(node, exported)
        if operator is None:
            return replace(undecided, why="its fmod is given by each call of its function; inline the function")
        if element_type is None:
            return undecided
        bounds = self._bounds.get(place, UNKNOWN)
        if self._runtime != "onnxruntime" and "beyond int32" not in bounds.never:
            # OpenVINO narrows the operands to int32, where another divisor may be 0.
            bounds = replace(UNKNOWN, dividend=bounds.dividend, divisor=bounds.divisor)
        written = self._guards.opset(opset)
        decision = decided(undecided, Facts(operator, written, element_type, bounds), self._runtime, self._policies)
        if decision.what and min(opset, written) < FIRST_OPSET:
            raise ModelError(
                f"{undecided.label} is of operator set {min(opset, written)}, and guards begin at {FIRST_OPSET}; "
                "convert the model first: vinculum convert --opset 17"
            )
        if exported is None:
            return decision
        what, why = ", ".join(filter(None, ("divided as integers", decision.what))), exported.risk
        return replace(decision, what=what, why=f"{why}; {decision.why}" if decision.what else why)


def _type_of_remainder(scope: Scope, node: NodeProto) -> ElementType | None:
    found = [declared_element_type(code) for name in node.input if (code := scope.code_of(name))]
    return next((element_type for element_type in found if isinstance(element_type, ElementType)), None)


def _operator(node: NodeProto, exported: Exported | None) -> Operator | None:
    """Return the operation of a node; None if it depends on an attribute of its function."""
    if node.op_type == "Reciprocal":
        return "Reciprocal"
    if node.op_type == "Div":
        return "FloorDiv" if exported is not None and exported.floor else "Div"
    for attribute in node.attribute:
        if attribute.name == "fmod" and attribute.ref_attr_name:
            return None
        if attribute.name == "fmod" and attribute.i:
            return "Fmod"
    return "Mod"
