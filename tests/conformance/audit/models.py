"""Models whose divisions are exact, each with inputs and what an audit must tell of every division."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from tests.models.built_models import Tensors, build, node
from vinculum.conformance.audit.record import Audit
from vinculum.conformance.run.verdict import Verdict
from vinculum.spec.element_types import by_name

BOOL, FLOAT, INT64 = TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT64
DIVIDED = ("float16", "float", "double", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")


@dataclass(frozen=True)
class Row:
    """A model, its inputs, and for each division its path and name with what is told of it: see `told`."""

    what: str
    model: ModelProto
    given: Mapping[str, Any]
    expected: Mapping[str, str]
    backends: tuple[str, ...] = ()  # Real runtimes that take it too.


def told(found: Audit) -> dict[str, str]:
    """Return the verdict on each division with the number of quotients, or why there is none."""
    return {
        f"{one.division.path} {one.division.name}".strip(): one.unobserved
        or f"{one.verdict.kind.value} {one.verdict.elements}"  # type: ignore[union-attr]  # what is observed has one
        for one in found.nodes
    }


def verdict_on(found: Audit) -> Verdict:
    """Return the verdict on the one division of a model."""
    (node,) = found.nodes
    assert node.verdict is not None
    return node.verdict


def f32(values: Any) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def tensor(values: Any, name: str) -> TensorProto:
    return numpy_helper.from_array(np.array(values, np.float32), name)


def div(a: str = "a", b: str = "b", c: str = "c", name: str = "ratio", **attributes: Any) -> NodeProto:
    return node(f"{c} = Div({a}, {b})", name=name, **attributes)


def ratio(code: int, *shape: int | str, operator: str = "Div") -> ModelProto:
    """Return a model that divides a by b."""
    tensor = (code, shape)
    return build([node(f"c = {operator}(a, b)", name="ratio")], dict.fromkeys("ab", tensor), {"c": tensor})


def vectors(names: str, *shape: int | str) -> dict[str, tuple[int, Sequence[int | str | None]]]:
    return dict.fromkeys(names, (FLOAT, shape))


def body(nodes: Sequence[NodeProto], *outputs: str, inputs: Sequence[Any] = ()) -> GraphProto:
    infos = [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs]
    return helper.make_graph(nodes, "body", list(inputs), infos)


def choice(then: GraphProto, other: GraphProto, result: str = "c") -> NodeProto:
    return node(f"{result} = If(flag)", then_branch=then, else_branch=other)


NEGATED = body([node("e = Neg(a)")], "e")


def function(name: str, *nodes: NodeProto, opset: int = 17) -> Any:
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    return helper.make_function("local", name, ["p", "q"], ["r"], nodes, opsets)


RATIO = div("p", "q", "r")


def loop(outputs: str, *, grows: bool = False) -> NodeProto:
    """Return a Loop that divides x by the number of the iteration, or that appends its quotient to x."""
    info = helper.make_tensor_value_info
    size = None if grows else (2, 2)
    nodes = [node("go_on = Identity(go)"), node("step = Cast(i)", to=FLOAT)]
    nodes += (
        [div("x", "x", "q", "inner"), node("y = Concat(x, q)", axis=0)] if grows else [div("x", "step", "y", "inner")]
    )
    inputs = [info("i", INT64, ()), info("go", BOOL, ()), info("x", FLOAT, size)]
    made = [info("go_on", BOOL, ()), info("y", FLOAT, size), *([] if grows else [info("step", FLOAT, ())])]
    graph = helper.make_graph(nodes, "body", inputs, made)
    return node(f"{outputs} = Loop(count, always, a)", body=graph)


ALWAYS = numpy_helper.from_array(np.array(True), "always")
COUNTED: Tensors = {"count": (INT64, ()), "a": (FLOAT, (2, 2))}
TWO = f32([1, 2])
BOTH = ("onnxruntime", "openvino")


def _every_type() -> Row:
    inputs: dict[str, Any] = {}
    given: dict[str, Any] = {}
    for name in DIVIDED:
        dtype = np.dtype(by_name(name).numpy)
        inputs |= dict.fromkeys((f"a_{name}", f"b_{name}"), (by_name(name).onnx_code, ("N",)))
        given |= {f"a_{name}": np.array([12, 8, 4], dtype), f"b_{name}": np.array([2, 4, 4], dtype)}
    outputs: Any = {f"c_{name}": (by_name(name).onnx_code, ("N",)) for name in DIVIDED}
    nodes = [div(f"a_{name}", f"b_{name}", f"c_{name}", name) for name in DIVIDED]
    return Row("every type", build(nodes, inputs, outputs), given, dict.fromkeys(DIVIDED, "exact 3"))


def _sources() -> Row:
    nodes = [
        node("four = Constant()", value=tensor([4], "")),
        node("sum = Add(a, a)"),
        div("sum", "two", "halves", ""),
        div("a", "four", "quarters", "quarters"),
        div("two", "four", "folded", "folded"),
        div("sum", "sum", "ones", "ones"),
        node("y = Sum(halves, quarters, folded, ones)"),
    ]
    outputs: Tensors = {"y": (FLOAT, ("N", 2)), "halves": (FLOAT, ("N", 2))}
    model = build(nodes, vectors("a", "N", 2), outputs, initializers=[tensor([2], "two")])
    expected = {"halves": "exact 4", "quarters": "exact 4", "folded": "exact 1", "ones": "exact 4"}
    return Row("every source of an operand", model, {"a": f32([[1, 2], [4, 8]])}, expected, BOTH)


def _functions(
    what: str, nodes: Sequence[NodeProto], functions: Sequence[Any], expected: Mapping[str, str], *backends: str
) -> Row:
    outputs = {name: (FLOAT, (2,)) for one in nodes for name in one.output}
    model = build(nodes, vectors("a", 2), outputs, ir_version=8, domains=["local"], functions=functions)
    return Row(f"in a function {what}", model, {"a": TWO}, expected, backends)


def _branches(taken: bool) -> Row:
    then = body([div("a", "two", "t", "then")], "t")
    other = body([node("n = Neg(a)"), div("n", "n", "e", "else")], "e")
    model = build(
        [choice(then, other), div("c", "two", "d", "outer")],
        {"flag": (BOOL, ()), "a": (FLOAT, (1, 2))},
        {"d": (FLOAT, None)},
        initializers=[tensor([2], "two")],
    )
    told = ("exact 2", "it is not executed")[:: 1 if taken else -1]
    expected = {"If:then_branch then": told[0], "If:else_branch else": told[1], "outer": "exact 2"}
    return Row(f"both branches, {taken}", model, {"flag": np.array(taken), "a": f32([[1, 2]])}, expected, BOTH)


def _one_branch(shape: tuple[int, ...]) -> Row:
    then = body([div("a", "a", "t", "inner")], "t")
    model = build([choice(then, NEGATED)], {"flag": (BOOL, ()), "a": (FLOAT, shape)}, {"c": (FLOAT, None)})
    given = {"flag": np.array(True), "a": np.ones(shape, np.float32)}
    return Row(f"a branch of shape {shape}", model, given, {"If:then_branch inner": f"exact {int(np.prod(shape))}"})


def _nested() -> Row:
    inner = choice(body([div("a", "a", "t", "deep")], "t"), NEGATED, "m")
    other = body([node("f = Neg(a)")], "f")
    outer = choice(body([inner, div("m", "a", "o", "shallow")], "o"), other)
    model = build([outer], {"flag": (BOOL, ()), "a": (FLOAT, (2,))}, {"c": (FLOAT, None)})
    deep = "inside the then_branch of an If"
    expected = {"If:then_branch/If:then_branch deep": deep, "If:then_branch shallow": "exact 2"}
    return Row("an If in an If", model, {"flag": np.array(True), "a": TWO}, expected)


def _scan() -> Row:
    info = helper.make_tensor_value_info
    inputs = [info("s", FLOAT, (2,)), info("r", FLOAT, (2,))]
    inner = body([node("t = Add(s, r)"), div("r", "t", "u", "inner")], "t", "u", inputs=inputs)
    tensors: Any = {"a": (FLOAT, (2,)), "b": (FLOAT, (3, 2))}
    results: Any = {"c": (FLOAT, (2,)), "d": (FLOAT, (3, 2))}
    model = build([node("c, d = Scan(a, b)", body=inner, num_scan_inputs=1)], tensors, results)
    given = {"a": TWO, "b": np.ones((3, 2), np.float32)}
    return Row("a Scan", model, given, {"Scan:body inner": "inside the body of a Scan"})


def _loop(what: str, count: int, outputs: str, expected: str, *backends: str) -> Row:
    model = build([loop(outputs)], COUNTED, {"c": (FLOAT, (2, 2))}, initializers=[ALWAYS])
    given = {"count": np.array(count), "a": f32([[1, 2], [4, 0]])}
    return Row(what, model, given, {"Loop:body inner": expected}, backends)


def _file(what: str, model: ModelProto, expected: str = "exact 2", **given: Any) -> Row:
    return Row(what, model, {name: f32(values) for name, values in given.items()}, {"ratio": expected})


A, AB, C = vectors("a", 2), vectors("ab", 2), vectors("c", 2)
PAIR = {"a": (FLOAT, (2, 1)), "b": (FLOAT, (3,))}
DIV_6 = build([div(broadcast=1, axis=0)], {"a": (FLOAT, (2, 2)), "b": (FLOAT, (2,))}, vectors("c", 2, 2), opset=6)
DEFAULTED = build([div()], AB, C, initializers=[tensor([2, 0], "b")])
NOT_INLINED = "inside the function 'Ratio', which is not inlined everywhere: an operator set differs"
NO_DIVISION = build([node("c = Neg(a)")], A, C)

ROWS = (
    _every_type(),
    _sources(),
    Row("two nodes of one name", build([div("a", "a", "b", "same"), div("b", "a", "c", "same")], A, C), {"a": TWO},
        {"same": "exact 2", "same (c)": "exact 2"}),
    _functions("that is called twice", [node(f"{c} = local.Ratio(a, a)") for c in "cd"], [function("Ratio", RATIO)],
               {"Ratio ratio": "exact 2", "Ratio ratio (2)": "exact 2"}),
    _functions("of another operator set", [node("c = local.Ratio(a, a)"), div("a", "c", "d", "outer")],
               [function("Ratio", RATIO, opset=13)], {"Ratio ratio": NOT_INLINED, "outer": "exact 2"}),
    _functions("that nobody calls", [div("a", "a", "c", "outer")], [function("If:then_branch", RATIO)],
               {"outer": "exact 2",
                "If:then_branch ratio": "inside the function 'If:then_branch', which is never called"}),
    _functions("that such a function calls", [node("c = local.Ratio(a, a)"), node("d = local.Caller(a, a)")],
               [function("Ratio", RATIO), function("Caller", node("r = local.Ratio(p, q)"), opset=13)],
               {"Ratio ratio": "exact 2", "Ratio ratio (2)": NOT_INLINED}, "onnxruntime"),
    *(_branches(taken) for taken in (True, False)),
    *(_one_branch(shape) for shape in ((), (0,), (2, 0))),
    _nested(),
    _scan(),
    _loop("every iteration", 3, "c, steps", "exact 12", "onnxruntime"),
    _loop("the last output left out", 3, "c", "exact 12", "openvino"),
    _loop("no iteration", 0, "c, steps", "it is not executed", "onnxruntime"),
    *(_file(f"operator set {opset}", build([div()], PAIR, vectors("c", 2, 3), opset=opset, ir_version=10), "exact 6",
            a=[[1], [8]], b=[1, 2, 4]) for opset in (7, 13, 21)),
    _file("Div-6 with an axis", DIV_6, "exact 4", a=[[1, 2], [3, 4]], b=[1, 2]),
    _file("an input with a value of its own", DEFAULTED, a=TWO),
    _file("that input given", DEFAULTED, a=TWO, b=[0, 4]),
    _file("an unused input", build([div("a", "a")], AB, C), a=TWO, b=TWO),
    _file("an output that is an input", build([div("a", "a")], A, vectors("ac", 2)), a=TWO),
    Row("without divisions", NO_DIVISION, {"a": TWO}, {}),
)  # fmt: skip
