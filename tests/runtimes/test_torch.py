"""`vinculum.torch`: compiled, exported, traced, mapped and differentiated divisions, and PyTorch's own made exact."""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vinculum
from tests.kernels.many_threads import in_threads
from tests.processes import run
from vinculum.errors import AttributeValueError, DivisionByZeroError, ElementTypeError, IntegerOverflowError

torch = pytest.importorskip("torch")

import vinculum.torch as room  # noqa: E402  # It needs PyTorch.

# Of PyTorch's: that a function is deprecated, or that a module is in training mode.
pytestmark = pytest.mark.filterwarnings("ignore")

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
POLICIES: dict[str, Any] = {"zero_divisor": "zero", "overflow": "saturate"}


def operands(name: str) -> tuple[Any, Any]:
    """Return edge values, as a column and a row; MIN/-1 and x/0 are among the pairs."""
    dtype = getattr(torch, name)
    if name in FLOATS:
        numbers = [0.0, -0.0, 1.0, -3.0, 7.0, 1e-3, float("inf"), float("nan"), torch.finfo(dtype).tiny]
    else:
        limits = torch.iinfo(dtype)
        numbers = [0, 1, 2, 3, 7, limits.min, limits.min + 1, limits.max, limits.max - 1] + [-1, -2, -7] * (
            limits.min < 0
        )
    row = torch.tensor(numbers, dtype=dtype)
    return row[:, None], row


