"""OpenVINO IR files, versions 10 and 11."""

from __future__ import annotations

from pathlib import Path

from vinculum.models.model import Model
from vinculum.models.openvino_ir.graph import read_graph
from vinculum.models.openvino_ir.program import DivideStep


def read_openvino_ir(content: bytes, file: Path) -> Model:
    """Return the model in the XML of an IR file, whose data stand beside it in a ``.bin`` of the same name.

    Raises
    ------
    ModelError, ElementTypeError, AttributeValueError, BroadcastError
        As `vinculum.load` says.
    """
    graph = read_graph(content, file)
    divisions = tuple(step.division for step in graph.program.steps if isinstance(step, DivideStep))
    return Model(graph.inputs, graph.outputs, divisions, graph.program)
