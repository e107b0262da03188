"""Float divisions that OpenVINO itself computes exactly.

OpenVINO's CPU device multiplies by a reciprocal unless a Divide's runtime information forbids it. A Divide after a
convolution, a matrix product or a sum, or at the end of a norm, may still be fused into that layer. A node between the
divisor and the Divide that matches no fusion pattern, and that is not constant-folded, prevents this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import DifferenceError, ModelError
from vinculum.models.engines.openvino.reading import nodes_of
from vinculum.models.engines.openvino.tensors import IN_FLOAT32, reason_of, to_array, to_tensor
from vinculum.models.inner_divisions import what_openvino_divides
from vinculum.models.sampling.comparison import check_equal
from vinculum.models.sampling.edge_values import edge_values
from vinculum.ops.openvino import divide
from vinculum.spec.element_types import by_openvino_name
from vinculum.text import kind_of, listed

_EXACT = ("f32", "f16")
_NO_RECIPROCAL = "nonconvertable_divide_0"
_NO_FOLDING = "DisableConstantFolding_0"
# The types of the CPU device's layers that compute a Divide unchanged.
_UNFUSED = ("Eltwise", "Subgraph")
Kind = tuple[str, bool, bool]
"""OpenVINO's name of an element type, and whether dividend and divisor are constants."""


@dataclass(frozen=True)
class ExactDivision:
    """A division that is exact once its model is compiled for the CPU device.

    Attributes
    ----------
    name, path : str
        The node's name and path, as in `vinculum.models.Division`.
    kind : tuple
        Its element type, and whether dividend and divisor are constants.
    """

    name: str
    path: str
    kind: Kind


@dataclass(frozen=True)
class InexactDivision:
    """A division that is left to the device's own arithmetic.

    Attributes
    ----------
    name, path : str
        The node's name and path.
    reason : str
        Why it cannot be made exact.
    """

    name: str
    path: str
    reason: str


@dataclass(frozen=True, eq=False)
class ExactDivisions:
    """The divisions of a changed model.

    Attributes
    ----------
    exact : tuple of ExactDivision
        Those that are exact now.
    inexact : tuple of InexactDivision
        Those that cannot be made exact, and layers that divide internally.
    model : openvino.Model
        The changed model.
    """

    exact: tuple[ExactDivision, ...]
    inexact: tuple[InexactDivision, ...]
    model: Any = field(repr=False)

    def validate(self) -> int:
        """Compare quotients with this package's, bit for bit, and return how many.

        Each kind of exact division is compiled for the CPU device, in a separate model, and run on all pairs of edge
        values of its type. Then the model itself is compiled, and its exact divisions outside of bodies are checked
        not to be fused into other layers.

        Raises
        ------
        DifferenceError
            If a quotient differs, or a division is fused into another layer.
        ModelError
            If OpenVINO cannot compile the model.
        """
        compared = sum(_validated(kind) for kind in dict.fromkeys(division.kind for division in self.exact))
        names = {division.name for division in self.exact if not division.path}
        for layer, held in _compiled_layers(self.model):
            taken = sorted(names.intersection(held))
            if taken and layer not in _UNFUSED:
                raise DifferenceError(f"OpenVINO computes division {listed(taken)} as part of its layer {layer}")
        return compared


def exact_divisions(model: Any) -> ExactDivisions:
    """Make the float divisions of a model exact on OpenVINO's CPU device, in place.

    A reciprocal, Power with the constant exponent -1, becomes a Divide. ``openvino.save_model`` does not save the
    changes: call this after each reading of the file, before ``compile_model``, and compile with
    ``INFERENCE_PRECISION_HINT`` f32, which is not the default on processors with bfloat16 or float16 units.

    Parameters
    ----------
    model : openvino.Model
        As ``openvino.Core().read_model`` or ``openvino.convert_model`` returns it. Bodies of If, Loop and
        TensorIterator are changed too.

    Returns
    -------
    ExactDivisions
        The exact divisions, and the others with the reasons. Its method ``validate`` verifies them in this runtime.

    Raises
    ------
    ModelError
        If it is not an ``openvino.Model``, but a path or a compiled model.
    """
    if not hasattr(model, "get_ordered_ops"):
        raise ModelError(
            f"the model is {kind_of(model)}, not an openvino.Model; give the result of "
            "openvino.Core().read_model(path), before it is compiled"
        )
    found = list(_made_exact(model))
    exact = tuple(division for division in found if isinstance(division, ExactDivision))
    inexact = tuple(division for division in found if isinstance(division, InexactDivision))
    return ExactDivisions(exact, inexact, model)


def _made_exact(model: Any) -> Iterator[ExactDivision | InexactDivision]:
    for path, node in nodes_of(model):
        kind = node.get_type_name()
        if kind == "Divide":
            yield _division(node, path)
        elif kind == "Power" and _is_reciprocal(node):
            yield _division(_as_divide(node), path)
        elif what_openvino_divides(kind) is not None:
            yield InexactDivision(node.get_friendly_name(), path, f"{kind} divides inside one layer")


