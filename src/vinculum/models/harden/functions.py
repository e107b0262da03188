"""A model's own functions, which a runtime may take in the model's operator set alone, or not at all."""

from __future__ import annotations

from onnx import ModelProto
from onnx.defs import SchemaError, get_schema
from onnx.inliner import inline_local_functions

from vinculum.errors import ModelError
from vinculum.models.harden.decision import Runtime
from vinculum.models.onnx.scopes import all_nodes, opset_imports
from vinculum.text import one_line, quoted


def check_functions(model: ModelProto, runtime: Runtime) -> None:
    """Refuse a function whose new nodes are other versions in the model's operator set: no runtime takes it any more.

    Raises
    ------
    ModelError
        If there is one; or one of another operator set at all, for OpenVINO, because it is not inlined.
    """
    versions = opset_imports(model)
    for function in model.functions:
        own = opset_imports(function).get("", 1)
        around = versions.get("", own)
        operators = {node.op_type for node in all_nodes(function.node) if node.domain == ""}
        differs = runtime == "openvino" or any(_since(name, own) != _since(name, around) for name in operators)
        if own != around and differs:
            raise ModelError(
                f"the function {quoted(function.name)} stands in operator set {own} and the model in {around}, so its "
                f"divisions cannot be hardened; convert the model first: vinculum convert --opset {max(own, around)}"
            )


def without_functions(model: ModelProto) -> ModelProto:
    """Return the model with its functions' nodes in the place of their calls: OpenVINO does not take functions.

    The given one may be changed.

    Raises
    ------
    ModelError
        If the onnx package cannot do it.
    """
    # What its functions import alone is to be the model's.
    imported = set(opset_imports(model))
    for function in model.functions:
        for domain, version in opset_imports(function).items():
            if domain not in imported:
                imported.add(domain)
                model.opset_import.add(domain=domain, version=version)
    check_functions(model, "openvino")
    try:
        return inline_local_functions(model)
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"the model's functions cannot be inlined, as OpenVINO needs: {one_line(error)}") from None


def _since(operator: str, opset: int) -> int | None:
    try:
        return int(get_schema(operator, opset).since_version)
    except SchemaError:
        return None
