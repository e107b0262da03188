"""The fast twin: scalar rules in numba, the loops and threads that apply them; knows nothing of specifications."""

from dataclasses import dataclass


@dataclass(frozen=True)
class _Backend:
    name: str
    target: str | None


def backend() -> _Backend:
    """Return the backend that divides: a placeholder."""
    try:
        from vinculum.kernels import _core  # type: ignore[attr-defined, unused-ignore]
    except ImportError:
        return _Backend("portable", None)
    return _Backend("core", str(_core.target()))