def same(one: Any, other: Any) -> None:
    """Demand the same type, shape and bits."""
    assert (one.dtype, one.shape) == (other.dtype, other.shape)
    size = one.element_size()
    assert torch.equal(*(x.contiguous().view(getattr(torch, f"int{8 * size}")) for x in (one, other)))


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function compiled as one graph."""
    torch._dynamo.reset()
    result: Callable[..., Any] = torch.compile(function, fullgraph=True, backend="aot_eager")
    return result


class Ratio(torch.nn.Module):  # type: ignore[name-defined]
    """A module that divides."""

    def __init__(self, function: Callable[..., Any] = vinculum.div, **options: Any) -> None:
        super().__init__()
        self.function, self.options = function, options

    def forward(self, a: Any, b: Any) -> Any:
        return self.function(a, b, **self.options)


class TestOperator:
    """Compiled, exported, traced, mapped and differentiated divisions have the same quotients."""

    @pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
    @pytest.mark.parametrize("function", [vinculum.div, vinculum.divide])
    def test_compiled(self, name: str, function: Callable[..., Any]) -> None:
        a, b = operands(name)
        policies = POLICIES if name in INTEGERS else {}
        same(compiled(lambda a, b: function(a, b, **policies))(a, b), function(a, b, **policies))

    def test_with_numbers_and_arrays(self) -> None:
        a = torch.tensor([7, -8])
        assert compiled(lambda a: vinculum.div(a, 2) + vinculum.div(9, a))(a).tolist() == [4, -5]
        assert compiled(lambda a: vinculum.div(a, np.array([2, 3])))(a).tolist() == [3, -2]
        assert compiled(lambda a: vinculum.reciprocal(a) + 1)(torch.tensor([4.0])).tolist() == [1.25]

    def test_by_inductor(self) -> None:
        """With the C++ compiler of the machine, and with shapes that change."""
        torch._dynamo.reset()
        function = torch.compile(lambda a, b: vinculum.div(a, b) * 2, fullgraph=True, dynamic=True)
        for size in (3, 5):
            a = torch.arange(size, dtype=torch.float32)
            same(function(a[:, None], a + 1), vinculum.div(a[:, None], a + 1) * 2)

    def test_exceptions(self) -> None:
        a, b = torch.tensor([-128], dtype=torch.int8), torch.tensor([-1], dtype=torch.int8)
        with pytest.raises(DivisionByZeroError, match="1 of 1 divisors of Div-14 are zero"):
            compiled(lambda a, b: vinculum.div(a, b))(a, b * 0)
        with pytest.raises(IntegerOverflowError):
            torch.vmap(lambda a, b: vinculum.div(a, b, overflow="raise"))(a, b)

    def test_exported(self) -> None:
        a, b = torch.tensor([[7], [-8]]), torch.tensor([2, -3])
        sizes = torch.export.Dim("sizes", min=2)
        program = torch.export.export(Ratio(), (a, b), dynamic_shapes=({0: sizes}, None))
        more = torch.arange(12)[:, None]
        same(program.module()(more, b), vinculum.div(more, b))

    def test_traced(self) -> None:
        """The quotient is no constant of the trace."""
        traced = torch.jit.trace(lambda x: vinculum.div(x, torch.tensor([3.0])) + x, torch.tensor([1.0]))
        assert traced(torch.tensor([30.0])).tolist() == [40]

    @pytest.mark.parametrize("dims", [(0, 0), (0, None), (None, 1), (1, 0)])
    def test_mapped(self, dims: tuple[int | None, int | None]) -> None:
        a, b = torch.arange(1.0, 10).reshape(3, 3), torch.arange(2.0, 11).reshape(3, 3)
        laid = [x if d is None else x.movedim(d, 0) for x, d in zip((a, b), dims, strict=True)]
        wanted = [
            vinculum.div(laid[0] if dims[0] is None else laid[0][i], laid[1] if dims[1] is None else laid[1][i])
            for i in range(3)
        ]
        same(torch.vmap(vinculum.div, in_dims=dims)(a, b), torch.stack(wanted))
        same(torch.vmap(torch.vmap(vinculum.div))(a, b), vinculum.div(a, b))

    def test_mapped_over_other_ranks(self) -> None:
        a, b = torch.arange(1.0, 13).reshape(2, 3, 2), torch.arange(2.0, 6).reshape(2, 2)
        same(torch.vmap(vinculum.div)(a, b), torch.stack([vinculum.div(x, y) for x, y in zip(a, b, strict=True)]))

    def test_differentiated(self) -> None:
        a, b = (torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in ([1.0, -2, 3], [[3.0], [-7]]))
        for check in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
            assert check(vinculum.div, (a, b))
            assert check(vinculum.reciprocal, (b,))
        given = torch.tensor([2.0, -4])
        slope = torch.func.vmap(torch.func.grad(lambda x: vinculum.div(torch.ones(()), x)))(given)
        assert slope.tolist() == [-0.25, -0.0625]
        quotient: Any = vinculum.div(torch.ones(2), torch.nn.Parameter(given))
        quotient.sum().backward()

    @pytest.mark.parametrize("name", ["float32", "int16"])
    def test_checks_of_pytorch(self, name: str) -> None:
        a, b = (torch.tensor(x, dtype=getattr(torch, name)) for x in ([[1], [-2]], [3, 4]))
        for floor in (False, True):
            arguments = (a, b, floor, "saturate", "wrap") if name in INTEGERS else (a, b, floor, "raise", "wrap")
            torch.library.opcheck(torch.ops.vinculum.div.default, arguments)

    def test_refusals(self) -> None:
        a = torch.ones(2, requires_grad=True)
        with pytest.raises(ElementTypeError, match="leave it away"):
            vinculum.div(a, a, out=torch.empty(2))
        with pytest.raises(ElementTypeError, match="Div-6 does not broadcast as PyTorch does"):
            vinculum.div(a, a, opset=6)
        with pytest.raises(ElementTypeError, match="A float and B double: Div-14 has one element type"):
            vinculum.div(a, a.double())
        with pytest.raises(ElementTypeError, match=r"A has type torch.complex64"):
            vinculum.div(a.to(torch.complex64), a)


class TestOnnx:
    """Models that the exporter writes."""

    @staticmethod
    def exported(module: Any, arguments: tuple[Any, ...], folder: Path) -> Path:
        path = folder / "m.onnx"
        table = room.onnx_translations()
        torch.onnx.export(module, arguments, path, dynamo=True, verbose=False, custom_translation_table=table)
        return path

    def test_floats(self, tmp_path: Path) -> None:
        a = torch.tensor([1.0, 2])
        model = vinculum.load(self.exported(Ratio(), (a, a + 1), tmp_path))
        assert [division.operator for division in model.divisions] == ["Div-14"]
        assert model.run([np.array([1, -7], "f4"), np.array([3, 3], "f4")]).popitem()[1].tolist() == [
            np.float32(1) / np.float32(3),
            np.float32(-7) / np.float32(3),
        ]

    @pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8"])
    @pytest.mark.parametrize("function", [vinculum.div, vinculum.divide])
    @pytest.mark.parametrize(
        "policies", [{"zero_divisor": z, "overflow": o} for z in ("zero", "saturate") for o in ("wrap", "saturate")]
    )
    def test_integers(self, name: str, function: Any, policies: dict[str, str], tmp_path: Path) -> None:
        """They are exact in ONNX Runtime and do not crash it."""
        import onnxruntime

        a, b = operands(name)
        path = self.exported(Ratio(function, **policies), (a, b), tmp_path)
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        names = [value.name for value in session.get_inputs()]
        (result,) = session.run(None, {name: x.numpy() for name, x in zip(names, (a, b), strict=True)})
        same(torch.from_numpy(result), function(a, b, **policies))

    def test_the_older_exporter_refuses(self) -> None:
        """Instead of writing the quotient as a constant."""
        a = torch.ones(2)
        with pytest.raises(Exception, match="vinculum::div"):
            torch.onnx.export(Ratio(), (a, a), io.BytesIO(), dynamo=False)


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "floor_divide": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "fmod": torch.fmod,
}


def expected(operation: str, a: int, b: int, bits: int, signed: bool) -> int:
    """Return a result in Python's integers, where x/0 and x mod 0 are 0 and MIN/-1 wraps."""
    if b == 0:
        return 0
    quotient = a // b if operation in ("floor", "floor_divide", "remainder") else abs(a) // abs(b)
    if operation in ("trunc", "fmod") and (a < 0) != (b < 0):
        quotient = -quotient
    result = quotient if operation in ("trunc", "floor", "floor_divide") else a - quotient * b
    wrapped: int = result % 2**bits
    return wrapped - 2**bits if signed and wrapped >= 2 ** (bits - 1) else wrapped


