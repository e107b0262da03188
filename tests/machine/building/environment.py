"""The folders of a build, and the compilers that it looks for."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
# Where `make test` builds the core, and the library for ONNX Runtime.
BUILT = ROOT / "build" / "editable" / "src" / "vinculum" / "kernels" / "core"
BUILT_LIBRARY = BUILT.parents[1] / "onnxruntime" / "library"
PROGRAMS = Path(sys.executable).parent
COMPILERS = ("c++", "g++", "clang++", "icpx", "nvc++", "cl")
