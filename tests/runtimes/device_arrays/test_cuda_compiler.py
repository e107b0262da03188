"""CUDA's compiler, with CuPy's options, compiles the kernels to correctly rounded divisions; no device is needed."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.device_arrays import cpu_cupy
from tests.machine.device_arrays.test_quotients import C_TYPES, INTEGER_RULES
from tests.optional import skip_or_fail
from vinculum.device_arrays.kernels import NARROW

KERNELS = "vinculum.device_arrays.kernels"
OPTIONS = ("-ftz=true", "--device-as-default-execution-space")  # CuPy 14's own: cupy/cuda/compiler.py
ARCHITECTURES = ("compute_75", "compute_90")
INTEGERS = [name for name in C_TYPES if "int" in name]

Compiled = Callable[[Any, str, str], str]


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the module of the kernels, imported with a stand-in for CuPy that keeps their sources."""
    monkeypatch.setitem(sys.modules, "cupy", cpu_cupy)
    monkeypatch.delitem(sys.modules, KERNELS, raising=False)
    __import__(KERNELS)
    return sys.modules.pop(KERNELS)


@pytest.fixture(scope="module")
def nvrtc() -> Any:
    """Return CUDA's compiler as a library; None without it."""
    package = find_spec("nvidia") and find_spec("nvidia.cuda_nvrtc")
    for folder in (package and package.submodule_search_locations) or ():
        for file in sorted(Path(folder, "lib").glob("libnvrtc.so.*")):
            return ctypes.CDLL(str(file))
    return None


@pytest.fixture
def compiled(nvrtc: Any, request: pytest.FixtureRequest) -> Compiled:
    """Return a function that compiles kernels of one element type to PTX."""
    if nvrtc is None:
        skip_or_fail(request, "CUDA's compiler: pip install nvidia-cuda-nvrtc-cu12")

    def text(program: ctypes.c_void_p, of: str) -> str:
        size = ctypes.c_size_t()
        assert nvrtc[f"nvrtcGet{of}Size"](program, ctypes.byref(size)) == 0
        content = ctypes.create_string_buffer(size.value)
        assert nvrtc[f"nvrtcGet{of}"](program, content) == 0
        return content.value.decode()

    def ptx(kernels: Any, c_type: str, architecture: str) -> str:
        functions = "".join(
            f"""extern "C" __global__ void kernel{number}(const T* a, const T* b, T* c, int* exceptional) {{
                const T dividend = a[threadIdx.x], divisor = b[threadIdx.x];
                T& quotient = c[threadIdx.x];
                {kernel.operation};
            }}"""
            for number, kernel in enumerate(kernels)
        )
        source = f"{kernels[0].preamble}\ntypedef {c_type} T;\n{functions}"
        program = ctypes.c_void_p()
        assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None) == 0
        options = [option.encode() for option in (*OPTIONS, f"-arch={architecture}")]
        done = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        assert (done, text(program, "ProgramLog").strip("\0\n")) == (0, "")
        return text(program, "PTX")

    return ptx


def divisions(ptx: str) -> list[str]:
    """Return the instructions that divide; fail if one is an approximation."""
    assert not re.findall(r"\b(?:div\.approx|div\.full|rcp)\b", ptx)
    return re.findall(r"\b(?:div|rem)\.[a-z0-9.]+", ptx)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", [*NARROW, "float32", "float64"])
def test_floats(compiled: Compiled, kernels: Any, name: str, architecture: str) -> None:
    """Subnormal numbers are not flushed, although CuPy asks for that."""
    encodings = {"float16": "uint16", "bfloat16": "uint16"}.get(name, "uint8" if name in NARROW else name)
    ptx = compiled([kernels.float_kernel(name)], C_TYPES[encodings], architecture)
    assert divisions(ptx) == ["div.rn.f64" if name == "float64" else "div.rn.f32"]
    assert ".ftz" not in ptx


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(compiled: Compiled, kernels: Any, name: str) -> None:
    """Every rounding and policy compiles without a warning, to integer divisions only."""
    made = [kernels.integer_kernel(**rule) for rule in INTEGER_RULES]
    found = divisions(compiled(made, C_TYPES[name], ARCHITECTURES[0]))
    assert len(found) >= len(made)
    assert all(re.fullmatch(r"(?:div|rem)\.[su](?:16|32|64)", instruction) for instruction in found)
