"""The model to analyse, in whatever form it is given, as an ONNX message."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Literal

from vinculum.models.onnx.functions import link_functions
from vinculum.models.onnx.inference import without_large_initializers
from vinculum.models.source import SourceFile, any_source

if TYPE_CHECKING:
    from onnx import ModelProto


def source_given(
    model: str | PathLike[str] | ModelProto | SourceFile, weights: Literal["stored", "unknown"] = "stored"
) -> SourceFile:
    """Return a model's source; one that has been read is not read again."""
    return model if isinstance(model, SourceFile) else any_source(model, weights=weights)


def onnx_model(source: SourceFile) -> ModelProto:
    """Return the source's message; ModelError for an OpenVINO IR or bad functions."""
    proto = source.proto("analysed")
    if proto.functions:
        link_functions(without_large_initializers(proto))  # A copy, for its refusals.
    return proto
