"""The files that a model is read from: none of them may be replaced by what is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from vinculum.errors import ModelError
from vinculum.models.model_file import content_of
from vinculum.models.onnx.file import all_tensors, parse


def check_spared(source: Path, ir: bool, places: Iterable[Path]) -> None:
    """Refuse to write where the source is, or the data that belong to it.

    Parameters
    ----------
    source : Path
        The model.
    ir : bool
        Whether it is OpenVINO IR.
    places : iterable of Path
        Where files are to be.

    Raises
    ------
    ModelError
        The line names the first file that would be lost.
    """
    taken = [place for place in places if place.exists()]
    if not taken:
        return  # The source need not be read again.
    own = [source, source.with_suffix(".bin")] if ir else [source, *_external_data(source)]
    for place in taken:
        if any(file.exists() and place.samefile(file) for file in own):
            belongs = "" if place.samefile(source) else f" the data {str(place)!r} of"
            raise ModelError(f"the result would replace{belongs} the model {str(source)!r}; give another -o")


def _external_data(source: Path) -> Iterator[Path]:
    for tensor in all_tensors(parse(content_of(source), source)):
        for entry in tensor.external_data:
            if entry.key == "location":
                yield source.parent / entry.value
