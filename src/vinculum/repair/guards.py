"""The guards of divisions and remainders: as ONNX text, for operator set 9 and later, and written into a model.

They rely on addition, subtraction and multiplication of integers modulo the width of the type, and on comparisons with
0 and -1. The guards that compute an exact quotient also need a Div that is correct to about 20 bits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy

from onnx import FunctionProto, ModelProto, NodeProto, helper, parser

from vinculum.models.onnx.divisions import GUARDS, mark_guard
from vinculum.models.onnx.rewriter import FUNCTIONS, names_in, unique_name
from vinculum.models.onnx.scopes import Scope, all_nodes, name_of, opset_imports
from vinculum.ops.policies import Policies
from vinculum.repair.decision import Facts, Runtime, may_be_fused, promoted_type
from vinculum.spec.element_types import FLOAT, INT64, UINT64, ElementType

FIRST_OPSET = 9
"""The first operator set with Where, Less of integers, and Constants of every type."""

_OPERANDS = """
  n = {to_promoted} (A)
  d = {to_promoted} (B)
  divisor_is_zero = Equal (d, zero)
  divisor_is_minus_1 = Equal (d, minus_1)
"""
# MIN/-1 wraps to MIN, which MIN/1 gives too.
_SAFE_DIVISOR = """
  dividend_is_min = Equal (n, smallest)
  overflows = And (dividend_is_min, divisor_is_minus_1)
  unsafe = Or (divisor_is_zero, overflows)
  safe = Where (unsafe, one, d)
"""
_SAFE_MODULUS = """
  unsafe = Or (divisor_is_zero, divisor_is_minus_1)
  safe = Where (unsafe, one, d)
"""
_NONZERO_DIVISOR = """
  safe = Where (divisor_is_zero, one, d)
"""
# uint64 is compared and selected as int64 with the same bits, since ONNX Runtime has no Where of uint64.
_LONG = """
  n_bits = Cast <to = 7> (A)
  d_bits = Cast <to = 7> (B)
  divisor_is_zero = Equal (d_bits, zero)
  safe_bits = Where (divisor_is_zero, one, d_bits)
  long_divisor = Cast <to = 13> (safe_bits)
  long_quotient = Div (A, long_divisor)
  long_bits = Cast <to = 7> (long_quotient)
"""
# Operands below 2^63 are divided exactly in int64, the others by the runtime's own Div.
_SMALL = """
  dividend_is_large = Less (n_bits, zero)
  divisor_is_large = Less (safe_bits, zero)
  large = Or (dividend_is_large, divisor_is_large)
  n = Where (large, zero, n_bits)
  safe = Where (large, one, safe_bits)
"""
_OF_EITHER_SIZE = """
  bits = Where (large, long_bits, quotient)
"""
_LONG_QUOTIENT = """
  zero_dividend = Equal (n_bits, zero)
  largest_over_zero = Where (zero_dividend, zero, minus_1)
  over = Where (divisor_is_zero, {over_zero}, {quotient})
  long = Cast <to = 13> (over)
"""
_LONG_REST = """
  exact_quotient = Cast <to = 13> ({quotient})
  product = Mul (exact_quotient, long_divisor)
  long = Sub (A, product)
"""
_DIRECT = """
  quotient = Div (n, safe)
"""
_DIRECT_REST = """
  rest = Mod (n, safe)
