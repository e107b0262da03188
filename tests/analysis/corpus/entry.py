"""One labelled model: what is to be found in it, and the run or the reason that the label rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class Entry:
    """A model and its label.

    Attributes
    ----------
    name : str
        Of the entry.
    model : str
        The model, as `onnx.parser` reads it, or the name of a file beside this one.
    rules : tuple of str
        The hazards that it has; none: it is a control.
    source : str
        Where such models come from: ``"by hand"``, ``"torch"``, ``"torchscript, opset 11"``, ``"transformers, torch"``.
    assume, as_type, profile
        What it is checked with.
    witness : Mapping, optional
        Inputs on which a run shows the first of the hazards.
    inner : tuple of str
        Values inside; each made zeros shows the first of the hazards.
    reason : str
        Why the label is right where no run shows it.
    wrongly : tuple of str
        Hazards that are found though they are not there: known false alarms.
    """

    name: str
    model: str
    rules: tuple[str, ...] = ()
    source: str = "by hand"
    assume: tuple[str, ...] = ()
    as_type: str | None = None
    profile: tuple[str, ...] = ()
    witness: Mapping[str, Any] = field(default_factory=dict)
    inner: tuple[str, ...] = ()
    reason: str = ""
    wrongly: tuple[str, ...] = ()
