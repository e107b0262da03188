"""``vinculum check --witness FOLDER``: what shows a finding as an .npz file, and a script that shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.analysis.findings import Finding
from vinculum.analysis.triage import Triage
from vinculum.files import atomic_write, file_stem
from vinculum.reporting.check.words import message, witness_words
from vinculum.reporting.escape import one_line
from vinculum.tensors.storage import stored_dtype

_INNER = "the inner tensor"
"""The member of the .npz file that holds it; a model's input would hardly be called so."""


_SHOWN = {
    "zero-divisor": ("divides by zero in", "np.broadcast_to(record.divisor == 0, record.quotient.shape)"),
    "min-over-minus-one": (
        "divides the smallest integer by -1 in",
        "(record.dividend == np.iinfo(record.dividend.dtype).min) & (record.divisor == -1)",
    ),
    "quotient-overflow": ("overflows in", "np.isinf(record.quotient)"),
    "subnormal-divisor": (
        "divides by a subnormal number in",
        "(record.divisor != 0) & (abs(record.divisor) < np.finfo(record.divisor.dtype).smallest_normal)",
    ),
}
"""What a script counts in a division, by rule: words, and an expression."""


def write_witnesses(triages: Sequence[Triage], folder: Path) -> list[Path]:
    """Write every witness and return the scripts; each is written whole or not at all.

    Raises
    ------
    OSError, ModelError
        If the folder or a file cannot be written.
    """
    scripts = []
    for triage in triages:
        stem = file_stem(Path(triage.model).stem)
        for number, finding in enumerate(triage.open, 1):
            if finding.witness is not None:
                script = folder.absolute() / f"{stem}-{number:02d}-{finding.rule}.py"
                _write(finding, Path(triage.model).absolute(), script)
                scripts.append(script)
    return scripts


def _write(finding: Finding, model: Path, script: Path) -> None:
    assert finding.witness is not None
    arrays = {**finding.witness.inputs}
    if finding.witness.value is not None:
        arrays[_INNER] = finding.witness.value
    data = script.with_suffix(".npz")
    with atomic_write(script, make_folder=True) as folder:
        np.savez_compressed(
            folder / data.name, allow_pickle=False, **{n: a.view(stored_dtype(a.dtype)) for n, a in arrays.items()}
        )
        lines = (
            _inner_script(finding, model, data) if finding.witness.kind == "inner" else _script(finding, model, data)
        )
        (folder / script.name).write_text("\n".join([*_head(finding), *lines, ""]), encoding="utf-8", newline="\n")


def _head(finding: Finding) -> Iterator[str]:
    title = f"{finding.severity.value}: {finding.rule} at {one_line(finding.node)}"
    yield f"# {title}"
    yield f"# {message(finding)}"
    yield f"# {witness_words(finding)}"


def _arrays(arrays: Mapping[str, NDArray[Any]], data: Path) -> Iterator[str]:
    yield f"data = np.load({str(data)!r})"
    yield "inputs = {"
    for name, array in arrays.items():
        typed = f".view(ml_dtypes.{array.dtype.name})" if stored_dtype(array.dtype) != array.dtype else ""
        yield f"    {name!r}: data[{name!r}]{typed},"
    yield "}"


def _script(finding: Finding, model: Path, data: Path) -> Iterator[str]:
    assert finding.witness is not None
    yield "import ml_dtypes  # it teaches NumPy the names bfloat16 and others"
    yield "import numpy as np"
    yield "import vinculum"
    yield ""
    yield from _arrays(finding.witness.inputs, data)
    yield f"place = ({finding.scope!r}, {finding.node!r})"
    yield ""
    yield ""
    yield "def observe(record):"
    yield "    if (record.division.path, record.division.name) == place:"
    words, counted = _SHOWN.get(finding.rule, _SHOWN["zero-divisor"])
    yield f"        count = int(({counted}).sum())"
    yield f"        print(place[1], {words!r}, count, 'of', record.quotient.size, 'places')"
    yield ""
    yield ""
    yield f"model = vinculum.load({str(model)!r})"
    yield "outputs = model.run(inputs, zero_divisor='zero', observer=observe)"
    yield "for name, value in outputs.items():"
    yield "    wide = value.astype(float)"
    yield "    print(name, 'NaN:', int(np.isnan(wide).sum()), 'infinite:', int(np.isinf(wide).sum()), 'of', value.size)"


def _inner_script(finding: Finding, model: Path, data: Path) -> Iterator[str]:
    assert finding.witness is not None
    assert finding.witness.value is not None
    value = finding.witness.value
    yield "import ml_dtypes  # it teaches NumPy the names bfloat16 and others"
    yield "import numpy as np"
    yield "import onnx"
    yield "import vinculum.backend"
    yield ""
    yield from _arrays({**finding.witness.inputs, _INNER: value}, data)
    yield f"tensor, divisor = {finding.witness.tensor!r}, {finding.divisor!r}"
    yield f"model = onnx.load({str(model)!r})"
    yield "for node in model.graph.node:  # What makes the tensor makes another, and the tensor is an input."
    yield "    node.output[:] = ['not ' + name if name == tensor else name for name in node.output]"
    yield ""
    yield f"value = inputs.pop({_INNER!r})"
    yield "code = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)"
    yield "model.graph.input.append(onnx.helper.make_tensor_value_info(tensor, code, value.shape))"
    yield "model.graph.output.add(name=divisor)"
    yield "given = {**inputs, tensor: value}"
    yield "names = [one.name for one in model.graph.input if one.name in given]"
    yield "outputs = vinculum.backend.run_model(model, [given[name] for name in names])"
    yield "print(divisor, 'is zero in', int((outputs[-1] == 0).sum()), 'of', outputs[-1].size, 'places')"
