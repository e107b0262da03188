"""Programs in C load the library too: examples/exact_divisions.c, against the ONNX Runtime that is installed here."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import onnx
import onnx.parser
import onnxruntime
import pytest

from tests.optional import skip_or_fail
from tests.processes import output_of, run
from vinculum.onnxruntime import get_library_path

SOURCE = Path(__file__).parents[3] / "examples" / "exact_divisions.c"
HEADER = "onnxruntime/onnxruntime_c_api.h"


def test_a_program_in_c(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        skip_or_fail(request, "a C compiler: apt install gcc")
    if run([compiler, "-fsyntax-only", "-x", "c", "-"], input=f"#include <{HEADER}>\n").returncode != 0:
        skip_or_fail(request, f"{HEADER}: apt install libonnxruntime-dev, or name its folder in CPATH")
    libraries = sorted((Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*"))
    if not libraries:
        skip_or_fail(request, "libonnxruntime.so.*, which the wheels for Linux hold")
    program, model = tmp_path / "exact_divisions", tmp_path / "model.onnx"
    (tmp_path / "libonnxruntime.so.1").symlink_to(libraries[0])
    warnings = ["-Wall", "-Wextra", "-Werror"]
    output_of([compiler, "-O1", *warnings, "-o", program, SOURCE, libraries[0], f"-Wl,-rpath,{tmp_path}"])
    onnx.save(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["": 14]> model (int32[3] a, int32[3] b) => (int32[3] c) { c = Div(a, b) }'
        ),
        model,
    )
    # No LeakSanitizer and the like of the caller's: this is another program.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    assert output_of([program, get_library_path(), model], env=environment) == "3 2147483647 -3\n"
