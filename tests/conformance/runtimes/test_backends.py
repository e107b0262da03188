"""Runtimes by name: built-in ones, those of other packages, their options, and errors in one line."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.conformance.asking import answer, message, operation
from tests.processes import python, run
from vinculum.conformance.runtimes.backends import names, parsed, runtime
from vinculum.conformance.runtimes.protocol import whole_number
from vinculum.errors import AttributeValueError, ModelError, SpecLookupError
from vinculum.spec.onnx_div import DIV_14

CALLED = ("numpy", "torch", "jax", "tensorflow", "mlx", "tinygrad", "mnn", "litert")
OURS = ("onnxruntime", "openvino", "vinculum", "onnx-reference", "tract", "tvm", "iree", *CALLED)
PACKAGE = """
import numpy as np

class Halving:
    def __init__(self, options):
        self.options = options
    def versions(self): return {"halves": 1}
    def start(self): self.by = np.float32(self.options.get("by", "2"))
    def answer(self, operation): return operation.operands[0] / self.by

class Failing:
    def answer(self, operation): ...
    def start(self): raise RuntimeError("no luck\\ntoday")
"""
ENTRIES = """[vinculum.backends]
halving = halving:Halving
failing = halving:Failing
vinculum = halving:Halving
"""


@pytest.fixture
def halving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package that offers runtimes."""
    info = tmp_path / "halving-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: halving\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    (tmp_path / "halving.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(tmp_path)


class TestParsed:
    """A backend is a name with options in brackets."""

    @pytest.mark.parametrize(
        ("backend", "name", "options"),
        [
            ("openvino", "openvino", {}),
            ("openvino[]", "openvino", {}),
            (" openvino [ device = GPU.0 , NUM_STREAMS=1 ]", "openvino", {"device": "GPU.0", "NUM_STREAMS": "1"}),
            ("a.b:c.d[x=1=2]", "a.b:c.d", {"x": "1=2"}),
        ],
    )
    def test_read(self, backend: str, name: str, options: dict[str, str]) -> None:
        assert parsed(backend) == (name, options)

    @pytest.mark.parametrize(
        ("backends", "words"),
        [
            (("", "[a=b]", "x[a=b", "x]a=b[", "x[a=b]y", "x[a=b][c=d]", "x[[a=b]]"), "name[key=value,key=value]"),
            (("x[a]", "x[a=]", "x[=b]", "x[a=b,]", "x[a=b,,c=d]"), "must be written key=value"),
            (("x[a=b,a=b]",), "'a' of x is given twice"),
        ],
    )
    def test_malformed(self, backends: tuple[str, ...], words: str) -> None:
        for backend in backends:
            assert words in message(AttributeValueError, partial(parsed, backend))


class TestNames:
    """Every built-in name gives a runtime; others are refused with the allowed names."""

    @pytest.mark.parametrize("name", OURS)
    def test_ours(self, name: str) -> None:
        assert runtime(name).title
        if name != "openvino":  # OpenVINO alone knows what it can be compiled with.
            assert "no option 'nonsense'" in message(AttributeValueError, lambda: runtime(f"{name}[nonsense=1]"))

    def test_to_make_one_imports_nothing_foreign(self) -> None:
        """Neither does checking whether it is installed, and in which version."""
        source = f"""
import contextlib, sys
from vinculum.conformance.runtimes.backends import runtime
from vinculum.errors import ModelError
for name in {OURS}:
    made = runtime(name)
    with contextlib.suppress(ModelError):  # it is not installed
        made.check()
    made.versions()
print([name for name in ("onnxruntime", "openvino", "torch", "jax", "onnx") if name in sys.modules])
"""
        done = run(python(source))
        assert (done.stdout, done.stderr) == ("[]\n", "")

    def test_unknown(self) -> None:
        line = message(SpecLookupError, lambda: runtime("onnxrutime"))
        assert "no backend is called 'onnxrutime'" in line
        assert ", ".join(OURS) in line
        assert line.endswith("package.module:attribute, or command:./program; did you mean 'onnxruntime'?")


@pytest.mark.usefixtures("halving")
def test_found_and_asked_in_another_process() -> None:
    """Runtimes of another package are found by entry points, and imported in a subprocess only."""
    assert names() == (*OURS, "failing", "halving")
    made = runtime("halving")
    assert (made.title, made.versions()) == ("halving", {"halving": "1.0", "halves": "1"})
    (given,) = answer("halving[by=4]", operation(DIV_14, np.ones(1, np.float32), np.ones(1, np.float32)))
    assert given.value.tolist() == [0.25]
    assert "halving" not in sys.modules

    assert message(ModelError, runtime("failing").check) == "'failing' cannot be started: no luck today"


def test_whole_numbers() -> None:
    given: tuple[dict[str, str], ...] = ({}, {"threads": "0"}, {"threads": "1024"})
    assert [whole_number("Mine", "threads", options, 3) for options in given] == [3, 0, 1024]
    for text in ("1025", "-1", "", "1.0", "00001", "\u0663", "x"):
        line = message(AttributeValueError, partial(whole_number, "Mine", "threads", {"threads": text}, 3))
        assert line == f"threads of Mine is {text!r}; allowed: a whole number from 0 to 1024"
