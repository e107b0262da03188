"""Every operator that the analysis knows, by domain and name, from the tables of the modules here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from vinculum.analysis.transfer.declarations import Operator
from vinculum.analysis.transfer.operators import (
    activations,
    arithmetic,
    casts,
    contrib,
    generators,
    indexing,
    linear,
    logic,
    normalisation,
    reductions,
    shapes,
    windows,
)
from vinculum.errors import ModelError
from vinculum.text import one_line, quoted

GROUP = "vinculum.operators"
"""The group of entry points for operators of other packages; each is named by the domain, a dot, and the name."""
_STANDARD = (
    *(activations, arithmetic, casts, generators, indexing, linear),
    *(logic, normalisation, reductions, shapes, windows),
)
TABLE: dict[tuple[str, str], Operator] = {
    **{("", name): operator for module in _STANDARD for name, operator in module.TABLE.items()},
    **{(contrib.MICROSOFT, name): operator for name, operator in contrib.TABLE.items()},
}
"""What is known of operators; of any other only the body by which ONNX defines it is, or the declared type."""


def operator_of(domain: str, name: str) -> Operator | None:
    """Return what is known of an operator, from the table or from a plug-in; None if nothing is.

    ModelError if a plug-in cannot be loaded.
    """
    known = TABLE.get(("" if domain == "ai.onnx" else domain, name))
    return known if known is not None or not domain else _plugged_in(f"{domain}.{name}")


def divides_inside(domain: str, name: str) -> bool:
    """Tell whether an operator divides by what no node computes."""
    known = operator_of(domain, name)
    return known is not None and known.hidden is not None


@cache
def _points() -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def _plugged_in(name: str) -> Operator | None:
    point = _points().get(name)
    if point is None:
        return None
    where = f"the plug-in {quoted(point.value)} for operator {quoted(name)}"
    try:
        loaded: Operator | Callable[..., object] = point.load()
    except (Exception, SystemExit) as error:  # Whatever the module of another package raises; a script may exit.
        raise ModelError(f"{where} cannot be loaded: {one_line(error)}; repair or remove its package") from None
    if isinstance(loaded, Operator):
        return loaded
    if not callable(loaded):
        raise ModelError(f"{where} is {type(loaded).__name__}; give an Operator or a function")
    return Operator(loaded)  # type: ignore[arg-type]  # What it returns is seen when it is called.
