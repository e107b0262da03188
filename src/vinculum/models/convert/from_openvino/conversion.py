"""Conversion of a whole OpenVINO IR to an ONNX model in which every division gives the same bits."""

from __future__ import annotations

from collections import ChainMap
from pathlib import Path

from onnx import GraphProto, ModelProto, TensorProto, TypeProto, ValueInfoProto, helper, numpy_helper

from vinculum.errors import ModelError
from vinculum.models.convert.change import Change, OnnxConversion, check_opset
from vinculum.models.convert.from_openvino.layer_nodes import check_allowed, convert_nodes, divide_nodes, reshape_nodes
from vinculum.models.convert.opset.conversion import convert_opset
from vinculum.models.convert.opset.operands import Operand
from vinculum.models.onnx.rewriter import INITIALIZERS_ALONE, Rewriter, unique_name
from vinculum.models.openvino_ir.graph import OpenvinoGraph, read_graph
from vinculum.models.openvino_ir.program import ConvertStep, DivideStep, ParameterStep, Step
from vinculum.models.openvino_ir.types import TensorType
from vinculum.models.openvino_ir.xml import Port
from vinculum.text import quoted

_NUMPY_SINCE = 7
"""The first operator set with NumPy broadcasting. Models of older operator sets are converted down from this one."""
_MAIN = ("Div", "Reshape", "Squeeze", "Unsqueeze")


def to_onnx(content: bytes, file: Path, opset: int) -> OnnxConversion:
    """Return an IR as an ONNX model in which every division gives the same bits.

    A Divide that floors becomes Div and the correction of `layer_nodes.floored`; pdpd broadcasting becomes
    dimensions of size 1; an element type that Div lacks is carried by a promoted type. Inputs and outputs keep their
    names and their order. Operands whose sizes the file leaves open are broadcast by NumPy's rule, which accepts more
    shapes than ``none`` and ``pdpd``.

    - `content`: of the ``.xml`` file.
    - `file`: its path; the data file is beside it.
    - `opset`: the operator set of the new model, from 1 to the newest that the onnx package supports.

    AttributeValueError if there is no such operator set.
    Another VinculumError if the IR cannot be read or is not representable in the operator set; the message names the
    layer and the reason.

    Where a Convert layer becomes Cast, both formats leave the conversion of floats beyond the range of an integer type
    undefined. This package saturates in both; other runtimes may not.
    """
    check_opset(opset)
    builder = _Builder(read_graph(content, file), file.stem, max(opset, _NUMPY_SINCE), opset < _NUMPY_SINCE)
    model = builder.model()
    if opset >= _NUMPY_SINCE:
        return OnnxConversion(model, tuple(builder.changes))
    older = convert_opset(model, opset)
    return OnnxConversion(older.model, (*builder.changes, *older.changes))


