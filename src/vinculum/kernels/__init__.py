"""The fast twin: scalar rules in numba, the loops and threads that apply them; knows nothing of specifications."""

from __future__ import annotations

from vinculum.kernels.contract import Backend


def backends() -> tuple[Backend, ...]:
    """Return every backend that this machine has; the portable one comes first."""
    from vinculum.kernels.portable import Portable

    return (Portable(),)
