"""Plug-ins, `module:attribute`: ONNX backends, and dividers with the protocol of `vinculum.testing`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.conformance.asking import answer, executed, message, operation
from vinculum.conformance.runtimes.backends import runtime
from vinculum.errors import ModelError
from vinculum.sandbox import End
from vinculum.spec.onnx_div import DIV_6, DIV_14
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.spec.sonnx_div import DIV_INT

HANDING_OVER = """
import numpy as np

class Array:
    @staticmethod
    def run_model(model, inputs): return inputs[0] / inputs[1]

class Scalar:
    @staticmethod
    def run_model(model, inputs): return (inputs[0] / inputs[1])[()]

class Named:
    @staticmethod
    def run_model(model, inputs): return {model.graph.output[0].name: inputs[0] / inputs[1]}

class OtherName:
    @staticmethod
    def run_model(model, inputs): return {"quotient": inputs[0] / inputs[1]}

class NoneOfThem:
    @staticmethod
    def run_model(model, inputs): return {"a": inputs[0], "b": inputs[1]}

class Empty:
    @staticmethod
    def run_model(model, inputs): return []

class Old:
    @staticmethod
    def run_model(model, inputs, device="CPU"):
        if device != "CPU":
            raise ValueError("no such device")
        raise NotImplementedError("nothing so\\nold")

class Nothing: ...

class Prepares:
    def __init__(self, by): self.by = by
    @classmethod
    def prepare(cls, model, device="CPU"): return cls(device)
    def run(self, inputs):
        self.memory = inputs[0] / inputs[1]
        return [self.memory[...]]
    def __del__(self): self.memory[...] = 7
"""
DIVIDING = """
from vinculum.testing import Crashed, Operation, Unsupported

class Plain:
    def answer(self, operation):
        if operation.spec.name != "Div":
            raise Unsupported("only Div")
        if operation.attributes:
            raise NotImplementedError("no attributes")
        if operation.operands[1].flat[0] == 0:
            raise Crashed(-8)
        return operation.operands[0] / operation.operands[1]

class Chosen(Plain):
    started = False
    def __init__(self, options): self.by = float(options.get("by", 1))
    def start(self): self.started = True
    def covers(self, operation): return operation.spec.since_version == 14
    def versions(self): return {"chosen": 1.5}
    def answer(self, operation):
        return super().answer(operation) / operation.operands[0].dtype.type(self.by) * self.started

class InPlace:
    def answer(self, operation):
        a, b = operation.operands
        a /= b
        return a.copy()

ready = Plain()

def answer(operation):
    return -operation.operands[0]
"""
EXITING, FAILING = "raise SystemExit(0)", "raise OSError('no\\nsuch thing')"
LICENSED = """
class Divider:
    answer = None
    def __init__(self): raise RuntimeError("no licence")
