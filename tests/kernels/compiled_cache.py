"""A folder of compiled kernels that belongs to a test alone."""

from __future__ import annotations

import os
from pathlib import Path

import vinculum
from tests.processes import importing

SOURCES = Path(vinculum.__file__).parent


def own_cache(cache: Path, sources: Path = SOURCES, **variables: str) -> dict[str, str]:
    """Return environment variables: the package is imported from `sources`, what it compiles is kept in `cache`.

    What Numba is told in this process is not told there.
    """
    inherited = {name: value for name, value in importing().items() if not name.startswith("NUMBA_")}
    path = os.pathsep.join([str(sources.parent), inherited["PYTHONPATH"]])
    own = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(cache)}
    return inherited | own | variables
