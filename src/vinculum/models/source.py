"""The source of a model: its file is read once, and everything else is made from that content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from vinculum.errors import ModelError, VinculumError
from vinculum.files import atomic_write, regular_size
from vinculum.models.exported_program import SUFFIX, is_exported_program, onnx_of_file, onnx_of_program
from vinculum.models.model import Model
from vinculum.text import kind_of, one_line

if TYPE_CHECKING:
    from onnx import ModelProto

ModelSource: TypeAlias = "str | PathLike[str] | bytes | ModelProto | Model"
"""What functions on models take: a file, its content, or a model in memory; also a torch.export.ExportedProgram."""

_IN_MEMORY = Path("(in memory)")


@dataclass(frozen=True, eq=False)
class SourceFile:
    """The content of a model's file."""

    path: Path
    content: bytes  # The XML of an OpenVINO IR; empty for an ONNX file.
    # The message of an ONNX file, normalised and with its tensors checked; None for an OpenVINO IR. Large initializers
    # in other files are not read.
    onnx: ModelProto | None
    files: tuple[Path, ...]  # The file and its data files.
    # The initializers of which nothing but type and shape is known; they are inputs of the message.
    unknown: tuple[str, ...] = ()

    def model(self, *, use_up: bool = False) -> Model:
        """Return the model, ready to run; data in other files is read when it is run.

        - `use_up`: whether to change the message itself, whose nodes get numbers and new names, instead of a copy.

        Errors are as `vinculum.load` raises them.
        """
        with naming(self.path):
            if self.onnx is None:
                from vinculum.models.engines.openvino.programs import read_openvino_ir

                return read_openvino_ir(self.content, self.path)
            from vinculum.models.onnx.model import model_of

            return model_of(self.onnx if use_up else deepcopy(self.onnx), self.path)

    def proto(self, verb: str) -> ModelProto:
        """Return the message of an ONNX file; ModelError if it is an OpenVINO IR.

        - `verb`: what would be done with the model, for the error: ``"converted"``.
        """
        if self.onnx is None:
            raise ModelError(
                f"model {str(self.path)!r} is OpenVINO IR, and only ONNX models are {verb}; give the model that it was "
                "made from"
            )
        return self.onnx

    def complete(self, purpose: str = "converted") -> ModelProto:
        """Return the message with the data of other files in it, so that it does not depend on its folder.

        - `purpose`: what becomes of it, for the refusal of another source.

        ModelError if the source is not an ONNX file, or its data can no longer be read.
        """
        from onnx import numpy_helper

        from vinculum.models.onnx.tensors import array_of, is_external

        proto = self.proto(purpose)
        for tensor in proto.graph.initializer:
            if is_external(tensor):
                tensor.CopyFrom(numpy_helper.from_array(array_of(tensor), tensor.name))
        return proto

    @contextmanager
    def writing(self, target: Path) -> Iterator[Path]:
        """Yield a path to write to; the files written there and beside it replace the target if the block succeeds.

        ModelError if that would replace the source or its data files. OSError if it cannot be written.
        """
        # Early, before the work.
        self.check_spared([target, target.with_suffix(".bin")] if target.suffix.lower() == ".xml" else [target])
        with atomic_write(target) as folder:
            yield folder / target.name
            self.check_spared([target.parent / path.name for path in folder.iterdir()])

    def check_spared(self, targets: Iterable[Path]) -> None:
        """Refuse targets that would overwrite the source or its data files."""
        own = [file for file in self.files if file.exists()]
        for target in targets:
            if target.exists() and any(target.samefile(file) for file in own):
                belongs = "" if self.path.exists() and target.samefile(self.path) else f" the data {str(target)!r} of"
                raise ModelError(f"the result would replace{belongs} the model {str(self.path)!r}; give another -o")


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Put the file's name before the message of each error that lacks it."""
    try:
        yield
    except VinculumError as error:
        if file is not _IN_MEMORY and str(file) not in str(error):
            error.locate(f"model {str(file)!r}")
        raise


def load(model: ModelSource) -> Model:
    """Return a model, ready to run.

    Parameters
    ----------
    model : path, bytes, ModelProto, ExportedProgram or Model
        An ONNX file (``.onnx``) or an OpenVINO IR (``.xml``, with its ``.bin`` beside it); for a file with another
        suffix, the first byte decides. Or the content of an ONNX file, as bytes or as a message, which is not changed;
        external data is then looked up in the working directory. Or a program of torch.export, or a file of one
        (``.pt2``), which PyTorch's exporter turns into ONNX. A model that was loaded is loaded again.

    Raises
    ------
    ModelError
        If the file cannot be read, is malformed, or holds something that is not supported; if it is an IR, and OpenVINO
        is not installed.
    ElementTypeError, AttributeValueError, BroadcastError
        If a division in it has an element type, an attribute or shapes that its operator version does not allow.
    """
    if isinstance(model, Model):
        return load(model.source)
    # As ONNX a program can be pickled with its model, and is exported once.
    given = onnx_of_program(model) if is_exported_program(model) else model
    loaded = any_source(given).model(use_up=True)
    loaded.read_data()
    return replace(loaded, source=given)


