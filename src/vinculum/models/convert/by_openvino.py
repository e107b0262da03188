"""Conversion of ONNX models to OpenVINO IR, by OpenVINO's own reader and writer.

OpenVINO reads every Div as a Divide that floors. Each is found by its name, in bodies too, and made to truncate again.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

from onnx import GraphProto, ModelProto, helper
from onnx.inliner import inline_local_functions

from vinculum.errors import ModelError
from vinculum.models.convert.change import Change
from vinculum.models.engines.openvino.process import OpenVinoProcess, check_installed
from vinculum.models.engines.openvino.reading import NAME
from vinculum.models.onnx.divisions import DIVIDES
from vinculum.models.onnx.rewriter import set_nodes, unique_name
from vinculum.models.onnx.scopes import all_nodes, name_of, opset_imports, subgraphs, title
from vinculum.text import listed

_MAX_OF_INTEGERS = 12


def by_openvino(proto: ModelProto, folder: Path, name: str) -> list[Change]:
    """Write an IR, and return what was changed.

    - `proto`: self-contained; it is not changed.
    - `folder`, `name`: where to write, and the name of the ``.xml``.

    ModelError if OpenVINO is not installed, cannot read the model, or turns a division into another layer.
    """
    check_installed("writing an IR")
    model = inline_local_functions(proto) if proto.functions else deepcopy(proto)
    _bound_loops(model.graph, set(), opset_imports(model).get("", 1))
    divisions = [node for node in all_nodes(model.graph.node) if node.domain == "" and node.op_type in DIVIDES]
    titles = [title(node) for node in divisions]
    names = [(name_of(node), node.output[0]) for node in divisions]
    for number, node in enumerate(divisions):
        node.name = f"{NAME}{number}"
    with TemporaryDirectory(dir=folder) as place:
        source = Path(place) / "source.onnx"
        source.write_bytes(model.SerializeToString())
        process = OpenVinoProcess("vinculum.models.engines.openvino.children:Writer")
        found = process.call("write", source, folder / name, names)
    if isinstance(found, str):
        raise ModelError(f"the model cannot be written by OpenVINO: {found}")
    lost = [text for number, text in enumerate(titles) if number not in found]
    if lost:
        raise ModelError(f"OpenVINO's reader turns {listed(lost)} into something other than a Divide")
    return [
        Change(titles[number], 'm_pythondiv="false"', "ONNX truncates") for number in sorted(found) if found[number]
    ]


def _bound_loops(graph: GraphProto, taken: set[str], opset: int) -> None:
    """Replace negative trip counts by 0, their meaning in ONNX: a Loop of OpenVINO takes -1 as no limit."""
    nodes = []
    taken.update(name for node in graph.node for name in node.output)
    for node in graph.node:
        for _, body in subgraphs(node):
            _bound_loops(body, taken, opset)
        if node.domain == "" and node.op_type == "Loop" and node.input[0]:
            if opset < _MAX_OF_INTEGERS:
                raise ModelError(f"{title(node)} needs operator set {_MAX_OF_INTEGERS} or later; convert to it first")
            zero, bounded = (unique_name(f"{node.output[0]}_{word}", taken) for word in ("zero", "trips"))
            nodes.append(helper.make_node("Constant", [], [zero], value_int=0))
            nodes.append(helper.make_node("Max", [node.input[0], zero], [bounded]))
            node.input[0] = bounded
        nodes.append(node)
    set_nodes(graph, nodes)
