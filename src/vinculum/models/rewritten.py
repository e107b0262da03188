"""Conversion and hardening of models in memory, with the same results as for files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from numpy.typing import ArrayLike

from vinculum.errors import AttributeValueError
from vinculum.models.source import any_source, read_source

if TYPE_CHECKING:
    from onnx import ModelProto

    from vinculum.models.convert.file_conversion import FileConversion
    from vinculum.models.harden import HardenedFile, Runtime
    from vinculum.ops.policies import Overflow, ZeroDivisor

FORMATS = ("onnx", "openvino")
Inputs = Mapping[str, ArrayLike] | Sequence[Mapping[str, ArrayLike]] | None
Report = TypeVar("Report")


@dataclass(frozen=True)
class OpenvinoModel:
    """An OpenVINO IR in memory: ``openvino.Core().read_model(xml, data)`` reads it.

    Attributes
    ----------
    xml, data : bytes
        The content of its two files.
    """

    xml: bytes
    data: bytes


@dataclass(frozen=True, eq=False)
class Rewritten(Generic[Report]):
    """A model that was converted or hardened.

    Attributes
    ----------
    model : ModelProto or OpenvinoModel
        The new model, including its data.
    report
        What was changed and why, and what was compared.
    """

    model: ModelProto | OpenvinoModel
    report: Report


def convert(
    model: str | PathLike[str] | bytes | ModelProto,
    *,
    opset: int | None = None,
    to: str | None = None,
    inputs: Inputs = None,
) -> Rewritten[FileConversion]:
    """Return a model in another operator set or format, with every division preserved.

    Before it is returned, both models are run on edge cases and random inputs, and their outputs are compared bit for
    bit.

    Parameters
    ----------
    model : path, bytes or ModelProto
        An ONNX file, an OpenVINO IR file (.xml), or an ONNX model in memory, which is not changed.
    opset : int, optional
        The operator set of an ONNX result; required from ONNX to ONNX, 21 by default from IR.
    to : {"onnx", "openvino"}, optional
        The format of the result; ONNX if None.
    inputs : Mapping of str to array, or a sequence of them, optional
        Your own sets of inputs, which are compared first.

    Returns
    -------
    Rewritten
        ``.model``: a ModelProto, or for OpenVINO IR an `OpenvinoModel`; ``.report``: changes and verification.

    Raises
    ------
    DifferenceError
        If an output differs.
    ModelError, AttributeValueError, ElementTypeError, BroadcastError
        If the model is malformed, or not representable in the result; the message names the node.
    """
    if to not in (None, *FORMATS):
        raise AttributeValueError(f"to is {to!r}; allowed: {', '.join(map(repr, FORMATS))}")
    from vinculum.models.convert.file_conversion import convert_file

    source = any_source(model)
    with _target("xml" if to == "openvino" else "onnx") as target:
        report = convert_file(source, target, opset=opset, inputs=_sets(inputs))
        return Rewritten(_read(target), report)


def harden(
    model: str | PathLike[str] | bytes | ModelProto,
    *,
    target: Runtime,
    inputs: Inputs = None,
    zero_divisor: ZeroDivisor = "zero",
    overflow: Overflow = "wrap",
    fix_exported: bool = False,
) -> Rewritten[HardenedFile]:
    """Return a model whose integer divisions and remainders give correct results on a runtime, and cannot crash it.

    Before it is returned, each rewrite is run in that runtime on edge cases, and the whole model once.

    Parameters
    ----------
    model : path, bytes or ModelProto
        An ONNX file, or an ONNX model in memory, which is not changed.
    target : {"onnxruntime", "openvino", "portable"}
        The target runtime.
    inputs : Mapping of str to array, or a sequence of them, optional
        Your own sets of inputs to run the whole model on.
    zero_divisor : {"zero", "saturate"}
        The result of x/0.
    overflow : {"wrap", "saturate"}
        The result of MIN/-1.
    fix_exported : bool
        Whether integer divisions that an exporter wrote as Cast, float Div and Cast become integer divisions again.

    Returns
    -------
    Rewritten
        ``.model``: a ModelProto; ``.report``: the decision about each division with its reason, and the validation;
        ``.report.hardening.left``: the divisions that may still crash the runtime.

    Raises
    ------
    DifferenceError
        If a result differs, or the runtime crashes.
    ModelError, AttributeValueError, ElementTypeError, BroadcastError
        If the model is malformed or cannot be hardened, or the runtime is not installed; the message names the node.
    """
    from vinculum.models.harden.file_hardening import harden_file

    source = any_source(model)
    with _target("onnx") as file:
        report = harden_file(
            source,
            file,
            target,
            inputs=_sets(inputs),
            zero_divisor=zero_divisor,
            overflow=overflow,
            fix_exported=fix_exported,
        )
        return Rewritten(_read(file), report)


def _sets(inputs: Inputs) -> Sequence[Mapping[str, Any]]:
    if inputs is None:
        return ()
    return [inputs] if isinstance(inputs, Mapping) else inputs


@contextmanager
def _target(suffix: str) -> Iterator[Path]:
    with TemporaryDirectory(prefix="vinculum-") as folder:
        yield Path(folder) / f"model.{suffix}"


def _read(target: Path) -> ModelProto | OpenvinoModel:
    if target.suffix == ".xml":
        return OpenvinoModel(target.read_bytes(), target.with_suffix(".bin").read_bytes())
    return read_source(target).complete()
