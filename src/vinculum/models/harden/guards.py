"""The nodes that replace a division or remainder, in a function of the model or in place of the node."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, helper

from vinculum.models.harden.decision import Facts, Runtime
from vinculum.models.harden.integer_nodes import IntegerNodes, exact_quotient
from vinculum.models.onnx.divisions import GUARDS, mark_guard
from vinculum.models.onnx.promoted_types import promotion_among
from vinculum.models.onnx.rewriter import FUNCTIONS, INITIALIZERS_ALONE, Rewriter, names_in, unique_name
from vinculum.models.onnx.scopes import Scope, all_nodes, name_of, opset_imports
from vinculum.ops.policies import Policies
from vinculum.spec.element_types import DOUBLE, FLOAT, INT32, INT64, UINT64, ElementType

_MOD = 10
_WITH_KERNELS = (INT32, INT64, UINT64, FLOAT, DOUBLE)
"""The element types for which every target runtime has kernels of all operators used here."""
_HALF = float(2**62)
"""Unsigned numbers below it, and all intermediate results of dividing them, are in the range of int64."""


class Guards:
    """Rewrites divisions of a model: as calls of one function for all that are alike, or in place.

    A rewrite of a single node is written in place in both cases.

    A function imports the model's operator set, even if functions that call it import others: no runtime refuses that.

    - `model`: it is not changed before `complete`.
    - `runtime`: the target runtime.
    - `policies`: for x/0 and MIN/-1.
    - `functions`: whether to write functions.
    """

    def __init__(self, model: ModelProto, runtime: Runtime, policies: Policies, *, functions: bool) -> None:
        self._model = model
        self._runtime = runtime
        self._policies = policies
        self._use_functions = functions
        self._names = names_in(model)
        self._titles = {function.name for function in model.functions if function.domain == GUARDS}
        self._functions: dict[tuple[object, ...], FunctionProto] = {}

    def opset(self, own: int) -> int:
        """Return the operator set for the rewrite of a node, given the node's own."""
        return opset_imports(self._model).get("", own) if self._use_functions else own

    def replace(
        self, scope: Scope, node: NodeProto, facts: Facts, what: str
    ) -> tuple[Sequence[NodeProto], Sequence[TensorProto]]:
        """Return the nodes and initializers that replace a node; a call keeps the node's name and documentation.

        - `node`: a division or remainder.
        - `facts`: the facts about it.
        - `what`: a description of the rewrite.
        """
        # ONNX Runtime expands a SequenceMap whose body calls a function to an invalid model.
        if self._use_functions and "SequenceMap" not in scope.path:
            if facts.decisive not in self._functions:
                self._functions[facts.decisive] = self._function(facts, what)
            function = self._functions[facts.decisive]
            if len(function.node) > 1:
                call = deepcopy(node)
                call.domain, call.op_type = GUARDS, function.name
                del call.attribute[:]  # The function includes their effect.
                return [call], []
        rewriter = Rewriter(scope.holder, facts.opset, self._names, name_of(node))
        rewriter.stand_for(node, rewrite(rewriter, facts, list(node.input), self._runtime, self._policies))
        made = next(new for new in rewriter.nodes if node.output[0] in new.output)
        mark_guard(new for new in rewriter.nodes if new is not made)
        mark_guard([made], json.dumps([facts.operator, *node.input]))
        return rewriter.nodes, rewriter.initializers

    def complete(self) -> None:
        """Add the functions to the model, before its own, which may call them, and raise the IR version as needed."""
        made = [function for function in self._functions.values() if len(function.node) > 1]
        self._model.ir_version = max(self._model.ir_version, FUNCTIONS if made else INITIALIZERS_ALONE)
        if not made:
            return
        for function in reversed(made):
            self._model.functions.insert(0, function)
        for holder in (self._model, *self._model.functions):
            nodes = holder.graph.node if isinstance(holder, ModelProto) else holder.node
            calls = isinstance(holder, ModelProto) or any(node.domain == GUARDS for node in all_nodes(nodes))
            if calls and GUARDS not in opset_imports(holder):
                holder.opset_import.add(domain=GUARDS, version=1)

    def _function(self, facts: Facts, what: str) -> FunctionProto:
        name = unique_name(f"{facts.operator}_{facts.element_type}", self._titles)
        inputs = ["B"] if facts.operator == "Reciprocal" else ["A", "B"]
        rewriter = Rewriter(FunctionProto(), facts.opset, {"A", "B", "C"}, "")
        rewriter.name_result(rewrite(rewriter, facts, inputs, self._runtime, self._policies), "C")
        mark_guard(rewriter.nodes)
        opsets = [helper.make_opsetid("", facts.opset)]
        return helper.make_function(GUARDS, name, inputs, ["C"], rewriter.nodes, opsets, doc_string=what)