class TestExact:
    """PyTorch's own divisions of integers within a block are exact."""

    @pytest.mark.parametrize("name", INTEGERS)
    @pytest.mark.parametrize("operation", OPERATIONS)
    def test_every_operation_and_type(self, operation: str, name: str) -> None:
        a, b = operands(name)
        with room.exact(zero_divisor="zero"):
            results = OPERATIONS[operation](a, b)
        assert results.dtype is a.dtype
        limits = torch.iinfo(a.dtype)
        pairs = itertools.product(a.flatten().tolist(), b.tolist())
        wanted = [expected(operation, x, y, limits.bits, limits.min < 0) for x, y in pairs]
        assert results.flatten().tolist() == wanted

    def test_in_place_out_and_numbers(self) -> None:
        a, b = torch.tensor([-(2**63), 7, -7]), torch.tensor([-1, 2, 2])
        wrapped, floors = [-(2**63), 3, -3], [-(2**63), 3, -4]
        with room.exact():
            held = a.clone()
            view = held[:]
            assert held.div_(b, rounding_mode="trunc") is held
            assert view.tolist() == wrapped
            floored = a.clone()
            floored //= b
            assert floored.tolist() == floors
            rest = a.clone()
            rest %= b
            assert rest.tolist() == [0, 1, 1]
            assert a.clone().fmod_(b).tolist() == [0, 1, -1]
            out = torch.empty(0, dtype=torch.int64)
            assert torch.div(a, b, rounding_mode="trunc", out=out) is out
            assert out.tolist() == wrapped
            assert [(a // 2).tolist(), (7 // b).tolist(), (a % -2).tolist()] == [
                [-(2**62), 3, -4], [-7, 3, 3], [0, -1, -1],
            ]  # fmt: skip
            assert (torch.tensor(7) // torch.tensor([2], dtype=torch.int8)).dtype is torch.int8
            with pytest.raises(RuntimeError, match="shape"):
                torch.ones(1, dtype=torch.int64).floor_divide_(a)

    @pytest.mark.parametrize("name", ["int8", "int16", "int32", "uint8"])
    @pytest.mark.parametrize("number", [1000, -1000, 2**31 + 5, -(2**40) - 3, True])
    def test_numbers_that_the_type_does_not_hold(self, name: str, number: int) -> None:
        """The numbers wrap, as they do outside of the block."""
        a = torch.tensor([7, 100, 3, 0], dtype=getattr(torch, name))
        operations: list[Callable[[Any, Any], Any]] = [
            *OPERATIONS.values(),
            lambda a, b: b // a[:-1],
            lambda a, b: a.clone().floor_divide_(b),
        ]
        for operation in operations:
            wanted = operation(a, number)
            with room.exact():
                same(operation(a, number), wanted)

    def test_policies(self) -> None:
        a = torch.tensor([-(2**31), 5, 0], dtype=torch.int32)
        with room.exact(zero_divisor="saturate", overflow="saturate"):
            assert (a // 0).tolist() == [-(2**31), 2**31 - 1, 0]
            assert (a // -1).tolist() == [2**31 - 1, -5, 0]
            assert (a % 0).tolist() == [0, 0, 0]
        with room.exact(overflow="raise"), pytest.raises(IntegerOverflowError):
            a // -1
        with room.exact(), pytest.raises(DivisionByZeroError, match="3 of 3 divisors"):
            a % 0
        with pytest.raises(AttributeValueError, match="zero_divisor is 'wrap'"):
            room.exact(zero_divisor="wrap")  # type: ignore[arg-type]

    def test_operations_left_to_pytorch(self) -> None:
        a = torch.tensor([7, -7])
        with room.exact():
            assert (a / 2).tolist() == [3.5, -3.5]
            assert torch.div(a, 2.0, rounding_mode="floor").tolist() == [3, -4]
            assert (a.double() % 3).tolist() == [1, 2]
            assert torch.remainder(a.to(torch.float16), 0).isnan().all()
            assert (a.to_sparse() // 2).to_dense().tolist() == [3, -4]
            assert torch.div(a.to("meta"), 2, rounding_mode="trunc").device.type == "meta"
            with pytest.raises(RuntimeError, match="expected rounding_mode to be one of"):
                torch.div(a, 2, rounding_mode="up")
            truth, cannot = torch.tensor([True, True]), "result type Long can't be cast to the desired output type Bool"
            with pytest.raises(RuntimeError, match=cannot):
                torch.div(a, 2, rounding_mode="trunc", out=truth)
            with pytest.raises(RuntimeError, match=cannot):
                truth.floor_divide_(a)

    def test_blocks_in_blocks(self) -> None:
        """The innermost block counts, also after an error has ended one."""
        a = torch.tensor([-(2**63)])
        with room.exact(overflow="saturate") as outer:
            with room.exact():
                assert (a // -1).tolist() == [-(2**63)]
            with pytest.raises(DivisionByZeroError), room.exact():
                a // 0
            with outer:
                assert (a // -1).tolist() == [2**63 - 1]
            assert (a // -1).tolist() == [2**63 - 1]

    def test_in_threads(self) -> None:
        """A block affects its own thread only."""

        def work(number: int) -> None:
            overflow, wanted = (("wrap", -(2**63)), ("saturate", 2**63 - 1))[number % 2]
            for _ in range(20):
                with room.exact(overflow=overflow):  # type: ignore[arg-type]
                    assert (torch.tensor([-(2**63)]) // -1).tolist() == [wanted]

        in_threads(work, range(8))

    def test_compiled_and_mapped(self) -> None:
        a, b = torch.tensor([-(2**63), -7]), torch.tensor([-1, 2])
        divide = OPERATIONS["trunc"]
        with room.exact():
            assert torch.vmap(divide)(a, b).tolist() == [-(2**63), -3]
            assert torch.compile(lambda a, b: divide(a, b) + 0, backend="aot_eager")(a, b).tolist() == [-(2**63), -3]

        def within(a: Any, b: Any) -> Any:
            with room.exact():
                return divide(a, b) + 0

        assert torch.compile(within, backend="aot_eager")(a, b).tolist() == [-(2**63), -3]

    def test_only_in_the_block(self) -> None:
        """The same division ends the process outside of the block, by PyTorch, and not within."""
        program = (
            "import torch, vinculum.torch\n"
            "a, b = torch.tensor([-2**63]), torch.tensor([-1])\n"
            "with vinculum.torch.exact():\n    print(torch.div(a, b, rounding_mode='trunc').item(), flush=True)\n"
            "torch.fmod(torch.tensor([7]), 0)\n"
        )
        done = run([sys.executable, "-c", program])
        assert done.stdout == f"{-(2**63)}\n"
        assert done.returncode != 0
