"""Operators of old operator sets keep their old meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.models.built_models import one_line, text_model
from vinculum.errors import BroadcastError, ModelError
from vinculum.models import load

RNG = np.random.default_rng(0)


def _run(node: str, opset: int, **arrays: Any) -> Any:
    """Return c of a node that is called n."""
    inputs = ", ".join(
        f"float[{','.join(map(str, x.shape))}] {name}" if x.ndim else f"float {name}" for name, x in arrays.items()
    )
    return load(text_model("[n] " + node.replace("<>", ""), inputs, "float[] c", opset=opset)).run(arrays)["c"]


class TestLimitedBroadcasting:
    """Before operator set 7, B alone is broadcast, from `axis`, and only on request."""

    @pytest.mark.parametrize("operator", ["Add", "Pow", "Greater"])
    @pytest.mark.parametrize(
        ("shape", "axis", "aligned"),
        [
            ((), None, ()),
            ((1, 1), None, ()),
            ((5,), None, (5,)),
            ((4, 5), None, (4, 5)),
            ((3, 4), 1, (3, 4, 1)),
            ((2,), 0, (2, 1, 1, 1)),
            ((2, 1), 0, (2, 1, 1, 1)),  # What the documents do not allow, and exporters wrote.
            ((4, 1), None, (4, 1)),
        ],
    )
    def test_the_six_shapes(
        self, operator: str, shape: tuple[int, ...], axis: int | None, aligned: tuple[int, ...]
    ) -> None:
        a, b = RNG.random((2, 3, 4, 5), np.float32), RNG.random(shape, np.float32)
        attributes = "broadcast = 1" if axis is None else f"broadcast = 1, axis = {axis}"
        legacy = _run(f"c = {operator} <{attributes}> (a, b)", 6, a=a, b=b)
        newer = _run(f"c = {operator} (a, b)", 7, a=a, b=b.reshape(aligned))
        assert legacy.shape == (2, 3, 4, 5)
        assert legacy.tobytes() == newer.tobytes()

    @pytest.mark.parametrize(
        ("attributes", "shape"),
        [("", (5,)), ("broadcast = 1", (3, 1)), ("broadcast = 1, axis = 1", (4, 5)), ("broadcast = 1", (1,) * 5)],
    )
    def test_what_does_not_fit(self, attributes: str, shape: tuple[int, ...]) -> None:
        with one_line(BroadcastError, "node 'n' (Add)", str(shape)):
            _run(f"c = Add <{attributes}> (a, b)", 6, a=np.ones((2, 3, 4, 5), np.float32), b=np.ones(shape, np.float32))


class TestSame:
    """What an old node computes is what a newer one does in other words."""

    X = RNG.random((2, 3), np.float32) - np.float32(0.5)

    @pytest.mark.parametrize(
        ("old", "opset", "newer", "later"),
        [
            # In operator sets 1 to 5 the hint may stand at any node.
            *((f"c = {name} <consumed_inputs = [0]> (x)", 5, f"c = {name} (x)", 6) for name in ("Elu", "Relu", "Tanh")),
            ("c = Selu(x)", 5, "c = Selu <alpha = 1.6732, gamma = 1.0507> (x)", 6),
        ],
    )
    def test_as(self, old: str, opset: int, newer: str, later: int) -> None:
        assert _run(old, opset, x=self.X).tobytes() == _run(newer, later, x=self.X).tobytes()

    @pytest.mark.parametrize(("other", "opset"), [("c = Selu(x)", 6), ("c = Selu <alpha = 2.0> (x)", 5)])
    def test_unlike(self, other: str, opset: int) -> None:
        assert _run("c = Selu(x)", 5, x=self.X).tobytes() != _run(other, opset, x=self.X).tobytes()

    def test_average_pool_leaves_the_padding_out(self) -> None:
        x = RNG.random((1, 1, 5), np.float32)
        legacy = _run("c = AveragePool <kernel_shape = [3], pads = [1, 1]> (x)", 6, x=x)
        assert legacy[0, 0, 0] == pytest.approx((x[0, 0, 0] + x[0, 0, 1]) / 2)
        newer = "c = AveragePool <count_include_pad = 0, kernel_shape = [3], pads = [1, 1]> (x)"
        assert legacy.tobytes() == _run(newer, 7, x=x).tobytes()

    def test_prelu_has_a_slope_for_each_channel(self) -> None:
        x, slope = -RNG.random((3, 3, 3), np.float32), np.array([1, 2, 3], np.float32)
        assert _run("c = PRelu(x, slope)", 6, x=x, slope=slope).tobytes() == (x * slope.reshape(3, 1)).tobytes()


@pytest.mark.parametrize(("axis", "first"), [("", 1), ("axis = 0", 0), ("axis = 2", 2), ("axis = -1", 2)])
def test_flattening_softmax(axis: str, first: int) -> None:
    """Before operator set 13, Softmax normalises over all dimensions from `axis` on."""
    x = RNG.random((2, 3, 4), np.float32)
    exponentials = np.exp(x)
    expected = exponentials / exponentials.sum(tuple(range(first, 3)), keepdims=True)
    np.testing.assert_allclose(_run(f"c = Softmax <{axis}> (x)", 11, x=x), expected, rtol=1e-6)


@pytest.mark.parametrize("opset", [1, 4])
def test_a_shape_as_attribute(opset: int) -> None:
    """Before operator set 5 Reshape has no operand for it."""
    x = RNG.random((2, 3, 4), np.float32)
    found = _run("c = Reshape <shape = [0, -1]> (x)", opset, x=x)
    assert found.tolist() == x.reshape(2, 12).tolist()


@pytest.mark.parametrize("opset", [1, 6])
@pytest.mark.parametrize("outputs", ["c", "c, mask"])
def test_dropout_in_test_mode(opset: int, outputs: str) -> None:
    """Before operator set 7 an attribute says that nothing is dropped."""
    x = RNG.random((2, 3), np.float32)
    assert _run(f"{outputs} = Dropout <is_test = 1, ratio = 0.3> (x)", opset, x=x).tolist() == x.tolist()


class TestBatchNormalization:
    """Before operator set 14 one output stands for inference, whatever the momentum."""

    ARRAYS = {name: RNG.random(shape, np.float32) for name, shape in zip("xsbmv", [[2, 3, 4], *[[3]] * 4], strict=True)}  # noqa: RUF012  read only

    @pytest.mark.parametrize("opset", [6, 9, 13, 14])
    @pytest.mark.parametrize("attributes", ["", "momentum = 0.5", "epsilon = 0.5"])
    def test_inference(self, opset: int, attributes: str) -> None:
        s, b, m, v = (self.ARRAYS[name][:, np.newaxis] for name in "sbmv")
        epsilon = np.float32(0.5 if "epsilon" in attributes else 1e-5)
        expected = s * (self.ARRAYS["x"] - m) / np.sqrt(v + epsilon) + b
        found = _run(f"c = BatchNormalization <{attributes}> (x, s, b, m, v)", opset, **self.ARRAYS)
        np.testing.assert_allclose(found, expected, rtol=1e-6)

    @pytest.mark.parametrize(
        ("node", "opset", "words"),
        [
            ("c, m2 = BatchNormalization(x, s, b, m, v)", 8, ("(BatchNormalization)", "training")),
            ("c = BatchNormalization <spatial = 0> (x, s, b, m, v)", 8, ("(BatchNormalization)", "spatial")),
            ("c = Softmax <axis = 7> (x)", 11, ("(Softmax)", "axis 7")),
            ("c = Dropout <ratio = 0.3> (x)", 6, ("(Dropout)", "training mode; set is_test=1")),
            # Scan-8 had batches; the evaluator does not know it.
            (
                "c = Scan <num_scan_inputs = 1, body = b (float[1] p) => (float[1] q) { q = Neg(p) }> ( , x)",
                8,
                ("(Scan)", "from operator set 9 on"),
            ),
        ],
    )
    def test_refused(self, node: str, opset: int, words: tuple[str, ...]) -> None:
        with one_line(ModelError, "node 'n'", *words):
            _run(node, opset, **self.ARRAYS)
