"""What the onnx package's own checker says of a model."""

from __future__ import annotations

from onnx import ModelProto, ValueInfoProto, checker, shape_inference

from vinculum.errors import ModelError
from vinculum.models.onnx.attributes import check_attributes
from vinculum.models.onnx.inference import check_operand_types, without_large_initializers
from vinculum.text import one_line


def check_model(model: ModelProto, shown: str) -> None:
    """Refuse an ONNX model that `onnx.checker` refuses, full check included.

    Outputs may lack a shape or a type, as for ONNX Runtime. Large initializers are left to us: the checker, which would
    read the file again, sees their types only.

    - `model`: normalised.
    - `shown`: what a message calls the model: ``"the converted model"``.
    """
    # The checker is compiled code, which would not survive everything.
    check_attributes(model)
    check_operand_types(model)
    asked = without_large_initializers(model)
    del asked.graph.output[:]
    asked.graph.output.extend(value for value in model.graph.output if _is_declared(value))
    try:
        checker.check_model(asked, full_check=True)
    except (checker.ValidationError, shape_inference.InferenceError, RuntimeError, ValueError) as error:
        raise ModelError(f"{shown} fails onnx.checker: {one_line(error)}") from None


def _is_declared(value: ValueInfoProto) -> bool:
    kind = value.type.WhichOneof("value")
    return kind is not None and (kind != "tensor_type" or value.type.tensor_type.HasField("shape"))