"""
# A Div may floor or truncate, and it may compute in a narrower floating-point type, as OpenVINO's does with int32. So
# its quotient is only an estimate: the remainder is divided again, and the sum of both quotients is off by at most one.
# Both operands are made negative first, because MIN has no positive counterpart, floor and truncation agree for equal
# signs, and no step overflows. MIN/-1 must not be computed, and a division by -1 is not needed. After the second
# estimate, approximately d - 1 <= rest_2 <= -d; the final remainder has to be in the range d < rest_3 <= 0.
_EXACT = """
  n_up = Less (zero, n)
  n_kept = Where (n_up, zero, n)
  n_turned = Where (n_up, n, zero)
  n_low = Sub (n_kept, n_turned)
  d_up = Less (zero, safe)
  d_kept = Where (d_up, zero, safe)
  d_turned = Where (d_up, safe, zero)
  d_low = Sub (d_kept, d_turned)
  unit = Equal (d_low, minus_1)
  divisor = Where (unit, minus_2, d_low)

  guess = Div (n_low, divisor)
  guessed = Mul (guess, divisor)
  rest_1 = Sub (n_low, guessed)
  second_guess = Div (rest_1, divisor)
  second_guessed = Mul (second_guess, divisor)
  rest_2 = Sub (rest_1, second_guessed)
  guesses = Add (guess, second_guess)
  too_large = Less (zero, rest_2)
  one_too_large = Cast <to = {promoted}> (too_large)
  lowered = Sub (guesses, one_too_large)
  given_back = Mul (one_too_large, divisor)
  rest_3 = Add (rest_2, given_back)
  left_over = Sub (divisor, rest_3)
  too_little = Less (left_over, zero)
  too_small = Not (too_little)
  one_too_small = Cast <to = {promoted}> (too_small)
  magnitude = Add (lowered, one_too_small)
  minus_magnitude = Sub (zero, magnitude)
  negative = Where (unit, n_low, minus_magnitude)

  signs_differ = Xor (n_up, d_up)
  signs_agree = Not (signs_differ)
  distance_to_min = Sub (above_smallest, n_low)
  n_is_min = Less (zero, distance_to_min)
  lowest = And (n_is_min, unit)
"""
# MIN/1 and MIN/-1 both give MIN, which is negative already.
_WRAP = """
  stay = Or (signs_differ, lowest)
  turn = Not (stay)
  ready = Identity (negative)
"""
# MAX is -(MIN + 1). OpenVINO may compute a Where that selects MAX in float32.
_SATURATE = """
  overflows = And (lowest, signs_agree)
  one_too_low = Cast <to = {promoted}> (overflows)
  ready = Add (negative, one_too_low)
  turn = Identity (signs_agree)
"""
_TURNED = """
  q_kept = Where (turn, zero, ready)
  q_turned = Where (turn, ready, zero)
  quotient = Sub (q_kept, q_turned)
"""
_EXACT_REST = """
  product = Mul (quotient, safe)
  rest = Sub (n, product)
"""
# Whether the remainder is not 0 and has the wrong sign. There is no Where, because OpenVINO may compute a Where in
# float32 if its result is added to something.
_OFF = """
  rest_up = Less (zero, rest)
  rest_down = Less (rest, zero)
  other_up = Less (zero, {other})
  other_down = Less ({other}, zero)
  up_and_down = And (rest_up, other_down)
  down_and_up = And (rest_down, other_up)
  is_off = Or (up_and_down, down_and_up)
  one_off = Cast <to = {promoted}> (is_off)
"""
_FLOORED = """
  rounded = Sub (quotient, one_off)
"""
_CORRECTED = """
  correction = Mul (one_off, safe)
  corrected = {add_or_subtract} (rest, correction)
"""
# A quotient above MAX, in a wider type; and MIN/-1, which was computed as MIN/1.
_CLIPPED = """
  distance_to_max = Sub (largest, {quotient})
  beyond = Less (distance_to_max, zero)
  clipped = Where (beyond, largest, {quotient})
"""
_REPLACED = """
  clipped = Where (overflows, largest, {quotient})
"""
_OVER_ZERO = """
  above_zero = Less (zero, n)
  below_zero = Less (n, zero)
  not_above = Where (below_zero, smallest, zero)
  largest_over_zero = Where (above_zero, largest, not_above)
  over = Where (divisor_is_zero, {over_zero}, {clipped})
"""
_RESULT = """
  C = {back} ({value})
"""
_IN_FLOAT = """
  a = Cast <to = 1> (A)
  b = Cast <to = 1> (B)
  in_float = {operator} ({operands})