class _Builder:
    """Writes the graph in the order in which the layers run.

    - `opset`: the operator set to write, from 7 on.
    - `names_sizes`: whether open dimensions of inputs get names. The names show which sizes of other values are equal.
    """

    def __init__(self, graph: OpenvinoGraph, name: str, opset: int, names_sizes: bool) -> None:
        self.changes: list[Change] = []
        self._graph, self._opset, self._names_sizes = graph, opset, names_sizes
        self._proto = GraphProto(name=name)
        program = graph.program
        self._taken = {*(p.name for p in program.parameters), *program.results}
        self._node_names: set[str] = set()
        self._values = self._named_ports()
        self._types = ChainMap({value: _type(graph.known[port]) for port, value in self._values.items()})
        self._constants = {
            self._values[port]: numpy_helper.from_array(array, self._values[port])
            for port, array in program.constants.items()
        }

    def model(self) -> ModelProto:
        """Return the model."""
        for step in self._graph.program.steps:
            self._add(step)
        for parameter in self._graph.program.parameters:
            self._declare_input(parameter)
        for name, port in self._graph.program.results.items():
            self._declare_output(name, port)
        used = {name for node in self._proto.node for name in node.input} | set(self._graph.program.results)
        self._proto.initializer.extend(tensor for name, tensor in self._constants.items() if name in used)
        imports = [helper.make_opsetid("", self._opset)]
        version = max(INITIALIZERS_ALONE, helper.find_min_ir_version_for(imports))
        return helper.make_model(self._proto, opset_imports=imports, ir_version=version, producer_name="vinculum")

    def _named_ports(self) -> dict[Port, str]:
        """Return the name of each value: that of the input or the output if it is one."""
        program = self._graph.program
        names = {parameter.result: parameter.name for parameter in program.parameters}
        for name, port in program.results.items():
            if name in names.values() and names.get(port) != name:
                raise ModelError(
                    f"output {quoted(name)} has the name of an input with another value; give it a name of its own"
                )
            names.setdefault(port, name)
        called = dict.fromkeys(program.constants, "constant")
        called |= {step.result: step.name or "value" for step in program.steps}
        for port, name in called.items():
            if port not in names:
                names[port] = unique_name(name, self._taken)
        return names

    def _add(self, step: Step) -> None:
        rewriter = Rewriter(self._proto, self._opset, self._taken, step.name)
        names = [self._values[port] for port in step.operands]
        known_operands = [self._graph.known[port] for port in step.operands]
        if isinstance(step, DivideStep):
            a, b = (Operand(*pair, self._types, self._constants) for pair in zip("ab", names, strict=True))
            value, changes = divide_nodes(step, (a, b), self._opset, rewriter)
        elif isinstance(step, ConvertStep):
            value, changes = convert_nodes(step, names[0], known_operands[0], self._opset, rewriter)
        else:
            numbers = self._graph.program.constants.get(step.operands[-1])
            value, changes = reshape_nodes(step, names, known_operands, numbers, self._opset, rewriter)
        self.changes += changes
        rewriter.name_result(value, self._values[step.result])
        if self._names_sizes and self._values[step.result] not in self._graph.program.results:
            # Some operators of the first operator sets have no type inference.
            known = TensorType(self._graph.known[step.result].element_type, None)
            self._proto.value_info.append(ValueInfoProto(name=self._values[step.result], type=_type(known)))
        self._append(rewriter, step.name)

    def _append(self, rewriter: Rewriter, name: str) -> None:
        """Append the nodes of a layer; the main one gets the layer's name."""
        main = next((node for node in rewriter.nodes if node.op_type in _MAIN), rewriter.nodes[-1])
        if name and name not in self._node_names:
            main.name = name
        self._node_names.update(node.name for node in rewriter.nodes)
        self._proto.node.extend(rewriter.nodes)
        self._proto.initializer.extend(rewriter.initializers)

    def _declare_input(self, parameter: ParameterStep) -> None:
        known = self._graph.known[parameter.result]
        if self._names_sizes and known.shape is not None:
            sizes = [f"{parameter.name}_{d}" if size is None else size for d, size in enumerate(known.shape)]
            known = TensorType(known.element_type, tuple(sizes))
        self._proto.input.append(_declared("input", parameter.name, known))
        ranges = [bound for bound in parameter.bounds or () if bound != (0, None) and bound[0] != bound[1]]
        if ranges:
            texts = ", ".join(f"{low}..{'' if high is None else high}" for low, high in ranges)
            plural = "dimensions" if len(ranges) > 1 else "a dimension"
            what = f"{texts} written as {plural} of any size"
            self.changes.append(Change(f"input {quoted(parameter.name)}", what, "ONNX has no ranges of sizes"))

    def _declare_output(self, name: str, port: Port) -> None:
        known, value = self._graph.known[port], self._values[port]
        if value != name:
            check_allowed("Identity", self._opset, known.element_type, f"output {quoted(name)}")
            node = helper.make_node("Identity", [value], [name], unique_name(f"{name}_Identity", self._taken))
            self._proto.node.append(node)
        self._proto.output.append(_declared("output", name, known))


def _declared(what: str, name: str, known: TensorType) -> ValueInfoProto:
    if known.shape is None:
        raise ModelError(f"{what} {quoted(name)} has no fixed rank, which ONNX requires; give the layer a shape")
    return ValueInfoProto(name=name, type=_type(known))


def _type(known: TensorType) -> TypeProto:
    code = None if isinstance(known.element_type, str) else known.element_type.onnx_code
    return helper.make_tensor_type_proto(code or TensorProto.BOOL, known.shape)
