"""The runs of an audited model: unchanged, and with its divisions exposed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from vinculum.conformance.audit.taps import AuditedModel, Tap
from vinculum.errors import ModelError
from vinculum.models.onnx.file import write_model
from vinculum.models.source import read_source
from vinculum.sandbox import Answer, End, Isolated


class Runs:
    """Runs a model.

    Parameters
    ----------
    subject : AuditedModel
        The model.
    process : Isolated
        The runtime.
    title : str
        The runtime's name in sentences.
    folder : str
        The folder for the file of the exposed model.

    Attributes
    ----------
    subject : AuditedModel
        The model as it was exposed last.
    """

    def __init__(self, subject: AuditedModel, process: Isolated, title: str, folder: str) -> None:
        self.subject = subject
        self._process, self._title, self._folder = process, title, folder
        self._written: AuditedModel | None = None

    def both(self, inputs: Mapping[str, Any]) -> tuple[Answer, Answer]:
        """Return the answers of the original model and of the exposed one.

        If the runtime fails on the exposed model, it is run again without exposed values in bodies. A model that hangs
        unexposed is not run again.

        Raises
        ------
        ModelError
            If the exposed model cannot be written.
        """
        plain = self._process.call("run_model", self.subject.file.absolute(), inputs)
        if plain.end is End.HUNG:
            return plain, plain
        exposed = self.exposed(inputs)
        hopeless = exposed.end is End.HUNG and plain.end is not End.RETURNED
        if exposed.end is not End.RETURNED and self.subject.exposes_bodies and not hopeless:
            why = f"{self._title} does not run the model with its divisions exposed: {end_in_words(exposed)}"
            self.subject = _without_bodies(self.subject, why)
            exposed = self.exposed(inputs)
        return plain, exposed

    def exposed(self, inputs: Mapping[str, Any], seconds: float | None = None) -> Answer:
        """Return the answer of the exposed model, within `seconds` or, if None, the process's time limit."""
        if self.subject.exposed is None:
            return self._process.call("run_exposed", self.subject.file.absolute(), inputs, seconds=seconds)
        path = Path(self._folder) / "exposed.onnx"
        if self._written is not self.subject:
            try:
                write_model(self.subject.exposed, path)
            except OSError as error:
                raise ModelError(f"the model with its divisions exposed cannot be written: {error}") from None
            self._written = self.subject
        answer = self._process.call("run_model", path, inputs, seconds=seconds)
        return replace(answer, words=answer.words.replace(f"{self._folder}{os.sep}", ""))


def end_in_words(answer: Answer) -> str:
    """Return how a call ended: ``"crashed (SIGFPE)"``."""
    return f"{answer.end.value} ({answer.words})" if answer.words else answer.end.value


def _without_bodies(subject: AuditedModel, why: str) -> AuditedModel:
    """Return the model without exposed values in bodies, and with the reason in the taps of their divisions."""
    from vinculum.conformance.audit.onnx_subject import onnx_subject

    plainer = onnx_subject(read_source(subject.file), with_bodies=False, expand=subject.expanded > 0)
    pairs = zip(subject.taps, plainer.taps, strict=True)
    return replace(plainer, taps=tuple(_explained(before, after, why) for before, after in pairs))


def _explained(before: Tap, after: Tap, why: str) -> Tap:
    if before.unobserved is not None or after.unobserved is None:
        return after
    return replace(after, unobserved=f"{after.unobserved}; {why}")
