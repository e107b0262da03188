"""ONNX Runtime as it is installed: what it answers, what it lacks, what it dies of, and its options."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.conformance.asking import MINIMUM, answer, message, operation, same_bits, small
from tests.processes import output_of, python, run
from vinculum.conformance.runtimes.registry import runtime
from vinculum.errors import AttributeValueError, ModelError, VinculumError
from vinculum.ops.onnx import div
from vinculum.sandbox import End
from vinculum.spec.element_types import BFLOAT16, UINT8, ElementType
from vinculum.spec.onnx_div import DIV_6, DIV_7, DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_1
from vinculum.spec.openvino_divide import DIVIDE_1

onnxruntime = pytest.importorskip("onnxruntime", reason="the extra 'onnxruntime' is not installed")

OVERFLOW = (np.array([MINIMUM]), np.array([-1]))


class TestAnswers:
    """The quotient of every type that it divides, whichever way the operands come."""

    @pytest.mark.parametrize("constant", [False, True], ids=["run-time", "constant"])
    @pytest.mark.parametrize("element_type", [t for t in DIV_14.element_types if t is not BFLOAT16], ids=str)
    def test_small_numbers(self, element_type: ElementType, constant: bool) -> None:
        asked = small(DIV_14, element_type, constant)
        assert same_bits(runtime("onnxruntime").answer(asked), div(*asked.operands))

    @pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
    def test_shapes_are_kept(self, shape: tuple[int, ...]) -> None:
        ones = np.ones(shape, np.float32)
        assert same_bits(runtime("onnxruntime").answer(operation(DIV_14, ones, ones)), ones)


class TestFaults:
    """What it lacks is told from what it refuses, and both from its death."""

    def test_each(self) -> None:
        f = np.ones(2, np.float32)
        b = f.astype(ml_dtypes.bfloat16)
        operations = {
            "an old version": operation(DIV_6, f, f),
            "an old reciprocal": operation(RECIPROCAL_1, f),
            "a type without a kernel": operation(DIV_14, b, b),
            "a type that the version has not": operation(DIV_7, b, b),
            "shapes that do not fit": operation(DIV_14, f, np.ones(3, np.float32)),
            "an unknown attribute": operation(DIV_14, f, f, axis=1),
            "a zero divisor": operation(DIV_14, np.array([1]), np.array([0])),
            "MIN divided by -1": operation(DIV_14, *OVERFLOW),
            "and after it": operation(DIV_14, f, f),
        }
        answers = dict(zip(operations, answer("onnxruntime", *operations.values()), strict=True))
        assert {name: given.end.name for name, given in answers.items()} == {
            "an old version": "UNSUPPORTED",
            "an old reciprocal": "UNSUPPORTED",
            "a type without a kernel": "UNSUPPORTED",
            "a type that the version has not": "REFUSED",
            "shapes that do not fit": "REFUSED",
            "an unknown attribute": "REFUSED",
            "a zero divisor": "REFUSED",
            "MIN divided by -1": "CRASHED",
            "and after it": "RETURNED",
        }
        assert answers["an old version"].words == "Could not find an implementation for Div(6) node with name ''"
        assert answers["MIN divided by -1"].words == "SIGFPE"


class TestOptions:
    """They reach the session; what is not there is refused and never replaced."""

    @pytest.mark.parametrize(
        ("level", "expected"),
        [("", "ORT_ENABLE_ALL"), ("graph_optimization_level=disable,", "ORT_DISABLE_ALL")],
    )
    def test_each_reaches_the_session(self, monkeypatch: pytest.MonkeyPatch, level: str, expected: str) -> None:
        given: list[Any] = []
        session = onnxruntime.InferenceSession

        def recorded(model: bytes, options: Any, **keywords: Any) -> Any:
            given.append(options)
            return session(model, options, **keywords)

        monkeypatch.setattr(onnxruntime, "InferenceSession", recorded)
        runtime(f"onnxruntime[{level}intra_op_num_threads=2,session.x=y]").answer(small(DIV_14, UINT8, False))
        (options,) = given
        assert options.graph_optimization_level.name == expected
        assert options.intra_op_num_threads == 2
        assert options.get_session_config_entry("session.x") == "y"

    def test_a_session_entry_works(self) -> None:
        asked = operation(DIV_14, np.array([1e-45], np.float32), np.ones(1, np.float32))
        (kept,), (flushed,) = (answer(f"onnxruntime{o}", asked) for o in ("", "[session.set_denormal_as_zero=1]"))
        assert kept.value.tolist() == asked.operands[0].tolist()
        assert flushed.value.tolist() == [0.0]

    def test_a_provider_that_is_not_there(self) -> None:
        asked = runtime("onnxruntime[provider=CUDAExecutionProvider+CPUExecutionProvider]")
        line = message(ModelError, asked.check)
        assert "has no execution provider 'CUDAExecutionProvider' here; it has: " in line
        assert "CPUExecutionProvider" in line
        with pytest.raises(ModelError, match="no execution provider"):
            asked.answer(small(DIV_14, DIV_14.element_types[0], False))

    @pytest.mark.parametrize(
        ("options", "parts"),
        [
            ("threads=1", ("no option 'threads'", "intra_op_num_threads")),
            ("graph_optimization_level=most", ("disable, basic, extended, all",)),
            ("intra_op_num_threads=1025", ("a whole number from 0 to 1024",)),
            ("intra_op_num_threads=-1", ("a whole number from 0 to 1024",)),
        ],
    )
    def test_refused(self, options: str, parts: tuple[str, ...]) -> None:
        line = message(AttributeValueError, lambda: runtime(f"onnxruntime[{options}]"))
        assert all(part in line for part in parts)


LIBRARY = """
static int created, registered;
void *CreateEpFactories(const char *name, const void *api, const void *log, void **made, unsigned long most,
                        unsigned long *count) { (void)name; (void)api; (void)log; (void)made; (void)most;
                        created++; *count = 0; return 0; }