"""


def guard(facts: Facts, runtime: Runtime, policies: Policies) -> list[NodeProto]:
    """Return the nodes that compute C safely from A and B, or for a Reciprocal from B alone."""
    promoted = promoted_type(facts.element_type, runtime)
    same = promoted is facts.element_type
    # ONNX Runtime's own Div is exact, and its Mod with fmod=0, which exists since 10. With fmod=1 it uses float64.
    direct = runtime == "onnxruntime" and (facts.operator == "Div" or facts.opset >= 10)
    saturates = policies.overflow == "saturate" and facts.may_overflow
    quotient = clipped = value = "quotient"
    if promoted is FLOAT:
        parts, value = [_IN_FLOAT], "in_float"
    elif promoted is UINT64:
        parts, quotient = [_LONG], "long_bits"
        if runtime != "onnxruntime":
            parts, quotient = [_LONG, _SMALL, _EXACT, _WRAP, _TURNED, _OF_EITHER_SIZE], "bits"
        parts.append(_LONG_REST if facts.is_remainder else _LONG_QUOTIENT)
        value = "long"
    elif facts.is_remainder:
        parts = [_OPERANDS, _SAFE_MODULUS, *([_DIRECT_REST] if direct else [_EXACT, _WRAP, _TURNED, _EXACT_REST])]
        value = "rest"
        if facts.is_signed and facts.operator == ("Fmod" if direct else "Mod"):
            parts, value = [*parts, _OFF, _CORRECTED], "corrected"
    else:
        parts = [_OPERANDS, _SAFE_DIVISOR, _DIRECT]
        if not direct:
            parts = [_OPERANDS, _NONZERO_DIVISOR, _EXACT, _SATURATE if saturates and same else _WRAP, _TURNED]
        if facts.operator == "FloorDiv" and facts.is_signed:
            parts += [_DIRECT_REST if direct else _EXACT_REST, _OFF, _FLOORED]
            quotient = clipped = "rounded"
        narrow = facts.element_type.bits < promoted.bits
        if saturates and (narrow or direct):
            parts.append(_CLIPPED if narrow else _REPLACED)
            clipped = "clipped"
        parts.append(_OVER_ZERO)
        value = "over"
    computed = INT64 if promoted is UINT64 else promoted
    text = "".join([*parts, _RESULT]).format(
        promoted=computed.onnx_code,
        to_promoted=conversion(facts.element_type.onnx_code, promoted.onnx_code),
        back=conversion(promoted.onnx_code, facts.element_type.onnx_code),
        over_zero="zero" if policies.zero_divisor == "zero" else "largest_over_zero",
        other="n" if direct else "safe",
        add_or_subtract="Sub" if direct else "Add",
        operator=facts.operator,
        operands="b" if facts.operator == "Reciprocal" else "a, b",
        quotient=quotient,
        clipped=clipped,
        value=value,
    )
    return simplified(_with_constants(text, facts, computed), _known(facts, runtime))


def conversion(source: int | None, target: int | None) -> str:
    """Return the operator, as text, that converts a value from one ONNX element type to another."""
    return "Identity" if source == target else f"Cast <to = {target}>"


def _known(facts: Facts, runtime: Runtime) -> dict[str, bool]:
    """Return the masks that have the same value for every element."""
    promoted = promoted_type(facts.element_type, runtime)
    known = {}
    if not (facts.may_be_zero or may_be_fused(facts, runtime)):
        known["divisor_is_zero"] = False
    if not facts.may_be_minus_one:
        known["divisor_is_minus_1"] = False
    if not facts.is_signed:
        known |= {"n_up": True, "d_up": True, "below_zero": False}
    # OpenVINO narrows int64 to int32, so MIN is that of the promoted type there.
    if facts.is_remainder or not facts.may_be_minus_one or facts.element_type.bits < promoted.bits:
        known["lowest"] = False
    if not facts.may_overflow or promoted is not facts.element_type:
        known["overflows"] = False
    return known


def _with_constants(text: str, facts: Facts, promoted: ElementType) -> list[NodeProto]:
    """Return the nodes of a text after its constants, without those that the type does not hold."""
    own = facts.element_type
    numbers = {"minus_2": -2, "minus_1": -1, "zero": 0, "one": 1, "above_smallest": -promoted.maximum}
    numbers |= {"smallest": own.minimum, "largest": own.maximum}
    constants = [
        f"{name} = Constant <value = {promoted} {{{number}}}> ()"
        for name, number in numbers.items()
        if promoted.minimum <= number <= promoted.maximum
    ]
    return parsed(" ".join([*constants, text]), facts.opset)


def parsed(text: str, opset: int) -> list[NodeProto]:
    """Return the nodes of a text, which compute C from A and B."""
    head = f'<domain: "vinculum", opset_import: ["": {opset}]> guard (A, B) => (C)'
    return list(parser.parse_function(f"{head} {{ {text} }}").node)


def simplified(nodes: list[NodeProto], known: dict[str, bool]) -> list[NodeProto]:
    """Return the nodes that C needs, without known masks, values that these do not select, and Identities."""
    same: dict[str, str] = {}  # Maps a value to the value that it is equal to.
    kept: list[NodeProto] = []
    for node in nodes:
        output, inputs = node.output[0], [same.get(name, name) for name in node.input]
        unknown = [name for name in inputs if name not in known]
        found = [known[name] for name in inputs if name in known]
        decisive = node.op_type == "Or"
        if output in known:
            pass
        elif node.op_type == "Identity":
            same[output] = inputs[0]
        elif node.op_type == "Where" and found:
            same[output] = inputs[1 if found[0] else 2]
        elif node.op_type in ("And", "Or") and found:
            if decisive in found or not unknown:
                known[output] = decisive if decisive in found else not decisive
            else:
                same[output] = unknown[0]
        elif node.op_type in ("Not", "Xor") and not unknown:
            known[output] = not found[0] if node.op_type == "Not" else found[0] != found[1]
        else:
            del node.input[:]
            node.input.extend(inputs)
            kept.append(node)
    result = same.get("C", "C")
    needed, needing = {result}, []
    for node in reversed(kept):
        if node.output[0] in needed:
            needed.update(node.input)
            needing.append(node)
            _rename(node, {result: "C"})
    return needing[::-1]


def placed(nodes: Iterable[NodeProto], given: Mapping[str, str], stem: str, taken: set[str]) -> None:
    """Give the nodes of a text and their results names that are unique in a model.

    - `given`: the names of the values that the text reads, and of C.
    - `stem`: the prefix of all other names.
    - `taken`: the names in the model; the new ones are added.
    """
    names = dict(given)
    for node in nodes:
        (result,) = node.output
        if result not in names:
            names[result] = unique_name(f"{stem}_{result}", taken)
        node.name = unique_name(f"{names[result]}_{node.op_type}", taken)
        _rename(node, names)


def _rename(node: NodeProto, names: Mapping[str, str]) -> None:
    """Rename a node's operands and result."""
    for own in (node.input, node.output):
        renamed = [names.get(name, name) for name in own]
        del own[:]
        own.extend(renamed)


