"""The programs that a build finds, and a division that shows that an installation works."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.processes import output_of

ROOT = Path(__file__).parents[3]
# Where `make test` builds the core, and the library for ONNX Runtime.
BUILT = ROOT / "build" / "editable" / "src" / "vinculum" / "kernels" / "core"
BUILT_LIBRARY = BUILT.parents[1] / "onnxruntime" / "library"
PROGRAMS = Path(sys.executable).parent
COMPILERS = ("c++", "g++", "clang++", "icpx", "nvc++", "cl")

DIVISION = """
import numpy as np, vinculum
print(vinculum.__file__, vinculum.div(np.int8([-7]), np.int8([2])), vinculum.div(np.float32([-7]), np.float32([2])))
"""


def finding(*folders: str | Path) -> dict[str, str]:
    """Return the environment in which programs are looked for in these folders, and no compiler is named."""
    inherited = {name: value for name, value in os.environ.items() if name not in {"CC", "CXX", "PYTHONPATH"}}
    return inherited | {"PATH": os.pathsep.join(map(str, folders))}


def backend_of(python: str | Path, environment: dict[str, str], folder: Path) -> tuple[str, str | None]:
    """Return what divides in an installation, which must be the one in a folder, and its target."""
    file, *quotients = output_of([python, "-c", DIVISION], cwd=folder, env=environment).split()
    assert Path(file).is_relative_to(folder)
    assert quotients == ["[-3]", "[-3.5]"]
    told: dict[str, Any] = json.loads(
        output_of([python, "-m", "vinculum", "info", "--json"], cwd=folder, env=environment)
    )
    return told["backend"], told["target"]