"""
MODULES = {"handing_over": HANDING_OVER, "dividing": DIVIDING, "exiting": EXITING, "failing": FAILING,
           "licensed": LICENSED}  # fmt: skip
A, B = np.array([5], np.float32), np.array([2], np.float32)
ASKED = operation(DIV_14, A, B)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in a folder that holds modules."""
    for name, source in MODULES.items():
        (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # for programs, which run here
    yield
    for name in ("handing_over", "dividing"):
        sys.modules.pop(name, None)


class TestWhatBackendsHandOver:
    """A backend returns a sequence, a single array or a mapping."""

    def test_the_quotient(self) -> None:
        """Also if the backend reuses the memory, and for a scalar."""
        for name in ("Array", "Named", "OtherName", "Prepares"):
            (given,) = answer(f"handing_over:{name}", ASKED)
            assert (given.value.tolist(), given.value.shape) == ([2.5], (1,)), name
        (given,) = answer("handing_over:Scalar", operation(DIV_14, np.array(5.0), np.array(2.0)))
        assert (given.value.tolist(), given.value.shape) == (2.5, ())
        asked = operation(DIV_14, np.array([-11]), np.array([3]), constant=(False, True))
        for name in ("vinculum.backend:VinculumBackend", "vinculum:backend"):
            (given,) = answer(name, asked)
            assert given.value.tolist() == [-3], given.words

    @pytest.mark.parametrize(
        ("name", "end", "words"),
        [
            ("NoneOfThem", End.REFUSED, "the backend gave no output 'C'; it gave: 'a', 'b'"),
            ("Empty", End.REFUSED, "the backend gave 0 outputs, and the model has 1: 'C'"),
            ("Old", End.UNSUPPORTED, "nothing so old"),
            ("Old[device=TPU]", End.REFUSED, "no such device"),
        ],
    )
    def test_none(self, name: str, end: End, words: str) -> None:
        (given,) = answer(f"handing_over:{name}", ASKED)
        assert (given.end, given.words) == (end, words)

    @pytest.mark.parametrize("name", ["Array", "Prepares"])
    def test_the_reproducer_calls_what_is_there(self, name: str) -> None:
        """A backend may have `prepare` only."""
        program = runtime(f"handing_over:{name}").reproducer(ASKED)
        assert executed(program).splitlines()[-1] == "array([2.5], dtype=float32)"


class TestDividers:
    """A divider is an object, a class or a module with `answer`."""

    @pytest.mark.parametrize(
        ("target", "quotient"),
        [
            ("dividing:Plain", 2.5),
            ("dividing:ready", 2.5),
            ("dividing:", -5.0),
            ("dividing:Chosen", 2.5),
            ("dividing:Chosen[by=2]", 1.25),
        ],
    )
    def test_asked(self, target: str, quotient: float) -> None:
        made = runtime(target)
        made.check()
        (given,) = answer(target, ASKED)
        assert (given.end, given.words) == (End.RETURNED, "")
        assert given.value.tolist() == [quotient]
        # Of operands without dimensions NumPy's operators make a scalar.
        (given,) = answer(target, operation(DIV_14, np.array(5, np.float32), np.array(2, np.float32)))
        assert isinstance(given.value, np.ndarray)
        assert (given.value.tolist(), given.value.shape) == (quotient, ())

    def test_what_it_raises(self) -> None:
        operations = [
            operation(DIVIDE_1, A, B),
            operation(DIV_6, A, B, broadcast=1),
            operation(DIV_14, A, np.zeros(1, np.float32)),
        ]
        (given,) = answer("dividing:Chosen", operations[1])
        assert (given.end, given.words) == (End.UNSUPPORTED, "dividing:Chosen does not cover it")
        assert [(given.end, given.words) for given in answer("dividing:Plain", *operations)] == [
            (End.UNSUPPORTED, "only Div"),
            (End.UNSUPPORTED, "no attributes"),
            (End.CRASHED, "SIGFPE"),
        ]
        (given,) = answer("dividing:InPlace", ASKED)
        assert (given.end, given.words) == (End.REFUSED, "the operand A was changed in place")

    @pytest.mark.parametrize("target", ["dividing:Plain", "dividing:ready", "dividing:", "dividing:Chosen[by=2]"])
    @pytest.mark.parametrize("spec", [DIV_14, DIV_INT], ids=["onnx", "sonnx"])
    def test_its_reproducer(self, target: str, spec: object) -> None:
        operands = (A, B) if spec is DIV_14 else (A.astype(np.int8), B.astype(np.int8))
        program = runtime(target).reproducer(operation(DIV_14 if spec is DIV_14 else DIV_INT, *operands))
        assert executed(program).splitlines()[-1].startswith("array([")


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("exiting:Backend", "'exiting:Backend' cannot be imported: SystemExit: 0"),
        ("failing:Backend", "'failing:Backend' cannot be imported: OSError: no such thing"),
        ("gone.away:B", "'gone.away:B' cannot be imported: ModuleNotFoundError: No module named 'gone'"),
        (":x", "':x' names no module; write package.module:attribute"),
        ("licensed:Divider", "'licensed:Divider' cannot be started: no licence"),
        (
            "handing_over:Nothing",
            "'handing_over:Nothing' is neither a divider nor an ONNX backend: it has none of answer, prepare and "
            "run_model",
        ),
        (
            "handing_over:Prepare",
            "'handing_over:Prepare' is not there: handing_over has no attribute 'Prepare'; its runtimes: 'Array', "
            "'Empty', 'Named', 'NoneOfThem', 'Old', 'OtherName', 'Prepares', 'Scalar'; did you mean 'Prepares'?",
        ),
    ],
)
def test_what_is_not_there(target: str, told: str) -> None:
    """The message says what is wrong and what is available, in one line."""
    assert message(ModelError, runtime(target).check) == told