void *ReleaseEpFactory(void *factory) { (void)factory; return 0; }
void *RegisterCustomOps(void *options, const void *api) { (void)options; (void)api; registered++; return 0; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a library that offers no provider and no operator."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("optional here, and needed: a C compiler")
    folder = tmp_path_factory.mktemp("library")
    (folder / "nothing.c").write_text(LIBRARY)
    built = run([compiler, "-shared", "-fPIC", "-o", str(folder / "nothing.so"), str(folder / "nothing.c")])
    assert built.returncode == 0, built.stderr
    return folder / "nothing.so"


class TestLibraries:
    """Options of providers, plug-in libraries that offer them, and custom operators."""

    def test_options_of_providers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """`provider.` is the first one, a name is that one, and any other key with a dot is the session's."""
        given: list[Any] = []
        session = onnxruntime.InferenceSession

        def recorded(model: bytes, options: Any, providers: Any, **keywords: Any) -> Any:
            given.append((providers, options.get_session_config_entry("session.x")))
            return session(model, options, providers=["CPUExecutionProvider"], **keywords)

        monkeypatch.setattr(onnxruntime, "InferenceSession", recorded)
        monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["A", "CPUExecutionProvider"])
        made = runtime("onnxruntime[provider=A+CPUExecutionProvider,provider.n=1,CPUExecutionProvider.m=2,session.x=y]")
        with pytest.raises(ModelError, match="could not start the execution provider 'A'"):
            made.answer(small(DIV_14, UINT8, False))
        assert given == [([("A", {"n": "1"}), ("CPUExecutionProvider", {"m": "2"})], "y")]
        assert "[('A', {'n': '1'}), ('CPUExecutionProvider', {'m': '2'})]" in made.reproducer(
            small(DIV_14, UINT8, False)
        )

    def test_an_option_that_the_provider_has_not(self) -> None:
        asked = small(DIV_14, UINT8, False)
        (given,) = answer("onnxruntime[provider.no_such_option=1]", asked)
        assert given.end in (End.RETURNED, End.REFUSED)  # Its processor's provider takes whatever it is given.

    def test_custom_operators(self, library: Path) -> None:
        asked = small(DIV_14, UINT8, False)
        made = runtime(f"onnxruntime[operator_library={library}]")
        made.check()
        assert same_bits(made.answer(asked), div(*asked.operands))
        assert output_of(python(made.reproducer(asked))).splitlines()[-1].endswith("dtype=uint8)")

    def test_a_library_without_the_provider(self, library: Path) -> None:
        line = message(ModelError, runtime(f"onnxruntime[provider=Mine,provider_library={library}]").check)
        assert line == "ONNX Runtime has no execution provider 'Mine' here; it has: CPUExecutionProvider"

    def test_a_provider_by_its_devices(self, library: Path) -> None:
        """The processor's own is one of those that can be had by devices, so that the way to a plug-in is gone."""
        asked = small(DIV_14, UINT8, False)
        backend = f"onnxruntime[provider=CPUExecutionProvider,provider_library={library}]"
        (given,) = answer(backend, asked)
        assert given.end is End.RETURNED, given.words
        assert same_bits(given.value, div(*asked.operands))
        assert output_of(python(runtime(backend).reproducer(asked))).splitlines()[-1].endswith("dtype=uint8)")

    @pytest.mark.parametrize(
        ("options", "kind", "words"),
        [
            ("operator_library=gone.so", ModelError, "there is no library 'gone.so' for ONNX Runtime"),
            ("provider=A,provider_library=gone.so", ModelError, "there is no library 'gone.so' for ONNX Runtime"),
            (f"operator_library={__file__}", ModelError, "invalid ELF header"),
            (f"provider=A,provider_library={__file__}", ModelError, "invalid ELF header"),
            ("provider_library=a.so", AttributeValueError, "provider_library of onnxruntime needs provider=NAME"),
        ],
    )
    def test_refused(self, options: str, kind: type[VinculumError], words: str) -> None:
        assert words in message(kind, lambda: runtime(f"onnxruntime[{options}]").check())


class TestCovers:
    """Every ONNX operator, and no other standard's."""

    def test_dialects(self) -> None:
        asked, f = runtime("onnxruntime"), np.ones(1, np.float32)
        assert asked.covers(operation(DIV_14, f, f))
        assert not asked.covers(operation(DIVIDE_1, f, f))
        assert list(asked.versions()) == ["onnxruntime"]