def promoted_type(element_type: ElementType, runtime: Runtime) -> ElementType:
    """Return the type in which a division is written; it holds every operand.

    OpenVINO's CPU device has no integers wider than int32, so all integer types use int32 there. On other runtimes 8
    and 16 bits are promoted to int32, because some operators lack kernels for them; uint32 is promoted to int64, for
    the same reason and because remainders need a sign.
    """
    if runtime == "openvino" and element_type.is_integer:
        return INT32
    found = None if element_type in _WITH_KERNELS else promotion_among(element_type, _WITH_KERNELS)
    return element_type if found is None else found.element_type


def may_be_fused(facts: Facts, runtime: Runtime) -> bool:
    """Return whether ONNX Runtime may fuse 1/b*c to c/b, which it does with integers too unless a node is between."""
    fusible = facts.operator == "Div" and facts.element_type in (INT32, INT64)
    return runtime == "onnxruntime" and fusible and facts.may_be_inverse


def rewrite(rewriter: Rewriter, facts: Facts, operands: list[str], runtime: Runtime, policies: Policies) -> str:
    """Add the nodes that divide safely, and return the name of the quotient or remainder.

    - `rewriter`: collects the nodes.
    - `facts`: the facts about the division.
    - `operands`: dividend and divisor; of a Reciprocal the divisor alone.
    - `runtime`: the target runtime.
    - `policies`: for x/0 and MIN/-1.
    """
    promoted = promoted_type(facts.element_type, runtime)
    if promoted is not facts.element_type:
        operands = [rewriter.cast(x, promoted, f"{promoted}_{k}") for k, x in enumerate(operands)]
    if promoted is FLOAT:
        return rewriter.cast(rewriter.add(facts.operator, operands, "in_float"), facts.element_type, "cast_back")
    integers = _Integers(rewriter, facts, promoted, runtime, policies)
    result = integers.remainder(*operands) if facts.is_remainder else integers.quotient(*operands)
    return result if promoted is facts.element_type else rewriter.cast(result, facts.element_type, "cast_back")


@dataclass(frozen=True)
class _Quotient:
    """The names of a quotient and of values that later nodes need."""

    value: str  # The truncated quotient.
    divisor: str  # The guarded divisor.
    overflows: str | None = None  # The mask of MIN/-1, where the quotient is MIN; None if it is not needed.


