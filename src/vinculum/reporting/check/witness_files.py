"""``vinculum check --witness FOLDER``: what shows a finding as an .npz file, and a script that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


_SCRIPT = """\
import ml_dtypes  # it teaches NumPy the names bfloat16 and others
import numpy as np
import vinculum

{arrays}
place = ({scope!r}, {node!r})


def observe(record):
    if (record.division.path, record.division.name) == place:
        count = int(({counted}).sum())
        print(place[1], {words!r}, count, 'of', record.quotient.size, 'places')


model = vinculum.load({model!r})
outputs = model.run(inputs, zero_divisor='zero', observer=observe)
for name, value in outputs.items():
    wide = value.astype(float)
    print(name, 'NaN:', int(np.isnan(wide).sum()), 'infinite:', int(np.isinf(wide).sum()), 'of', value.size)
"""

_INNER_SCRIPT = """\
import ml_dtypes  # it teaches NumPy the names bfloat16 and others
import numpy as np
import onnx
import vinculum.backend

{arrays}
tensor, divisor = {tensor!r}, {divisor!r}
model = onnx.load({model!r})
for node in model.graph.node:  # What makes the tensor makes another, and the tensor is an input.
    node.output[:] = ['not ' + name if name == tensor else name for name in node.output]

value = inputs.pop({member!r})
code = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
model.graph.input.append(onnx.helper.make_tensor_value_info(tensor, code, value.shape))
model.graph.output.add(name=divisor)
given = {{**inputs, tensor: value}}
names = [one.name for one in model.graph.input if one.name in given]
outputs = vinculum.backend.run_model(model, [given[name] for name in names])
print(divisor, 'is zero in', int((outputs[-1] == 0).sum()), 'of', outputs[-1].size, 'places')
"""

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
    """Write every witness and return the scripts; each is written whole or not at all."""
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
    witness = finding.witness
    assert witness is not None
    inner = witness.value is not None
    arrays = {**witness.inputs} if witness.value is None else {**witness.inputs, _INNER: witness.value}
    data = script.with_suffix(".npz")
    words, counted = _SHOWN.get(finding.rule, _SHOWN["zero-divisor"])
    facts = {"scope": finding.scope, "node": finding.node, "divisor": finding.divisor, "tensor": witness.tensor}
    body = (_INNER_SCRIPT if inner else _SCRIPT).format(
        arrays=_arrays(arrays, data), words=words, counted=counted, model=str(model), member=_INNER, **facts
    )
    title = f"{finding.severity.value}: {finding.rule} at {one_line(finding.node)}"
    head = "".join(f"# {line}\n" for line in (title, message(finding), witness_words(finding)))
    with atomic_write(script, make_folder=True) as folder:
        np.savez_compressed(
            folder / data.name, allow_pickle=False, **{n: a.view(stored_dtype(a.dtype)) for n, a in arrays.items()}
        )
        (folder / script.name).write_text(head + body, encoding="utf-8", newline="\n")


def _arrays(arrays: Mapping[str, NDArray[Any]], data: Path) -> str:
    """Return the lines of a program that read arrays, of types that .npz files have no name for too."""
    views = {
        n: f".view(ml_dtypes.{a.dtype.name})" if stored_dtype(a.dtype) != a.dtype else "" for n, a in arrays.items()
    }
    members = "".join(f"    {name!r}: data[{name!r}]{view},\n" for name, view in views.items())
    return f"data = np.load({str(data)!r})\ninputs = {{\n{members}}}"