def _division(node: Any, path: str) -> ExactDivision | InexactDivision:
    name, element_type = node.get_friendly_name(), node.get_output_element_type(0).get_type_name()
    constants = [_constant(node.input_value(place).get_node()) for place in range(2)]
    reason = _obstacle(element_type, [constant for constant in constants if constant is not None])
    if reason is not None:
        return InexactDivision(name, path, reason)
    if _NO_RECIPROCAL not in node.get_rt_info():
        _prevent_fusion(node)
        node.get_rt_info()[_NO_RECIPROCAL] = True
    return ExactDivision(name, path, (element_type, constants[0] is not None, constants[1] is not None))


def _constant(node: Any) -> Any:
    """Return an operand's Constant, which may be stored in a narrower type and converted; None if it is computed."""
    if node.get_type_name() == "Convert":
        node = node.input_value(0).get_node()
    return node if node.get_type_name() == "Constant" else None


def _obstacle(element_type: str, constants: list[Any]) -> str | None:
    if element_type == "f64":
        return "the CPU device narrows f64 to f32"
    if element_type == "bf16":
        return "the CPU device flushes subnormal numbers of bf16 to 0"
    if element_type not in _EXACT:
        return f"the CPU device divides {element_type} in its own way; vinculum harden --for openvino guards integers"
    if any(_is_subnormal(to_array(constant)).any() for constant in constants):
        return "a constant operand holds subnormal numbers, which the CPU device flushes to 0"
    return None


def _is_subnormal(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each number whether it is subnormal in f32; subnormal numbers of f16 are normal there."""
    wide = np.abs(array.astype(np.float32))
    return np.asarray((wide != 0) & (wide < np.finfo(np.float32).smallest_normal))


def _prevent_fusion(node: Any) -> None:
    """Insert a Maximum of the divisor and itself, which equals the divisor, before a Divide."""
    from openvino import opset1

    divisor = node.input_value(1)
    apart = opset1.maximum(divisor, divisor)
    apart.set_friendly_name(f"{node.get_friendly_name()}/divisor")
    apart.get_rt_info()[_NO_FOLDING] = True
    node.input(1).replace_source_output(apart.output(0))


def _is_reciprocal(node: Any) -> bool:
    base, exponent = node.input_value(0), node.input_value(1).get_node()
    if node.get_output_element_type(0).get_type_name() not in _EXACT or exponent.get_type_name() != "Constant":
        return False
    rank = base.get_partial_shape().rank
    values = to_array(exponent)
    return (
        values.size == 1 and bool(values.reshape(-1)[0] == -1) and rank.is_static and rank.get_length() >= values.ndim
    )


def _as_divide(node: Any) -> Any:
    from openvino import opset1

    one = opset1.constant(1, node.get_output_element_type(0))
    quotient = opset1.divide(one, node.input_value(0))
    quotient.set_friendly_name(node.get_friendly_name())
    node.output(0).replace(quotient.output(0))
    return quotient


def _validated(kind: Kind) -> int:
    """Return how many quotients of edge values were compared for a kind; DifferenceError if one is not exact."""
    import openvino
    from openvino import opset1

    name, *constant = kind
    values = edge_values(by_openvino_name(name))
    a, b = (side.reshape(-1) for side in np.meshgrid(values, values))
    for side, fixed in zip((a, b), constant, strict=True):
        if fixed:  # A division by subnormal constants cannot be made exact.
            normal = ~_is_subnormal(side)
            a, b = a[normal], b[normal]
    tensors = [to_tensor(a), to_tensor(b)]
    sides = [
        openvino.op.Constant(tensor) if fixed else opset1.parameter(tensor.shape, tensor.element_type)
        for tensor, fixed in zip(tensors, constant, strict=True)
    ]
    given = [place for place, fixed in enumerate(constant) if not fixed]
    model = openvino.Model([opset1.result(opset1.divide(*sides))], [sides[place] for place in given], "division")
    exact_divisions(model)
    request = _compiled(model).create_infer_request()
    for number, place in enumerate(given):
        request.set_input_tensor(number, tensors[place])
    request.infer()
    quotients = to_array(request.get_output_tensor(0))
    what = f"a division of {name}{' by a constant' if constant[1] else ''}"
    check_equal(what, divide(a, b), quotients, ("Vinculum", "OpenVINO"))
    return int(quotients.size)


def _compiled_layers(model: Any) -> Iterator[tuple[str, list[str]]]:
    """Return the layers of a compiled model, each with the names of the nodes that it computes."""
    for node in _compiled(model).get_runtime_model().get_ordered_ops():
        facts = node.get_rt_info()
        yield facts["layerType"].value, facts["originalLayersNames"].value.split(",")


def _compiled(model: Any) -> Any:
    import openvino

    try:
        return openvino.Core().compile_model(model, "CPU", IN_FLOAT32)
    except RuntimeError as error:  # The only exception that OpenVINO raises.
        raise ModelError(f"OpenVINO cannot compile the model: {reason_of(error)}") from None
