"""Each adapter works with the real package: it starts, answers small numbers exactly, refuses, and its programs run.

All other answers of the runtimes are in known_deviations/.
"""

from __future__ import annotations

import pickle
from functools import cache
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tests.conformance.asking import answer, message, operation, same_bits, small
from tests.conformance.runtimes.test_reproducers import ONNX, OPENVINO
from tests.optional import package_or_skip, program_or_skip
from tests.processes import output_of, python, run
from vinculum import reference
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.backends import check_usable, runtime
from vinculum.errors import ModelError
from vinculum.ops.onnx import div
from vinculum.sandbox import End
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT16, INT4, INT32, INT64, UINT4, UINT8, ElementType
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1

A = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
TYPES = (FLOAT16, FLOAT, DOUBLE, INT32, INT64, UINT8)
SPECS = {"onnxruntime": DIV_14, "openvino": DIVIDE_1, "torch": DIV_14, "jax": DIV_14, "onnx-reference": DIV_14}
BACKENDS = {
    "onnxruntime": ("onnxruntime[graph_optimization_level=disable,session.set_denormal_as_zero=0]",),
    "openvino": ("openvino[INFERENCE_NUM_THREADS=1]", "openvino[device=AUTO:CPU]"),
    "jax": ("jax[jit=true]",),
}


@pytest.fixture(params=SPECS)
def name(request: pytest.FixtureRequest) -> str:
    """Return the name of a runtime that is installed."""
    named: str = request.param
    if named != "onnx-reference":
        package_or_skip(request, named)
    return named


def halves(name: str, element_type: ElementType, constant: bool = False) -> Operation:
    """Return an operation whose quotients are exact in any arithmetic; OpenVINO's are of both of its dialects."""
    spec = SPECS[name] if element_type.is_integer else DIV_14
    dtype = np.dtype(element_type.numpy)
    operands = np.array([[8, 4, 2], [12, 6, 16]]).astype(dtype), np.array([2, 1, 2]).astype(dtype)
    return operation(spec, *operands, constant=constant)


def test_exact_quotients(name: str) -> None:
    runtime(name).check()
    placements = (False,) if name in ("torch", "jax") else (False, True)
    asked = [halves(name, element_type, constant) for element_type in TYPES for constant in placements]
    backends = (name, *BACKENDS.get(name, ()))
    for backend in backends:
        for one, given in zip(asked, answer(backend, *asked), strict=True):
            assert (given.end, given.words) == (End.RETURNED, "")
            assert same_bits(given.value, div(*one.operands)), backend
    assert all(runtime(name).covers(one) for one in asked)
    assert runtime(name).versions()


def test_shapes(name: str) -> None:
    strided = np.arange(12, dtype=np.float32).reshape(3, 4).T[::-1]
    asked = [operation(DIV_14, np.empty((0, 3), np.float32), np.ones(3, np.float32)), halves(name, FLOAT)]
    asked += [operation(DIV_14, np.array(8, np.float32), np.array(2, np.float32))]
    asked += [operation(DIV_14, strided, np.full((4, 1), np.float32(2)))]
    for one, given in zip(asked, answer(name, *asked), strict=True):
        assert given.value.shape == np.broadcast_shapes(*(operand.shape for operand in one.operands))
    assert same_bits(np.asarray(given.value), strided / np.float32(2))


def test_refusals(name: str) -> None:
    (given,) = answer(name, operation(DIV_14, np.ones(2, np.float32), np.ones(3, np.float32)))
    assert given.end is End.REFUSED
    assert given.words


@pytest.mark.parametrize("backend", ["torch[device=cuda]", "jax[platform=gpu]"])
def test_a_device_that_is_not_there(backend: str, request: pytest.FixtureRequest) -> None:
    package_or_skip(request, backend.partition("[")[0])
    try:
        check_usable(backend, runtime(backend))
    except ModelError as error:
        words = str(error)
    else:
        words = "cannot be started"  # There is such a device.
    assert "cannot be started" in words


def unusable(backend: str) -> str:
    """Return why a runtime cannot be used."""
    return message(ModelError, lambda: check_usable(backend, runtime(backend)))


def test_options_of_openvino() -> None:
    assert "no device 'NPU.7' here; it has: " in unusable("openvino[device=NPU.7]")
    assert "NONSENSE" in unusable("openvino[NONSENSE=1]")


def test_options_of_onnxruntime() -> None:
    """A configuration entry reaches the session."""
    asked = operation(DIV_14, np.array([1e-45], np.float32), np.ones(1, np.float32))
    (flushed,) = answer("onnxruntime[session.set_denormal_as_zero=1]", asked)
    assert flushed.value.tolist() == [0.0]


def test_every_encoding_of_bfloat16_is_passed_on(torch_or_skip: object) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16)
    quotients = runtime("torch").answer(operation(DIV_14, every, np.ones((), ml_dtypes.bfloat16)))
    numbers = (every.view(np.uint16) & 0x7FFF) <= 0x7F80
    assert same_bits(quotients[numbers], every[numbers])