def any_source(model: ModelSource | SourceFile, *, weights: Literal["stored", "unknown"] = "stored") -> SourceFile:
    """Return a model's source. A `SourceFile` is returned as it is; what a `Model` was loaded from is read again.

    - `weights`: whether large initializers in other files may be any numbers, so that these files need not be there.

    Errors are as `load` raises them.
    """
    if isinstance(model, SourceFile):
        return model
    if isinstance(model, Model):
        return any_source(model.source, weights=weights)
    if isinstance(model, bytes | bytearray | memoryview):
        from vinculum.models.onnx.file import parse

        return _onnx_source(parse(bytes(model), _IN_MEMORY), _IN_MEMORY, weights)
    if isinstance(model, str | PathLike):
        return read_source(Path(fspath(model)), weights=weights)
    return source_of(onnx_of_program(model) if is_exported_program(model) else model, weights=weights)


def read_source(path: Path, *, weights: Literal["stored", "unknown"] = "stored") -> SourceFile:
    """Return the content of a model's file; its suffix, or else its first byte, decides what it is.

    ModelError if the file cannot be read, is empty, or should be an ONNX file and is not.
    """
    if path.suffix.lower() == SUFFIX:
        return replace(source_of(onnx_of_file(path)), path=path, files=(path,))
    content = _content_of(path)
    if _is_openvino_ir(path, content):
        return SourceFile(path, content, None, (path, path.with_suffix(".bin")))
    from vinculum.models.onnx.file import parse

    return _onnx_source(parse(content, path), path, weights)


def source_of(model: ModelProto, *, weights: Literal["stored", "unknown"] = "stored") -> SourceFile:
    """Return the source of an ONNX model in memory; external data is looked up in the working directory.

    ModelError if it is not a model, or has no graph.
    """
    from onnx import ModelProto

    from vinculum.models.onnx.file import check_text, normalise

    if isinstance(getattr(model, "xml", None), bytes):  # What `convert` returns for OpenVINO.
        raise ModelError(f"the model is {kind_of(model)}; write xml and data to NAME.xml and NAME.bin, give NAME.xml")
    if not isinstance(model, ModelProto):
        allowed = "a path, or an onnx.ModelProto, which onnx.load returns, or a program of torch.export"
        raise ModelError(f"the model is {kind_of(model)}; give {allowed}")
    try:
        copy = deepcopy(model)
        check_text(copy)
        normalise(copy, _IN_MEMORY)
    except (UnicodeDecodeError, RecursionError, MemoryError) as error:
        raise ModelError(f"the model cannot be read: {one_line(error)}") from None
    return _onnx_source(copy, _IN_MEMORY, weights)


def onnx_model(source: SourceFile) -> ModelProto:
    """Return the message to analyse of a source; ModelError for an OpenVINO IR or bad functions."""
    proto = source.proto("analysed")
    if proto.functions:
        from vinculum.models.onnx.functions import link_functions
        from vinculum.models.onnx.inference import without_large_initializers

        link_functions(without_large_initializers(proto))  # A copy, for its refusals.
    return proto


def _onnx_source(model: ModelProto, path: Path, weights: str) -> SourceFile:
    """Return the source of a normalised message, after checking its tensors and reading its small external data."""
    from vinculum.models.onnx.file import anchor_tensors, readable, stored_tensors, without_weights

    entries = (entry for tensor, _ in stored_tensors(model) for entry in tensor.external_data)
    places = dict.fromkeys(entry.value for entry in entries if entry.key == "location")
    own = () if path is _IN_MEMORY else (path,)
    with readable(path):
        unknown = without_weights(model, path.parent) if weights == "unknown" else ()
        anchor_tensors(model, path.parent)
    return SourceFile(path, b"", model, (*own, *(path.parent / place for place in places)), unknown)


def _content_of(file: Path) -> bytes:
    where = repr(str(file))
    try:
        size = regular_size(file)
        content = file.read_bytes()
    except (OSError, ValueError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or one_line(error)
        raise ModelError(f"model {where} cannot be read: {reason}") from None
    if size == 0:
        raise ModelError(f"model {where} is empty; give an ONNX file or an OpenVINO IR file (.xml)")
    return content


def _is_openvino_ir(file: Path, content: bytes) -> bool:
    suffix = file.suffix.lower()
    if suffix in (".onnx", ".xml"):
        return suffix == ".xml"
    return content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"
