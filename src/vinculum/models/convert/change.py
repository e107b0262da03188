"""What a conversion hands back: the model, and what was changed in it and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """One node that is not what it was.

    Attributes
    ----------
    node : str
        What messages call it: ``"node 'ratio' (Div-14)"``.
    what : str
        What was done, in words: ``"operands cast to int32, quotient cast back"``.
    why : str
        What asked for it: ``"Div-13 has no int8"``.
    """

    node: str
    what: str
    why: str
