"""Models whose divisions are exact, each with inputs and the expected results of an audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto

from tests.models.built_models import node, text_model
from vinculum.conformance.audit.record import Audit
from vinculum.conformance.run.record import Verdict

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
BOTH = ("onnxruntime", "openvino")


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


def div(a: str = "a", b: str = "b", c: str = "c", name: str = "ratio") -> NodeProto:
    return node(f"{c} = Div({a}, {b})", name=name)


def ratio(code: int, *shape: int | str, operator: str = "Div") -> ModelProto:
    """Return a model that divides a by b."""
    tensor = f"{TensorProto.DataType.Name(code).lower()}[{', '.join(map(str, shape))}]"
    return text_model(f"[ratio] c = {operator}(a, b)", f"{tensor} a, {tensor} b", f"{tensor} c")


def loop(outputs: str, *, grows: bool = False) -> str:
    """Return a Loop that divides x by the number of the iteration, or that appends its quotient to x."""
    body = "(int64 i, bool go, float[2, 2] x) => (bool go_on, float[2, 2] y, float step) {"
    nodes = "go_on = Identity(go) step = Cast <to = 1> (i) [inner] y = Div(x, step) }"
    if grows:
        body = "(int64 i, bool go, float[] x) => (bool go_on, float[] y) {"
        nodes = "go_on = Identity(go) [inner] q = Div(x, x) y = Concat <axis = 0> (x, q) }"
    return f"{outputs} = Loop(count, always, a) <body = b {body} {nodes}>"


ALWAYS = "bool always = {1}"
TWO = f32([1, 2])
NEGATED = "else_branch = other () => (float[] e) { e = Neg(a) }"


def _sources() -> Row:
    nodes = """four = Constant <value = float[1] {4.0}> ()
    sum = Add(a, a)
    halves = Div(sum, two)
    [quarters] quarters = Div(a, four)
    [folded] folded = Div(two, four)
    [ones] ones = Div(sum, sum)
    y = Sum(halves, quarters, folded, ones)"""
    model = text_model(nodes, "float[N, 2] a", "float[N, 2] y, float[N, 2] halves", constants="float[1] two = {2.0}")
    expected = {"halves": "exact 4", "quarters": "exact 4", "folded": "exact 1", "ones": "exact 4"}
    return Row("every source of an operand", model, {"a": f32([[1, 2], [4, 8]])}, expected, BOTH)


A, C = "float[2] a", "float[2] c"
RATIO = "Ratio (p, q) => (r) { [ratio] r = Div(p, q) }"
CALLER = "Caller (p, q) => (r) { r = d.Ratio(p, q) }"
IN_13 = '<opset_import: ["": 13, "d": 1], domain: "d"> '


def _functions(
    what: str, nodes: str, outputs: str, functions: tuple[str, ...], expected: Mapping[str, str], *backends: str
) -> Row:
    declared = ", ".join(f"float[2] {name}" for name in outputs)
    model = text_model(nodes, "float[2] a", declared, *functions, ir_version=8)
    return Row(f"in a function {what}", model, {"a": TWO}, expected, backends)


def _uncalled() -> Row:
    """Return a model with a function that is never called and has the name of a branch's path."""
    model = text_model("[outer] c = Div(a, a)", A, C, RATIO, ir_version=8)
    model.functions[0].name = name = "If:then_branch"
    expected = {"outer": "exact 2", f"{name} ratio": f"inside the function {name!r}, which is never called"}
    return Row("in a function that nobody calls", model, {"a": TWO}, expected)


def _branches(taken: bool) -> Row:
    nodes = """c = If(flag) <then_branch = yes () => (float[] t) { [then] t = Div(a, two) },
        else_branch = no () => (float[] e) { n = Neg(a) [else] e = Div(n, n) }>
    [outer] d = Div(c, two)"""
    model = text_model(nodes, "bool flag, float[1, 2] a", "float[] d", constants="float[1] two = {2.0}")
    told = ("exact 2", "it is not executed")[:: 1 if taken else -1]
    expected = {"If:then_branch then": told[0], "If:else_branch else": told[1], "outer": "exact 2"}
    return Row(f"both branches, {taken}", model, {"flag": np.array(taken), "a": f32([[1, 2]])}, expected, BOTH)


def _one_branch(shape: tuple[int, ...]) -> Row:
    inner = "then_branch = yes () => (float[] t) { [inner] t = Div(a, a) }"
    declared = f"float[{', '.join(map(str, shape))}]" if shape else "float"
    model = text_model(f"c = If(flag) <{inner}, {NEGATED}>", f"bool flag, {declared} a", "float[] c")
    given = {"flag": np.array(True), "a": np.ones(shape, np.float32)}
    return Row(f"a branch of shape {shape}", model, given, {"If:then_branch inner": f"exact {int(np.prod(shape))}"})


