"""``vinculum check --witness FOLDER``: the inputs that show a finding as an .npz file, and a script that runs them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vinculum.analysis.findings import Finding
from vinculum.analysis.triage import Triage
from vinculum.files import atomic_write, file_stem
from vinculum.reporting.check.words import message, witness_words
from vinculum.reporting.escape import one_line
from vinculum.reporting.plain import rendered
from vinculum.tensors.storage import stored_dtype

_INNER = "the inner tensor"
"""The member of the .npz file for an inner tensor; hardly any input of a model has this name."""


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
"""What a script counts in a division, by rule: words and an expression."""


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
    arrays = {**witness.inputs} if witness.value is None else {**witness.inputs, _INNER: witness.value}
    data = script.with_suffix(".npz")
    words, counted = _SHOWN.get(finding.rule, _SHOWN["zero-divisor"])
    text = rendered(
        __package__,
        "witness.py.j2",
        {"repr": repr},
        told=(
            f"{finding.severity.value}: {finding.rule} at {one_line(finding.node)}",
            message(finding),
            witness_words(finding),
        ),
        finding=finding,
        arrays=arrays,
        data=str(data),
        model=str(model),
        member=_INNER,
        words=words,
        counted=counted,
        stored_dtype=stored_dtype,
    )
    with atomic_write(script, make_folder=True) as folder:
        np.savez_compressed(
            folder / data.name, allow_pickle=False, **{n: a.view(stored_dtype(a.dtype)) for n, a in arrays.items()}
        )
        (folder / script.name).write_text(text, encoding="utf-8", newline="\n")
