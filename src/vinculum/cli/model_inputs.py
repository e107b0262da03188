"""The inputs of a run of a model: read from files, or drawn from a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from vinculum.cli.input_files import InputFile, input_files, read_inputs
from vinculum.errors import ModelError
from vinculum.models.sampling.drawn_inputs import DrawnInput, dimension_sizes, draw, useful_size
from vinculum.models.values import ModelTensor
from vinculum.reporting.models.run_report import InputReport


@dataclass(frozen=True, eq=False)
class ModelInputs:
    """The inputs of a run of a model.

    Attributes
    ----------
    tensors : sequence of ModelTensor
        The inputs that the model declares.
    files : Mapping of str to InputFile
        The given files, by input.
    drawn : Mapping of str to DrawnInput
        The drawn inputs, by input.
    arrays : Mapping of str to ndarray
        The arrays, read and drawn, by input.
    """

    tensors: Sequence[ModelTensor]
    files: Mapping[str, InputFile]
    drawn: Mapping[str, DrawnInput]
    arrays: Mapping[str, NDArray[Any]]

    def reports(self) -> tuple[InputReport, ...]:
        """Return the report on each input, in the model's order."""
        return tuple(self._report(tensor) for tensor in self.tensors if tensor.name in self.arrays)

    def _report(self, tensor: ModelTensor) -> InputReport:
        file, drawn = self.files.get(tensor.name), self.drawn.get(tensor.name)
        return InputReport(
            tensor.name,
            str(tensor.element_type),
            self.arrays[tensor.name].shape,
            "seed" if file is None else "file",
            None if file is None else str(file),
            {} if drawn is None else drawn.assumed,
        )


def model_inputs(
    tensors: Sequence[ModelTensor],
    options: Sequence[str],
    seed: int | None,
    dims: Sequence[str],
    *,
    large: bool = False,
) -> ModelInputs:
    """Return the inputs given by ``--input``, ``--seed`` and ``--dim``.

    Dimensions without a given size are 1, or with `large` a useful size.

    Raises
    ------
    ModelError
        If an option is malformed, a file cannot be read, or an input is neither given nor drawn.
    """
    files = input_files(options, tensors)
    read = read_inputs(files, tensors)
    sizes = dimension_sizes(dims, tensors, read)
    missing = [(k, t) for k, t in enumerate(tensors) if t.name not in read and not t.optional]
    if missing and seed is None:
        first = ", ".join(str(tensor) for _, tensor in missing[:10])
        option = f"--input {missing[0][1].name}=FILE"
        raise ModelError(f"no array for input {first}; give one with {option}, or draw it with --seed 0")
    others = useful_size(tensors, sizes) if large else 1
    drawn = {tensor.name: draw(tensor, position, seed or 0, sizes, others) for position, tensor in missing}
    return ModelInputs(tensors, files, drawn, {**read, **{name: one.array for name, one in drawn.items()}})