class Guards:
    """Rewrites divisions of a model: for ONNX Runtime as calls of a function for all alike, otherwise in place.

    A rewrite that is a single node is always written in place. A function imports the model's operator set, even if
    functions that call it import others; no runtime refuses that.
    """

    def __init__(self, model: ModelProto, runtime: Runtime, policies: Policies) -> None:
        self._model, self._runtime, self._policies = model, runtime, policies
        self._use_functions = runtime == "onnxruntime"
        self._names = names_in(model)
        self._titles = {function.name for function in model.functions if function.domain == GUARDS}
        self._functions: dict[tuple[object, ...], FunctionProto] = {}

    def opset(self, own: int) -> int:
        """Return the operator set for the rewrite of a node, given the node's own."""
        return opset_imports(self._model).get("", own) if self._use_functions else own

    def replace(self, scope: Scope, node: NodeProto, facts: Facts, what: str) -> list[NodeProto]:
        """Return the nodes that replace a node; the one that computes its output keeps its name and documentation."""
        # ONNX Runtime expands a SequenceMap whose body calls a function to an invalid model.
        if self._use_functions and "SequenceMap" not in scope.path:
            if facts.decisive not in self._functions:
                self._functions[facts.decisive] = self._function(facts, what)
            function = self._functions[facts.decisive]
            if len(function.node) > 1:
                call = deepcopy(node)
                call.domain, call.op_type = GUARDS, function.name
                del call.attribute[:]  # The function includes their effect.
                return [call]
        *others, made = nodes = guard(facts, self._runtime, self._policies)
        names = dict(zip(("A", "B") if len(node.input) == 2 else ("B",), node.input, strict=True)) | {
            "C": node.output[0]
        }
        placed(nodes, names, name_of(node), self._names)
        made.name = node.name
        made.doc_string = node.doc_string
        made.metadata_props.extend(node.metadata_props)  # Such as an exporter's stack trace.
        mark_guard(others)
        mark_guard([made], json.dumps([facts.operator, *node.input]))
        return nodes

    def complete(self) -> None:
        """Add the functions to the model, before its own, which may call them, and raise the IR version as needed."""
        made = [function for function in self._functions.values() if len(function.node) > 1]
        if not made:
            return
        self._model.ir_version = max(self._model.ir_version, FUNCTIONS)
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
        nodes = guard(facts, self._runtime, self._policies)
        mark_guard(nodes)
        opsets = [helper.make_opsetid("", facts.opset)]
        return helper.make_function(GUARDS, name, inputs, ["C"], nodes, opsets, doc_string=what)
