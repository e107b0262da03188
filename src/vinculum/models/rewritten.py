"""Conversion of models in memory, with the same results as for files; parts of it serve `harden` too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

from numpy.typing import ArrayLike

from vinculum.arguments import checked_arguments
from vinculum.errors import AttributeValueError, ModelError
from vinculum.models.source import ModelSource, any_source, read_source
from vinculum.shown import Shown
from vinculum.text import kind_of

if TYPE_CHECKING:
    from onnx import ModelProto

    from vinculum.models.convert.file_conversion import FileConversion

FORMATS = ("onnx", "openvino")
Inputs = Mapping[str, ArrayLike] | Sequence[Mapping[str, ArrayLike]] | None
ModelT = TypeVar("ModelT")
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
class Rewritten(Shown, Generic[ModelT, Report]):
    """A model that was converted or hardened.

    Attributes
    ----------
    model : ModelProto or OpenvinoModel
        The new model, including its data.
    report
        What was changed and why, and what was compared.
    """

    model: ModelT
    report: Report


@overload
def convert(
    model: ModelSource,
    *,
    opset: int | None = None,
    to: Literal["onnx"] | None = None,
    inputs: Inputs = None,
) -> Rewritten[ModelProto, FileConversion]: ...
@overload
def convert(
    model: ModelSource,
    *,
    opset: int | None = None,
    to: Literal["openvino"],
    inputs: Inputs = None,
) -> Rewritten[OpenvinoModel, FileConversion]: ...
@checked_arguments
def convert(
    model: ModelSource,
    *,
    opset: int | None = None,
    to: str | None = None,
    inputs: Inputs = None,
) -> Rewritten[Any, FileConversion]:
    """Return a model in another operator set or format, with every division preserved.

    Before it is returned, both models are run on edge cases and random inputs, and their outputs are compared bit for
    bit.

    Parameters
    ----------
    model : path, bytes, ModelProto, ExportedProgram or Model
        As `vinculum.check` takes it. It is not changed.
    opset : int, optional
        The operator set of an ONNX result, for which it is required.
    to : {"onnx", "openvino"}, optional
        The format of the result; ONNX if None. OpenVINO writes its own, and has to be installed.
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
    with target_file("xml" if to == "openvino" else "onnx") as target:
        report = convert_file(source, target, opset=opset, inputs=sets_of(inputs))
        if to == "openvino":
            return Rewritten(OpenvinoModel(target.read_bytes(), target.with_suffix(".bin").read_bytes()), report)
        return Rewritten(read_source(target).complete(), report)


def sets_of(inputs: Inputs) -> Sequence[Mapping[str, Any]]:
    """Return the sets of inputs that a caller gives; ModelError if they are anything else."""
    sets = [inputs] if isinstance(inputs, Mapping) else () if inputs is None else inputs
    odd = [given for given in sets if not isinstance(given, Mapping)] if isinstance(sets, list | tuple) else None
    if odd is None or odd:
        kind = f"{kind_of(sets)} of {kind_of(odd[0])}" if odd else kind_of(sets)
        raise ModelError(f"the inputs are {kind}; give a dict of arrays by name, or a list of such dicts")
    return sets


@contextmanager
def target_file(suffix: str) -> Iterator[Path]:
    """Give a file to write a model to, for as long as it is needed."""
    with TemporaryDirectory(prefix="vinculum-") as folder:
        yield Path(folder) / f"model.{suffix}"