def _nested() -> Row:
    inner = f"m = If(flag) <then_branch = yes () => (float[] t) {{ [deep] t = Div(a, a) }}, {NEGATED}>"
    then = f"then_branch = outer () => (float[] o) {{ {inner} [shallow] o = Div(m, a) }}"
    model = text_model(f"c = If(flag) <{then}, {NEGATED}>", "bool flag, float[2] a", "float[] c")
    deep = "inside the then_branch of an If"
    expected = {"If:then_branch/If:then_branch deep": deep, "If:then_branch shallow": "exact 2"}
    return Row("an If in an If", model, {"flag": np.array(True), "a": TWO}, expected)


def _scan() -> Row:
    body = "b (float[2] s, float[2] r) => (float[] t, float[] u) { t = Add(s, r) [inner] u = Div(r, t) }"
    nodes = f"c, d = Scan(a, b) <body = {body}, num_scan_inputs = 1>"
    model = text_model(nodes, "float[2] a, float[3, 2] b", "float[2] c, float[3, 2] d")
    given = {"a": TWO, "b": np.ones((3, 2), np.float32)}
    return Row("a Scan", model, given, {"Scan:body inner": "inside the body of a Scan"})


def _loop(what: str, count: int, outputs: str, expected: str, *backends: str) -> Row:
    model = text_model(loop(outputs), "int64 count, float[2, 2] a", "float[2, 2] c", constants=ALWAYS)
    given = {"count": np.array(count), "a": f32([[1, 2], [4, 0]])}
    return Row(what, model, given, {"Loop:body inner": expected}, backends)


def _file(what: str, model: ModelProto, expected: str = "exact 2", **given: Any) -> Row:
    return Row(what, model, {name: f32(values) for name, values in given.items()}, {"ratio": expected})


PAIR = "float[2, 1] a, float[3] b"
DIV_6 = "[ratio] c = Div <broadcast = 1, axis = 0> (a, b)"
DEFAULTED = text_model("[ratio] c = Div(a, b)", constants="float[2] b = {2.0, 0.0}")
NOT_INLINED = "inside the function 'Ratio', which is not inlined everywhere: an operator set differs"

ROWS = (
    _sources(),
    Row("two nodes of one name", text_model("[same] b = Div(a, a) [same] c = Div(b, a)", A, C), {"a": TWO},
        {"same": "exact 2", "same (c)": "exact 2"}),
    _functions("that is called twice", "c = d.Ratio(a, a) d = d.Ratio(a, a)", "cd", (RATIO,),
               {"Ratio ratio": "exact 2", "Ratio ratio (2)": "exact 2"}),
    _functions("of another operator set", "c = d.Ratio(a, a) [outer] d = Div(a, c)", "cd", (IN_13 + RATIO,),
               {"Ratio ratio": NOT_INLINED, "outer": "exact 2"}),
    _uncalled(),
    _functions("that such a function calls", "c = d.Ratio(a, a) d = d.Caller(a, a)", "cd", (RATIO, IN_13 + CALLER),
               {"Ratio ratio": "exact 2", "Ratio ratio (2)": NOT_INLINED}, "onnxruntime"),
    *(_branches(taken) for taken in (True, False)),
    *(_one_branch(shape) for shape in ((), (0,), (2, 0))),
    _nested(),
    _scan(),
    _loop("every iteration", 3, "c, steps", "exact 12", "onnxruntime"),
    _loop("the last output left out", 3, "c", "exact 12", "openvino"),
    _loop("no iteration", 0, "c, steps", "it is not executed", "onnxruntime"),
    *(_file(f"operator set {opset}", text_model("[ratio] c = Div(a, b)", PAIR, "float[2, 3] c", opset=opset), "exact 6",
            a=[[1], [8]], b=[1, 2, 4]) for opset in (7, 13, 21)),
    _file("Div-6 with an axis", text_model(DIV_6, "float[2, 2] a, float[2] b", "float[2, 2] c", opset=6), "exact 4",
          a=[[1, 2], [3, 4]], b=[1, 2]),
    _file("an input with a value of its own", DEFAULTED, a=TWO),
    _file("that input given", DEFAULTED, a=TWO, b=[0, 4]),
    _file("an unused input", text_model("[ratio] c = Div(a, a)"), a=TWO, b=TWO),
    _file("an output that is an input", text_model("[ratio] c = Div(a, a)", A, f"{A}, {C}"), a=TWO),
    Row("a reciprocal", text_model("[inverse] c = Reciprocal(a)", A, C), {"a": f32([3, 0])}, {"inverse": "exact 2"}),
    Row("without divisions", text_model("c = Neg(a)", A, C), {"a": TWO}, {}),
)  # fmt: skip