@pytest.mark.parametrize("element_type", [INT4, UINT4, BFLOAT16], ids=str)
def test_types_that_numpy_lacks(element_type: ElementType) -> None:
    asked = halves("openvino", element_type)
    a, b = (np.where(operand > 7, 4, operand.astype(np.int64)).astype(operand.dtype) for operand in asked.operands)
    quotients = reference.divide(a, np.broadcast_to(b, a.shape), element_type)
    assert same_bits(runtime("openvino").answer(operation(DIVIDE_1, a, b)), quotients)


LIBRARY = """
static int created, registered;
void *CreateEpFactories(const char *name, const void *api, const void *log, void **made, unsigned long most,
                        unsigned long *count) { (void)name; (void)api; (void)log; (void)made; (void)most;
                        created++; *count = 0; return 0; }
void *ReleaseEpFactory(void *factory) { (void)factory; return 0; }
void *RegisterCustomOps(void *options, const void *api) { (void)options; (void)api; registered++; return 0; }
"""


@pytest.fixture(scope="module")
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a library without providers and operators."""
    compiler = program_or_skip(request, "cc")
    folder = tmp_path_factory.mktemp("library")
    (folder / "nothing.c").write_text(LIBRARY)
    built = run([compiler, "-shared", "-fPIC", "-o", str(folder / "nothing.so"), str(folder / "nothing.c")])
    assert built.returncode == 0, built.stderr
    return folder / "nothing.so"


class TestLibraries:
    """Libraries of ONNX Runtime with execution providers or custom operators."""

    def test_custom_operators(self, library: Path) -> None:
        asked = small(DIV_14, UINT8, False)
        made = runtime(f"onnxruntime[operator_library={library}]")
        made.check()
        assert same_bits(made.answer(asked), div(*asked.operands))
        assert output_of(python(made.reproducer(asked))).splitlines()[-1].endswith("dtype=uint8)")

    def test_a_library_without_the_provider(self, library: Path) -> None:
        line = unusable(f"onnxruntime[provider=Mine,provider_library={library}]")
        assert line.startswith("ONNX Runtime has no execution provider 'Mine' here; it has: CPUExecutionProvider")

    def test_a_provider_by_its_devices(self, library: Path) -> None:
        """The CPU's own provider is taken by its devices, as one of a plug-in would be."""
        asked = small(DIV_14, UINT8, False)
        backend = f"onnxruntime[provider=CPUExecutionProvider,provider_library={library}]"
        (given,) = answer(backend, asked)
        assert given.end is End.RETURNED, given.words
        assert same_bits(given.value, div(*asked.operands))
        assert output_of(python(runtime(backend).reproducer(asked))).splitlines()[-1].endswith("dtype=uint8)")

    @pytest.mark.parametrize("options", ["operator_library", "provider=A,provider_library"])
    def test_an_invalid_library(self, options: str) -> None:
        assert unusable(f"onnxruntime[{options}={__file__}]")


CALLS = [small(DIV_14, FLOAT, False), small(DIVIDE_1, INT32, False)]
PROGRAMS = {
    "onnxruntime": ONNX,
    "onnxruntime[graph_optimization_level=disable,session.set_denormal_as_zero=0]": ONNX[:1],
    "openvino": [*ONNX[:9], *OPENVINO],
    "openvino[INFERENCE_NUM_THREADS=1]": OPENVINO[:1],
    "onnx-reference": ONNX,
    "torch": CALLS,
    "jax[jit=true]": CALLS,
}

# Runs all programs of a runtime in one process, each in its own namespace. A bug in a program is no refusal.
RUNNER = """
import contextlib, io, pickle, sys
shown = []
for source in pickle.load(sys.stdin.buffer):
    output = io.StringIO()
    code = compile(source, "reproducer", "exec")
    try:
        with contextlib.redirect_stdout(output):
            exec(code, {})
        shown.append(output.getvalue())
    except (NameError, ImportError, AttributeError):
        raise
    except Exception:
        shown.append("refused")
pickle.dump(shown, sys.stdout.buffer)
"""


@cache
def shown(backend: str) -> list[str]:
    """Return the output of the programs, run in a process that the runtime may leave in another state."""
    programs = pickle.dumps([runtime(backend).reproducer(one) for one in PROGRAMS[backend]])
    done = run(python(RUNNER), input=programs, text=False)
    assert done.returncode == 0, done.stderr
    texts: list[str] = pickle.loads(done.stdout)
    return texts


@pytest.mark.parametrize("backend", PROGRAMS)
def test_programs_show_the_same(backend: str, request: pytest.FixtureRequest) -> None:
    if backend != "onnx-reference":
        package_or_skip(request, backend.partition("[")[0])
    given = answer(backend, *PROGRAMS[backend])
    with np.printoptions(floatmode="unique"):
        expected = [repr(one.value) if one.end is End.RETURNED else "refused" for one in given]
    for text, value in zip(shown(backend), expected, strict=True):
        assert text == "refused" if value == "refused" else text.endswith(f"\n{value}\n")