class _Integers:
    """An integer division or remainder, written in its promoted type."""

    def __init__(
        self, rewriter: Rewriter, facts: Facts, promoted: ElementType, runtime: Runtime, policies: Policies
    ) -> None:
        self._rewriter = rewriter
        self._facts = facts
        self._nodes = IntegerNodes(rewriter, facts.opset, promoted)
        self._runtime = runtime
        self._policies = policies
        # ONNX Runtime's own Div is exact, and its Mod with fmod=0; with fmod=1 it computes in float64.
        self._direct = runtime == "onnxruntime" and (facts.operator == "Div" or facts.opset >= _MOD)

    def remainder(self, a: str, b: str) -> str:
        """Return the remainder; x mod 0 and x mod -1 are computed as x mod 1, which is 0."""
        nodes, facts = self._nodes, self._facts
        unit = nodes.equals(b, 0, "divisor_is_zero") if facts.may_be_zero else None
        if facts.may_be_minus_one:
            minus_one = nodes.equals(b, -1, "divisor_is_minus_1")
            unit = minus_one if unit is None else nodes.either(unit, minus_one, "remainder_is_zero")
        divisor = b if unit is None else nodes.select(unit, nodes.number(1), b, "safe_divisor")
        quotient = None if self._direct else self._exact(a, divisor, may_overflow=False)
        remainder, other = self._remainder_of(a, divisor, quotient)
        has_right_sign = facts.operator == ("Mod" if self._direct else "Fmod")
        if has_right_sign or not facts.is_signed:
            return remainder
        # Without Where: OpenVINO may compute a Where in float32 if its result is added to something.
        wrong = nodes.one_where(nodes.opposite(remainder, other, "signs_differ"), "one_divisor_off")
        correction = nodes.multiply(wrong, divisor, "correction")
        return (nodes.subtract if self._direct else nodes.add)(remainder, correction, "remainder")

    def quotient(self, a: str, b: str) -> str:
        """Return the quotient, with x/0 and MIN/-1 by the policies."""
        nodes, facts = self._nodes, self._facts
        guarded = facts.may_be_zero or may_be_fused(facts, self._runtime)
        zeros = nodes.equals(b, 0, "divisor_is_zero") if guarded else None
        divisor = b if zeros is None else nodes.select(zeros, nodes.number(1), b, "nonzero_divisor")
        if self._direct:
            quotient = self._guarded(a, divisor)
        else:
            # OpenVINO narrows int64 to int32, so MIN is that of the promoted type there.
            wide = facts.element_type.bits >= nodes.element_type.bits
            quotient = _Quotient(self._exact(a, divisor, may_overflow=wide and facts.may_be_minus_one), divisor)
        if facts.operator == "FloorDiv" and facts.is_signed:
            quotient = self._floored(a, quotient)
        value = self._with_overflow(quotient)
        return value if zeros is None else nodes.select(zeros, self._over_zero(a), value, "with_zeros")

    def _remainder_of(self, a: str, divisor: str, quotient: str | None) -> tuple[str, str]:
        """Return the remainder, and the operand whose sign it may lack: a floor remainder has the divisor's sign."""
        if quotient is None:
            return self._rewriter.add("Mod", [a, divisor], "floor_remainder"), a
        product = self._nodes.multiply(quotient, divisor, "divided")
        return self._nodes.subtract(a, product, "truncated_remainder"), divisor

    def _guarded(self, a: str, b: str) -> _Quotient:
        """Divide by 1 instead of MIN/-1, which gives MIN."""
        nodes, facts = self._nodes, self._facts
        if not facts.may_overflow or nodes.element_type is not facts.element_type:
            return _Quotient(nodes.divide(a, b, "quotient"), b)
        minimum = nodes.equals(a, nodes.element_type.minimum, "dividend_is_min")
        overflows = nodes.both(minimum, nodes.equals(b, -1, "divisor_is_minus_1"), "overflows")
        safe = nodes.select(overflows, nodes.number(1), b, "safe_divisor")
        return _Quotient(nodes.divide(a, safe, "quotient"), safe, overflows)

    def _exact(self, a: str, b: str, *, may_overflow: bool) -> str:
        """Return the truncated quotient, exact even if the runtime's Div is not; ONNX Runtime's is exact for uint64."""
        nodes, facts = self._nodes, self._facts
        if nodes.element_type is UINT64:
            return self._unsigned_long(a, b) if self._runtime == "portable" else nodes.divide(a, b, "quotient")
        saturate = self._policies.overflow == "saturate" and facts.element_type is nodes.element_type
        return exact_quotient(nodes, a, b, signed=facts.is_signed, may_overflow=may_overflow, saturate=saturate)

    def _unsigned_long(self, a: str, b: str) -> str:
        """Divide exactly in int64 where both operands are small, else with the runtime's own uint64 Div."""
        nodes, rewriter = self._nodes, self._rewriter
        limit = rewriter.constant(np.array(_HALF), "half")
        small = [
            rewriter.add("Less", [rewriter.cast(x, TensorProto.DOUBLE, f"{hint}_double"), limit], f"{hint}_is_small")
            for x, hint in ((a, "dividend"), (b, "divisor"))
        ]
        both = nodes.both(small[0], small[1], "small")
        signed = IntegerNodes(rewriter, self._facts.opset, INT64)
        narrow_a = signed.select(both, signed.cast_from(a, "signed_a"), signed.number(0), "small_dividend")
        narrow_b = signed.select(both, signed.cast_from(b, "signed_b"), signed.number(1), "small_divisor")
        narrow = exact_quotient(signed, narrow_a, narrow_b, signed=False, may_overflow=False)
        wide = signed.cast_from(nodes.divide(a, b, "large_quotient"), "signed_quotient")
        return nodes.cast_from(signed.select(both, narrow, wide, "signed_result"), "quotient")

    def _floored(self, a: str, quotient: _Quotient) -> _Quotient:
        """Subtract 1 where truncation has rounded up: the remainder is not 0, and the signs of the operands differ."""
        remainder, other = self._remainder_of(a, quotient.divisor, None if self._direct else quotient.value)
        rounded_up = self._nodes.one_where(self._nodes.opposite(remainder, other, "rounded_up"), "one_too_large_still")
        return replace(quotient, value=self._nodes.subtract(quotient.value, rounded_up, "floored"))

    def _with_overflow(self, quotient: _Quotient) -> str:
        """Apply the overflow policy to MIN/-1, unless the value, or the cast back, already gives the right result."""
        nodes, facts = self._nodes, self._facts
        narrow = facts.element_type.bits < nodes.element_type.bits
        if self._policies.overflow == "wrap" or not facts.may_overflow or not (narrow or quotient.overflows):
            return quotient.value
        largest = nodes.number(facts.element_type.maximum)
        overflows = quotient.overflows
        if overflows is None:
            distance = nodes.subtract(largest, quotient.value, "distance_to_max")
            overflows = nodes.negative(distance, "overflows")
        return nodes.select(overflows, largest, quotient.value, "saturated")

    def _over_zero(self, a: str) -> str:
        """Return x/0 by the policy."""
        nodes = self._nodes
        zero = nodes.number(0)
        if self._policies.zero_divisor == "zero":
            return zero
        largest = nodes.number(self._facts.element_type.maximum)
        if not self._facts.is_signed:
            return nodes.select(nodes.equals(a, 0, "dividend_is_zero"), zero, largest, "over_zero")
        smallest = nodes.number(self._facts.element_type.minimum)
        not_above = nodes.select(nodes.negative(a, "below_zero"), smallest, zero, "not_above_zero")
        return nodes.select(nodes.positive(a, "above_zero"), largest, not_above, "over_zero")
