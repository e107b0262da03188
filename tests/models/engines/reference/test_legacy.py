"""Operators of old operator sets keep their old meaning.

What conversions compare, in `tests/models/convert/opset/test_other_operators.py`, is not repeated here.
"""

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
            ((2, 1), 0, (2, 1, 1, 1)),  # The documents forbid it, but exporters wrote it.
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
