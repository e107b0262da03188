"""The two runs of an audited model: as it is, and with its divisions exposed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vinculum.conformance.audit.points import Point, Subject
from vinculum.errors import ModelError
from vinculum.models.onnx.file import write_model
from vinculum.models.source import read_source
from vinculum.sandbox import Answer, End, Isolated


def both_runs(
    subject: Subject, inputs: Mapping[str, Any], process: Isolated, title: str
) -> tuple[Subject, Answer, Answer]:
    """Return what became of the model as it is and exposed, and before them which model was exposed in the end.

    If a runtime does not take bodies that hand out values, they keep them. What hangs is not run again.

    Parameters
    ----------
    subject : Subject
        The model.
    inputs : Mapping of str to array
        What it is run on.
    process : Isolated
        The runtime.
    title : str
        What sentences call the runtime.

    Raises
    ------
    ModelError
        If the exposed model cannot be written.
    """
    plain = process.call("run", subject.file.absolute(), inputs)
    if plain.end is End.HUNG:
        return subject, plain, plain
    exposed = _exposed_run(subject, process, inputs)
    hopeless = exposed.end is End.HUNG and plain.end is not End.RETURNED
    if exposed.end is not End.RETURNED and subject.exposes_bodies and not hopeless:
        why = f"{title} does not run the model with its values handed out: {end_in_words(exposed)}"
        subject = _without_bodies(subject, why)
        exposed = _exposed_run(subject, process, inputs)
    return subject, plain, exposed


def end_in_words(answer: Answer) -> str:
    """Return how a call ended: ``"crashed (SIGFPE)"``."""
    return f"{answer.end.value} ({answer.words})" if answer.words else answer.end.value


def _exposed_run(subject: Subject, process: Isolated, inputs: Mapping[str, Any]) -> Answer:
    if subject.exposed is None:
        return process.call("run_exposed", subject.file.absolute(), inputs)
    try:
        with TemporaryDirectory(prefix="vinculum-") as folder:
            path = Path(folder) / "exposed.onnx"
            write_model(subject.exposed, path)
            answer = process.call("run", path, inputs)
    except OSError as error:
        raise ModelError(f"the model with its divisions exposed cannot be put into a file: {error}") from None
    return replace(answer, words=answer.words.replace(f"{folder}{os.sep}", ""))


def _without_bodies(subject: Subject, why: str) -> Subject:
    """Return the model with bodies that keep their values, and tell so of the divisions in them."""
    from vinculum.conformance.audit.onnx_subject import onnx_subject

    plainer = onnx_subject(read_source(subject.file), with_bodies=False)
    pairs = zip(subject.points, plainer.points, strict=True)
    return replace(plainer, points=tuple(_explained(before, after, why) for before, after in pairs))


def _explained(before: Point, after: Point, why: str) -> Point:
    if before.unobserved is not None or after.unobserved is None:
        return after
    return replace(after, unobserved=f"{after.unobserved}; {why}")
