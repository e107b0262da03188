"""What is known of a value that has one type here and another there."""

from __future__ import annotations

from onnx import TensorShapeProto, TypeProto


def joined(a: TypeProto, b: TypeProto) -> TypeProto | None:
    """Return what two types have in common: the element type, and of the shape what is the same; None if nothing.

    Sequences, maps and optional values have to be the same as a whole.
    """
    if a.WhichOneof("value") != "tensor_type" or b.WhichOneof("value") != "tensor_type":
        return a if a == b else None
    if a.tensor_type.elem_type != b.tensor_type.elem_type or not a.tensor_type.elem_type:
        return None
    common = TypeProto()
    common.tensor_type.elem_type = a.tensor_type.elem_type
    shapes = [tensor.shape for tensor in (a.tensor_type, b.tensor_type) if tensor.HasField("shape")]
    if len(shapes) == 2 and len(shapes[0].dim) == len(shapes[1].dim):
        dims = zip(shapes[0].dim, shapes[1].dim, strict=True)
        common.tensor_type.shape.CopyFrom(TensorShapeProto(dim=[_joined_size(x, y) for x, y in dims]))
    return common


def _joined_size(a: TensorShapeProto.Dimension, b: TensorShapeProto.Dimension) -> TensorShapeProto.Dimension:
    # ONNX's inference invents names for what it does not know, the same ones in every call.
    invented = a.dim_param.startswith("unk__")
    return a if a == b and not invented else TensorShapeProto.Dimension()
