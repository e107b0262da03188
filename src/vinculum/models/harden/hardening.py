"""A whole ONNX model with every risky division rewritten."""

from __future__ import annotations

from collections.abc import Iterator, Set

from onnx import GraphProto, ModelProto, NodeProto, TensorProto

from vinculum.errors import AttributeValueError, ModelError
from vinculum.models.harden.constant_values import ConstantValues, constant_values
from vinculum.models.harden.decision import RUNTIMES, Decision, Hardening, Runtime
from vinculum.models.harden.facts import Facts
from vinculum.models.harden.functions import check_functions, without_functions
from vinculum.models.harden.rewrites import rewrite
from vinculum.models.harden.risk import assess
from vinculum.models.onnx.divisions import DIVIDES, division_of
from vinculum.models.onnx.rewriter import INITIALIZERS_ALONE, Rewriter, names_in, set_nodes
from vinculum.models.onnx.scopes import Scope, name_of
from vinculum.models.onnx.typed_scopes import typed_scopes
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor

_FIRST_OPSET = 7
_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)


def harden(
    proto: ModelProto, runtime: Runtime, *, zero_divisor: ZeroDivisor = "zero", overflow: Overflow = "wrap"
) -> Hardening:
    """Return a model whose every division gives the quotient that the standard asks for on a runtime and kills none.

    Integer divisions that may meet a zero divisor or MIN/-1, or that the runtime computes wrongly, are said in other
    standard operators, in subgraphs and functions too. A division by a constant that holds neither 0 nor -1 needs
    nothing on ONNX Runtime, floats need nothing anywhere.

    Parameters
    ----------
    proto : ModelProto
        As `vinculum.models.onnx.file.read_whole` returns it. It is not changed.
    runtime : {"onnxruntime", "openvino", "portable"}
        Where it is to run. OpenVINO's CPU device narrows int64, uint32 and uint64 to int32: there the quotients are
        exact where operands and quotient lie within int32. ``"portable"`` assumes of a Div only that its quotient is
        right to about 20 bits, and holds on ONNX Runtime, onnx's reference evaluator, and OpenVINO within its int32.
        For OpenVINO, which takes no functions, they are inlined when their divisions have been hardened.
    zero_divisor : {"zero", "saturate"}, keyword-only
        What x/0 is to give, as in `vinculum.div`.
    overflow : {"wrap", "saturate"}, keyword-only
        What MIN/-1 is to give.

    Raises
    ------
    AttributeValueError
        If there is no such runtime or policy, or the policy is ``"raise"``.
    ModelError
        If a division cannot be hardened; the line names it.
    """
    policies = _policies(runtime, zero_divisor, overflow)
    hardened = ModelProto()
    hardened.CopyFrom(proto)
    taken = names_in(hardened)
    decisions: list[list[Decision]] = []
    overridden = {function.name for function in hardened.functions if function.domain == ""}
    surroundings = list(zip(typed_scopes(hardened), constant_values(hardened), strict=True))
    # The inner scopes first: a node takes its subgraphs along when its own scope is written anew.
    for scope, values in reversed(surroundings):
        decisions.append(_harden_scope(scope, values, DIVIDES - overridden, taken, runtime, policies))
    found = tuple(decision for group in reversed(decisions) for decision in group)
    remainders = tuple(name for scope, _ in surroundings for name in _remainders(scope))
    changed = any(decision.rewritten for decision in found)
    if changed:
        check_functions(hardened, runtime)
    inlined = len(hardened.functions) if runtime == "openvino" and changed else 0
    if inlined:
        hardened = without_functions(hardened)
    if changed:
        hardened.ir_version = max(hardened.ir_version, INITIALIZERS_ALONE)
    return Hardening(hardened, runtime, policies, found, inlined, remainders)


def _remainders(scope: Scope) -> Iterator[str]:
    """Yield the names of the nodes that take an integer remainder, or may."""
    for node in scope.holder.node:
        if node.domain == "" and node.op_type == "Mod":
            known = [scope.types[name].tensor_type.elem_type for name in node.input if name in scope.types]
            if not any(code in _FLOATS for code in known):
                yield name_of(node)


def _policies(runtime: str, zero_divisor: ZeroDivisor, overflow: Overflow) -> Policies:
    if runtime not in RUNTIMES:
        raise AttributeValueError(f"a model is hardened for {', '.join(RUNTIMES)}; not for {runtime!r}")
    for name, value, other in (("zero_divisor", zero_divisor, "zero"), ("overflow", overflow, "wrap")):
        if value not in (other, "saturate"):
            reason = ", and no ONNX operator can raise an error" if value == "raise" else ""
            raise AttributeValueError(f"{name} is {value!r}{reason}; allowed here: {other!r}, 'saturate'")
    return Policies(zero_divisor, overflow)


def _harden_scope(
    scope: Scope,
    values: ConstantValues,
    dividing: Set[str],
    taken: set[str],
    runtime: Runtime,
    policies: Policies,
) -> list[Decision]:
    nodes: list[NodeProto] = []
    initializers: list[TensorProto] = []
    decisions: list[Decision] = []
    labels: set[tuple[str, str]] = set()
    for node in scope.holder.node:
        if node.domain or node.op_type not in dividing:
            nodes.append(node)
            continue
        decision = _decide(scope, node, labels, values, runtime, policies)
        decisions.append(decision)
        if not decision.rewritten:
            nodes.append(node)
            continue
        rewriter = Rewriter(scope.holder, decision.facts.opset, taken, name_of(node))
        quotient = rewrite(rewriter, decision.facts, list(node.input), runtime, policies)
        rewriter.stand_for(node, quotient)
        nodes += rewriter.nodes
        initializers += rewriter.initializers
    if any(decision.rewritten for decision in decisions):
        set_nodes(scope.holder, nodes)
        if isinstance(scope.holder, GraphProto):
            scope.holder.initializer.extend(initializers)
    return decisions


def _decide(
    scope: Scope,
    node: NodeProto,
    labels: set[tuple[str, str]],
    values: ConstantValues,
    runtime: Runtime,
    policies: Policies,
) -> Decision:
    division = division_of(scope, node, labels)
    opset = scope.opsets[""]
    if opset < _FIRST_OPSET:
        raise ModelError(
            f"{division.label} stands in operator set {opset}, which runtimes no longer take; "
            "convert the model first: vinculum convert --opset 17"
        )
    if division.element_type is None:
        raise ModelError(
            f"{division.label}: its element type is not known, or not the same in all calls of its function; declare "
            "it, or inline the function"
        )
    divisor = values.of(node.input[-1])
    dividend = values.of(node.input[0]) if len(node.input) > 1 else None
    unknown = node.op_type == "Div" and dividend is None and divisor is not None
    may_be_found = unknown and values.may_be_found(node.input[0], node.input[1])
    facts = Facts(node.op_type, opset, division.element_type, dividend, divisor, may_be_found)
    try:
        found = assess(facts, runtime, policies)
    except ModelError as error:
        raise ModelError(f"{division.label}: {error}") from None
    return Decision(division, facts, found.what, found.why, found.note)
