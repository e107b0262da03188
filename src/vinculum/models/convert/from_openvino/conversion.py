"""A whole OpenVINO IR as an ONNX model, every division giving the same bits."""

from __future__ import annotations

from pathlib import Path

from vinculum.models.convert.change import OnnxConversion, check_opset
from vinculum.models.convert.from_openvino.builder import OnnxBuilder
from vinculum.models.convert.opset.conversion import convert_opset
from vinculum.models.openvino_ir.graph import read_graph

_NUMPY_SINCE = 7
"""The operator set from which on operands are joined as NumPy does; what is older is made of it."""


def to_onnx(content: bytes, file: Path, opset: int) -> OnnxConversion:
    """Return an IR as an ONNX model in which every division is the same.

    A Divide that floors becomes Div and the correction that the module `floor` tells of; pdpd broadcasting becomes
    dimensions of size 1; an element type that Div lacks is carried by another. Inputs and outputs keep their
    names and their order. Operands whose sizes the file leaves open are joined by NumPy's rule, which lets more pass
    than ``none`` and ``pdpd``.

    - `file`: where it was; its data are beside it.
    - `opset`: the operator set of the new model, from 1 to the newest that the onnx package knows.

    AttributeValueError if there is no such operator set.
    An error of ours if the IR cannot be read, or what it does is not representable there; the line names the layer and
    the reason.

    Float values beyond an integer type are undefined in both formats where a layer Convert becomes Cast. This package
    saturates in both; other runtimes may not.
    """
    check_opset(opset)
    builder = OnnxBuilder(read_graph(content, file), file.stem, max(opset, _NUMPY_SINCE), opset < _NUMPY_SINCE)
    model = builder.model()
    if opset >= _NUMPY_SINCE:
        return OnnxConversion(model, tuple(builder.changes))
    older = convert_opset(model, opset)
    return OnnxConversion(older.model, (*builder.changes, *older.changes))
