"""The public interface: names, signatures, errors, and a light import."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
from types import FunctionType
from typing import Any

import onnx.backend.base
import pytest

import vinculum
from tests.processes import output_of, python
from vinculum import errors, sonnx

OPERATORS = {
    *("Operator", "audit", "backend", "check", "convert", "div", "divide", "divmod", "floor_divide", "harden", "load"),
    *("onnxruntime", "openvino", "reciprocal", "reference_ops", "remainder", "sonnx", "stored", "trace"),
}
THREADS = {"get_threads", "set_threads", "threads"}
ERRORS: dict[str, tuple[type[Exception], ...]] = {
    "VinculumError": (Exception,),
    "ElementTypeError": (TypeError,),
    "BroadcastError": (ValueError,),
    "AttributeValueError": (ValueError,),
    "SpecLookupError": (LookupError,),
    "ModelError": (ValueError,),
    "ConstraintError": (ValueError,),
    "DifferenceError": (errors.ModelError,),
    "DivisionByZeroError": (ZeroDivisionError,),
    "IntegerOverflowError": (OverflowError,),
}
SIGNATURES = {
    "div": "(a, b, *, opset=None, axis=None, broadcast=None, consumed_inputs=None, out=None, where=None, "
    "zero_divisor='raise', overflow='wrap')",
    "reciprocal": "(x, *, opset=None, consumed_inputs=None, out=None, where=None)",
    "divide": "(a, b, *, m_pythondiv=True, auto_broadcast='numpy', axis=-1, out=None, where=None, "
    "zero_divisor='raise', overflow='wrap')",
    "floor_divide": "(a, b, *, out=None, zero_divisor='raise', overflow='wrap')",
    "remainder": "(a, b, *, out=None, zero_divisor='raise')",
    "divmod": "(a, b, *, zero_divisor='raise', overflow='wrap')",
    "sonnx.div": "(a, b, *, out=None, overflow='raise')",
    "sonnx.error_conditions": "(a, b)",
    "sonnx.accuracy": "(a, b, a_err, b_err)",
    "stored.divide": "(a, b, out, *, operator=None, element_type=None, task_bytes=None, client=None, advance=None)",
    "onnxruntime.get_library_path": "()",
    "onnxruntime.register": "(session_options, *, zero_divisor='raise', overflow='wrap', fusions=False)",
    "load": "(model)",
    "convert": "(model, *, opset=None, to=None, inputs=None)",
    "check": "(model, *, assume=(), calibrate=None, as_type=None, profile=(), weights='stored', runs=100, seed=0)",
    "audit": "(model, *, backend, inputs=None, seed=0, dims=None, sets=12, expand=False, limit=300.0)",
    "trace": "(model, inputs, *, engines=('reference', 'onnxruntime'))",
    "harden": "(model, *, target, inputs=None, zero_divisor='zero', overflow='wrap', fix_exported=False)",
    "reference_ops": "()",
    "get_threads": "()",
    "set_threads": "(n)",
    "threads": "(n)",
    "Operator.__init__": "(self, name, *, opset=None, dialect=None, variant=None, axis=None, broadcast=None, "
    "consumed_inputs=None, m_pythondiv=None, auto_broadcast=None, zero_divisor='raise', overflow=None)",
    "Operator.infer": "(self, element_types, shapes)",
    "Operator.__call__": "(self, a, b=None, out=None, *, where=None)",
}
# ONNX fixes the names and the order; the policies are among `kwargs`.
BACKEND = {
    "is_compatible": "(model, device='CPU', **kwargs)",
    "prepare": "(model, device='CPU', **kwargs)",
    "run_model": "(model, inputs, device='CPU', **kwargs)",
    "run_node": "(node, inputs, device='CPU', outputs_info=None, **kwargs)",
    "supports_device": "(device)",
}
OF_BACKEND = {"VinculumBackend", "VinculumBackendRep", *BACKEND}
# Packages that `import vinculum` must not import.
HEAVY = {*("onnx", "typer", "rich", "jinja2", "psutil", "torch", "onnxruntime", "openvino", "dask", "zarr", "h5py")}


def public(path: str) -> Any:
    """Return the object at a dotted path below the package."""
    found: Any = vinculum
    for name in path.split("."):
        found = getattr(found, name)
    return found


def bare_signature(function: Any) -> str:
    """Return a signature without its annotations."""
    signature = inspect.signature(function)
    parameters = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


class TestNames:
    """Exactly these, each an explicit definition that an editor can find."""

    def test_of_the_package(self) -> None:
        assert vinculum.__all__ == sorted(OPERATORS | THREADS | set(ERRORS))
        for module, names in ((sonnx, {"accuracy", "div", "error_conditions"}), (vinculum.backend, OF_BACKEND)):
            assert set(module.__all__) == names
            assert importlib.import_module(module.__name__) is module

    def test_nothing_public_goes_unlisted(self) -> None:
        """Apart from modules."""
        visible = {name for name in vars(vinculum) if not name.startswith("_")}
        modules = {name for name in visible if inspect.ismodule(getattr(vinculum, name))}
        assert visible - modules - set(vinculum.__all__) <= {"annotations", "Any", "TYPE_CHECKING"}

    def test_dir(self) -> None:
        assert [name for name in dir(vinculum) if not name.startswith("__")] == vinculum.__all__

    def test_an_unknown_name_is_an_attribute_error(self) -> None:
        with pytest.raises(AttributeError, match="module 'vinculum' has no attribute 'divison'"):
            vinculum.divison  # noqa: B018 - the look-up is the subject of the test


class TestSignatures:
    """As architecture writes them; everything after the operands is keyword-only."""

    @pytest.mark.parametrize("path", SIGNATURES)
    def test_as_fixed(self, path: str) -> None:
        function = public(path)
        assert isinstance(function, FunctionType)
        assert bare_signature(function) == SIGNATURES[path]

    @pytest.mark.parametrize("name", BACKEND)
    def test_of_the_backend(self, name: str) -> None:
        function = getattr(vinculum.backend, name)
        assert bare_signature(function) == BACKEND[name]
        assert list(inspect.signature(function).parameters) == list(
            inspect.signature(getattr(onnx.backend.base.Backend, name)).parameters
        )
        assert inspect.getdoc(function) != inspect.getdoc(getattr(onnx.backend.base.Backend, name))


class TestErrors:
    """Each is a VinculumError, and the built-in that a Python user would catch."""

    @pytest.mark.parametrize("name", ERRORS)
    def test_bases(self, name: str) -> None:
        error = getattr(vinculum, name)
        assert error is getattr(errors, name)
        bases: tuple[type, ...] = (vinculum.VinculumError, *ERRORS[name])
        assert all(issubclass(error, base) for base in bases)

    @pytest.mark.parametrize(
        ("error", "fields"),
        [
            (errors.ElementTypeError("a line"), {}),
            (errors.DivisionByZeroError("a line", count=2, first_index=(0, 1)), {"count": 2, "first_index": (0, 1)}),
            (errors.IntegerOverflowError("a line", count=1, first_index=()), {"count": 1, "first_index": ()}),
            (
                errors.ConstraintError("a line", tag="[C3]", count=2, first_index=(1,)),
                {"tag": "[C3]", "count": 2, "first_index": (1,)},
            ),
            (errors.ConstraintError("a line", tag="[C1]"), {"tag": "[C1]", "count": 0, "first_index": None}),
        ],
        ids=lambda value: type(value).__name__,
    )
    @pytest.mark.parametrize("again", [lambda e: e, copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
    def test_fields_survive_a_process(self, error: Exception, fields: dict[str, object], again: Any) -> None:
        """Errors pass between the processes of Dask or multiprocessing."""
        caught = again(error)
        assert type(caught) is type(error)
        assert str(caught) == "a line"
        assert {name: getattr(caught, name) for name in fields} == fields


class TestImport:
    """Packages are imported when they are first needed."""

    def loaded_by(self, *statements: str) -> list[str]:
        """Return which heavy packages a fresh process has after each of some statements."""
        told = f"\nprint(*sorted({HEAVY!r} & set(sys.modules)))\n"
        return output_of(python(f"import sys\n{told.join(statements)}{told}")).splitlines()

    def test_nothing_heavy(self) -> None:
        """Setting threads and inferring types import nothing either; the backend imports ONNX only."""
        infer = "vinculum.Operator('Div').infer(['float'] * 2, [('N', 3), (3,)])"
        threads = "vinculum.set_threads(2); vinculum.get_threads()"
        found = self.loaded_by("import vinculum, vinculum.sonnx, vinculum.errors", threads, infer, "vinculum.backend")
        assert found == ["", "", "", "onnx"]
        assert self.loaded_by("from vinculum import reference_ops; reference_ops()") == ["onnx"]

    def test_numpy_is_imported_late(self) -> None:
        """An interruption during its import would print a traceback, and help would wait for it."""
        program = """
import sys
import vinculum.__main__
sys.argv = ["vinculum", "check", "--help"]
assert vinculum.__main__.main() == 0
print("numpy" in sys.modules)
vinculum.div
print("numpy" in sys.modules)
"""
        assert output_of(python(program)).splitlines()[-2:] == ["False", "True"]

    def test_little_for_a_division(self) -> None:
        """NumPy and ml_dtypes are enough."""
        program = """
import sys
before = {*sys.modules, *sys.stdlib_module_names}
import numpy, vinculum
vinculum.div(numpy.float32([1]), numpy.float32([2]))
vinculum.reciprocal(numpy.float32([2]))
vinculum.divide(numpy.int8([1] * 100_000), numpy.int8([2]))
vinculum.div(numpy.int8(1), memoryview(b"12").cast("b"))
print(*sorted({name.partition(".")[0] for name in sys.modules} - before))
"""
        assert output_of(python(program)).split() == ["ml_dtypes", "numpy", "vinculum"]
