"""The adapter of ONNX Runtime on a fake package: its options, refusals and reproducers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.asking import executed, message, small
from tests.fake_runtime import FakeRuntime, installed
from vinculum.conformance.runtimes.backends import check_usable, runtime
from vinculum.errors import AttributeValueError, ModelError, VinculumError
from vinculum.sandbox import UnsupportedError
from vinculum.spec.element_types import UINT8
from vinculum.spec.onnx_div import DIV_14

ASKED = small(DIV_14, UINT8, False)


@pytest.fixture(autouse=True)
def package() -> Iterator[Any]:
    """Install a fake, and return the package."""
    with installed(onnxruntime=FakeRuntime):
        yield sys.modules["onnxruntime"]


def test_what_it_lacks_is_told_from_what_it_refuses(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for words, kind in (
        ("Could not find an implementation for Div(6) node with name ''", UnsupportedError),
        ("Non-zero status code returned while running Div node", ModelError),
    ):

        def fails(*_: Any, words: str = words, **__: Any) -> Any:
            raise RuntimeError(words)

        monkeypatch.setattr(package, "InferenceSession", fails)
        with pytest.raises(kind):
            runtime("onnxruntime").answer(ASKED)


class TestOptions:
    """Options reach the session; what is not available is refused and never replaced."""

    def test_options_of_providers(self, package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """`provider.KEY` is for the first provider, `NAME.KEY` for that one, any other dotted key for the session."""
        given: list[Any] = []
        session = package.InferenceSession

        def recorded(model: bytes, options: Any, providers: Any, **keywords: Any) -> Any:
            given.append(providers)
            return session(model, options, **keywords)

        monkeypatch.setattr(package, "InferenceSession", recorded)
        monkeypatch.setattr(package, "get_available_providers", lambda: ["A", "CPUExecutionProvider"])
        made = runtime("onnxruntime[provider=A+CPUExecutionProvider,provider.n=1,CPUExecutionProvider.m=2,session.x=y]")
        with pytest.raises(ModelError, match="could not start the execution provider 'A'"):
            made.answer(ASKED)
        assert given == [[("A", {"n": "1"}), ("CPUExecutionProvider", {"m": "2"})]]
        program = made.reproducer(ASKED)
        assert "[('A', {'n': '1'}), ('CPUExecutionProvider', {'m': '2'})]" in program
        assert 'options.add_session_config_entry("session.x", "y")' in program
        assert "disable_cpu_ep_fallback" not in program
        assert "disable_cpu_ep_fallback" in runtime("onnxruntime[provider=A]").reproducer(ASKED)

    @pytest.mark.parametrize(
        "options",
        [
            "",
            "[graph_optimization_level=disable]",
            "[intra_op_num_threads=3,session.x=y]",
            "[provider=CPUExecutionProvider,provider.n=1]",
        ],
    )
    def test_a_reproducer_makes_the_same_session(
        self, package: Any, monkeypatch: pytest.MonkeyPatch, options: str
    ) -> None:
        made: list[tuple[dict[str, Any], dict[str, Any]]] = []
        session = package.InferenceSession

        def recorded(model: bytes, options: Any, **keywords: Any) -> Any:
            made.append((vars(options), keywords))
            return session(model, options)

        monkeypatch.setattr(package, "InferenceSession", recorded)
        asked = runtime(f"onnxruntime{options}")
        asked.answer(ASKED)
        executed(asked.reproducer(ASKED))
        (own, keywords), again = made
        assert own.pop("log_severity_level") > 3  # What it raises tells as much.
        assert keywords.pop("enable_fallback") == 0
        assert again == (own, keywords)

    @pytest.mark.parametrize(
        ("options", "kind", "words"),
        [
            ("threads=1", AttributeValueError, "no option 'threads'; allowed: "),
            ("graph_optimization_level=most", AttributeValueError, "disable, basic, extended, all"),
            ("intra_op_num_threads=-1", AttributeValueError, "a whole number from 0 to 1024"),
            ("provider_library=a.so", AttributeValueError, "provider_library of onnxruntime needs provider=NAME"),
        ],
    )
    def test_refused(self, options: str, kind: type[VinculumError], words: str) -> None:
        assert words in message(kind, lambda: runtime(f"onnxruntime[{options}]"))

    @pytest.mark.parametrize("options", ["operator_library=gone.so", "provider=A,provider_library=gone.so"])
    def test_no_library(self, options: str) -> None:
        asked = f"onnxruntime[{options}]"
        line = message(ModelError, lambda: check_usable(asked, runtime(asked)))
        assert "there is no library 'gone.so' for ONNX Runtime" in line
