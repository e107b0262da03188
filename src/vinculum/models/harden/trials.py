"""Small models, each of one rewrite, with operands and what our engine says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper

from vinculum.models.harden.decision import Decision, Runtime
from vinculum.models.harden.facts import Facts
from vinculum.models.harden.operand_pairs import Pairs, pairs_for
from vinculum.models.harden.rewrites import rewrite
from vinculum.models.harden.runtime_process import Case
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.ops import onnx as onnx_ops
from vinculum.ops.policies import Policies
from vinculum.spec.element_types import ElementType

_IR_VERSION = 8  # Every runtime of today takes it; newer operator sets ask for more.


@dataclass(frozen=True, eq=False)
class Trial:
    """A model of one rewrite, its operands, and what it has to give.

    Attributes
    ----------
    decision : Decision
        The division that was rewritten so.
    case : Case
        The model and its inputs.
    constant : str
        Which operands are constants in it, in words: ``"no operand constant"``.
    pairs : Pairs
        The operands.
    expected : ndarray
        Their quotients.
    """

    decision: Decision
    case: Case
    constant: str
    pairs: Pairs
    expected: NDArray[Any]


def trials(decision: Decision, runtime: Runtime, policies: Policies) -> Iterator[Trial]:
    """Yield models of a rewrite: its operands from outside, one of them constant, both; a constant one always is.

    Inputs come in the size that is declared and with the size left open: a runtime may choose another kernel then.
    """
    facts = decision.facts
    pairs = pairs_for(facts, runtime)
    expected = _quotients(facts, pairs, policies)
    names = ("A", "B") if facts.operator == "Div" else ("B",)
    arrays = {name: array for name, array in (("A", pairs.a), ("B", pairs.b)) if name in names}
    fixed = {name for name, values in (("A", facts.dividend), ("B", facts.divisor)) if values is not None}
    titles = {(): "no operand constant", ("A",): "A constant", ("B",): "B constant", ("A", "B"): "both constant"}
    for constant, title in titles.items():
        sizes = ((expected.size, title), ("N", f"{title} and sizes open"))
        if fixed <= set(constant) <= set(names):
            inputs = {name: array for name, array in arrays.items() if name not in constant}
            inputs["unused"] = np.zeros(1, np.float32)
            for size, words in sizes[: 1 if len(constant) == len(names) else 2]:
                model = _model(facts, runtime, policies, arrays, constant, size)
                yield Trial(decision, Case(model, inputs), words, pairs, expected)


def _quotients(facts: Facts, pairs: Pairs, policies: Policies) -> NDArray[Any]:
    if facts.operator == "Reciprocal":
        return onnx_ops.reciprocal(pairs.b, opset=facts.opset)
    zero_divisor, overflow = policies.zero_divisor, policies.overflow
    return onnx_ops.div(pairs.a, pairs.b, opset=facts.opset, zero_divisor=zero_divisor, overflow=overflow)


def _model(
    facts: Facts,
    runtime: Runtime,
    policies: Policies,
    arrays: Mapping[str, NDArray[Any]],
    constant: tuple[str, ...],
    size: int | str,
) -> bytes:
    model = ModelProto()
    graph = model.graph
    graph.name = "rewrite"
    rewriter = Rewriter(graph, facts.opset, {*arrays, "C", "unused", "unused_too"}, "division")
    rewriter.name_result(rewrite(rewriter, facts, list(arrays), runtime, policies), "C")
    graph.node.extend(rewriter.nodes)
    graph.initializer.extend(rewriter.initializers)
    for name, array in arrays.items():
        if name in constant:
            graph.initializer.append(numpy_helper.from_array(array, name))
        else:
            graph.input.append(_declared(name, facts.element_type, size))
    graph.output.append(_declared("C", facts.element_type, size))
    # A model all of whose operands are constant needs an input too, and runtimes drop those that nothing uses.
    graph.node.append(helper.make_node("Identity", ["unused"], ["unused_too"]))
    graph.input.append(helper.make_tensor_value_info("unused", TensorProto.FLOAT, (1,)))
    graph.output.append(helper.make_tensor_value_info("unused_too", TensorProto.FLOAT, (1,)))
    model.opset_import.add(domain="", version=facts.opset)
    model.ir_version = max(_IR_VERSION, helper.find_min_ir_version_for(model.opset_import, ignore_unknown=True))
    return bytes(model.SerializeToString())


def _declared(name: str, element_type: ElementType, size: int | str) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, element_type.onnx_code or 0, (size,))
