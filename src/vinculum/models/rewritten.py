"""Models converted and hardened in memory: the same as files are, without files."""

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
        What its two files hold.
    """

    xml: bytes
    data: bytes


@dataclass(frozen=True, eq=False)
class Rewritten(Generic[Report]):
    """A model that was converted or hardened.

    Attributes
    ----------
    model : ModelProto or OpenvinoModel
        The new model, its data in it.
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
    """Return a model in another operator set or format, every division meaning what it meant.

    Both models are run on edge cases and random inputs, and their outputs compared bit for bit, before it is returned.

    Parameters
    ----------
    model : path, bytes or ModelProto
        An ONNX file, an OpenVINO IR file (.xml), or an ONNX model in memory, which is not changed.
    opset : int, optional
        The operator set of an ONNX result; needed from ONNX to ONNX, 21 from IR if None.
    to : {"onnx", "openvino"}, optional
        The format of the result; ONNX if None.
    inputs : Mapping of str to array, or a sequence of them, optional
        Inputs of your own, which are compared first.

    Returns
    -------
    Rewritten
        ``.model``: a ModelProto, or for OpenVINO IR what its two files hold; ``.report``: changes and verification.

    Raises
    ------
    DifferenceError
        If an output differs.
    ModelError, AttributeValueError, ElementTypeError, BroadcastError
        If the model is malformed, or what it does is not representable in the result; the line names the node.
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
    """Return a model whose integer divisions and remainders give the right results on a runtime, and cannot kill it.

    Each rewrite is run in that runtime on edge cases, and the whole model once, before it is returned.

    Parameters
    ----------
    model : path, bytes or ModelProto
        An ONNX file, or an ONNX model in memory, which is not changed.
    target : {"onnxruntime", "openvino", "portable"}
        Where it is to run.
    inputs : Mapping of str to array, or a sequence of them, optional
        Inputs of your own to run the whole model on.
    zero_divisor : {"zero", "saturate"}
        What x/0 is to give.
    overflow : {"wrap", "saturate"}
        What MIN/-1 is to give.
    fix_exported : bool
        Whether integer divisions that an exporter wrote as Cast, float Div and Cast become exact ones.

    Returns
    -------
    Rewritten
        ``.model``: a ModelProto; ``.report``: what was decided for each division and why, ``.report.hardening.left``
        what may still kill the runtime, and what was validated.

    Raises
    ------
    DifferenceError
        If a result differs, or the runtime does not survive.
    ModelError, AttributeValueError, ElementTypeError, BroadcastError
        If the model is malformed or cannot be hardened, or the runtime is not installed; the line names the node.
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
