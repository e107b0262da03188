"""What the evaluator does not check or computes wrongly: indices out of bounds, huge results, invalid shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from tests.models.built_models import build, one_line, text_model
from vinculum.errors import ModelError
from vinculum.models import load
from vinculum.models.engines.reference.repairs import check_result_size
from vinculum.models.execution import LimitError, limited


def gathered(indices: Any, axis: int = 0) -> NDArray[Any]:
    """Return elements of the numbers from 0 to 199 in rows of 4."""
    nodes = f"[n] y = GatherElements <axis = {axis}> (x, i)"
    data = np.arange(200, dtype=np.float32).reshape(50, 4)
    return load(text_model(nodes, "float[] x, int64[] i", "float[] y")).run({"x": data, "i": np.array(indices, int)})[
        "y"
    ]


class TestGatherElements:
    """Each index counts along the axis, from its end if it is negative; those out of bounds are refused."""

    @pytest.mark.parametrize(
        ("indices", "axis", "found"),
        [
            ([[49, 0, -1, -50]], 0, [[196, 1, 198, 3]]),
            ([[3, 0], [-1, 1]], -1, [[3, 0], [7, 5]]),
            ([[3], [0]], 0, [[12], [0]]),
            (np.empty((0, 4)), 0, []),
        ],
    )
    def test_found(self, indices: Any, axis: int, found: list[Any]) -> None:
        assert gathered(indices, axis).tolist() == found

    @pytest.mark.parametrize(
        ("indices", "axis"),
        [
            *(([[i]], 0) for i in (2**63 - 1, -(2**63), 50, -51)),
            ([[0] * 5], 0),
            ([0], 0),
            (0, 0),
            ([[0]], 2),
            ([[0]], -3),
        ],
    )
    def test_refused(self, indices: Any, axis: int) -> None:
        with one_line(ModelError, "node 'n' (GatherElements) cannot be run: "):
            gathered(indices, axis)


@pytest.mark.parametrize("sizes", [(5,), (2, 3), (2, 3, 2)])
def test_the_largest_of_all_of_a_channel(sizes: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, *sizes)).astype(np.float32)
    y = load(text_model("y = GlobalMaxPool(x)", "float[] x", "float[] y")).run({"x": x})["y"]
    assert y.shape == (2, 3) + (1,) * len(sizes)
    assert y.reshape(2, 3).tolist() == x.reshape(2, 3, -1).max(axis=-1).tolist()


class TestPad:
    """A negative pad takes elements away, before the others repeat what is left."""

    @pytest.mark.parametrize(
        ("mode", "pads", "expected"),
        [
            ("constant", [1, -1], [7, 1, 2]),
            ("edge", [1, -1], [1, 1, 2]),
            ("reflect", [-1, 1], [2, 3, 2]),
            ("constant", [-1, -2], []),
            ("constant", [2, -4], [7]),
            ("constant", [-5, 3], [7]),
            ("constant", [0, 1], [1, 2, 3, 7]),
        ],
    )
    def test_padded(self, mode: str, pads: list[int], expected: list[int]) -> None:
        model = load(text_model(f'y = Pad <mode = "{mode}"> (x, pads, seven)', "float[] x, int64[2] pads", "float[] y",
                                constants="float seven = {7}"))  # fmt: skip
        given = {"x": np.array([1, 2, 3], np.float32), "pads": np.array(pads, np.int64)}
        assert model.run(given)["y"].tolist() == expected

    def test_pads_as_an_attribute(self) -> None:
        model = text_model("y = Pad <pads = [0, 1, 1, -1], value = 7.0> (x)", "float[] x", "float[] y", opset=10)
        assert load(model).run({"x": np.ones((1, 2), np.float32)})["y"].tolist() == [[7, 1], [7, 7]]

    def test_axes(self) -> None:
        model = load(
            text_model("y = Pad (x, pads, , axes)", "float[] x, int64[2] pads, int64[1] axes", "float[] y", opset=18)
        )
        given = {"x": np.ones((1, 3), np.float32), "pads": np.array([0, -2]), "axes": np.array([-1])}
        assert model.run(given)["y"].tolist() == [[1]]

    def test_more_is_taken_away_than_there_is(self) -> None:
        model = load(text_model("[n] y = Pad (x, pads)", "float[] x, int64[2] pads", "float[] y"))
        with one_line(ModelError, "node 'n' (Pad) cannot be run: its pads leave -1 elements along axis 0"):
            model.run({"x": np.ones(3, np.float32), "pads": np.array([-2, -2])})

    def test_a_wrong_number_of_pads(self) -> None:
        model = load(text_model("[n] y = Pad (x, pads)", "float[] x, int64[6] pads", "float[] y"))
        with one_line(ModelError, "node 'n' (Pad) cannot be run: it has 6 pads; allowed: 2 for each of 2 axes"):
            model.run({"x": np.ones((1, 3), np.float32), "pads": np.arange(6)})


class TestSTFT:
    """ONNX Runtime takes real signals with and without a last dimension of 1."""

    def test_a_signal_without_last_dimension(self) -> None:
        nodes = "y = STFT (x, step, , length)"
        constants = "int64 step = {2}, int64 length = {4}"
        model = load(text_model(nodes, "float[] x", "float[] y", constants=constants, opset=17))
        signal = np.arange(16, dtype=np.float32).reshape(2, 8)
        flat, deep = (model.run({"x": x})["y"] for x in (signal, signal[..., np.newaxis]))
        assert flat.shape == (2, 3, 3, 2)
        assert flat.tolist() == deep.tolist()

    def test_a_signal_shorter_than_a_frame(self) -> None:
        nodes = "[n] y = STFT (x, step, window)"
        constants = "int64 step = {2}, float[4] window = {1, 1, 1, 1}"
        model = load(text_model(nodes, "float[] x", "float[] y", constants=constants, opset=17))
        with one_line(
            ModelError, "node 'n' (STFT) cannot be run: its signal of 3 elements is shorter than a frame of 4"
        ):
            model.run({"x": np.ones((1, 3), np.float32)})


class TestReshape:
    """Sizes from 0 on, and -1 once; NumPy would take any negative size for -1."""

    def reshaped(self, data: NDArray[Any], shape: list[int]) -> tuple[int, ...]:
        """Return the shape of data that a model reshapes."""
        model = load(text_model("[n] y = Reshape(x, shape)", "float[] x, int64[?] shape", "float[] y"))
        return model.run({"x": data, "shape": np.array(shape, np.int64)})["y"].shape

    @pytest.mark.parametrize("shape", [[-2], [-1, -1], [2, -(2**63)]])
    def test_refused(self, shape: list[int]) -> None:
        with one_line(ModelError, "node 'n' (Reshape) cannot be run: its shape operand holds", "-1 once"):
            self.reshaped(np.ones((2, 3), np.float32), shape)

    def test_allowed(self) -> None:
        assert self.reshaped(np.ones((2, 3), np.float32), [0, -1, 1]) == (2, 3, 1)
        assert self.reshaped(np.ones(1, np.float32), []) == ()


def _node(operator: str, inputs: str, **attributes: Any) -> Any:
    return helper.make_node(
        operator, ["" if name == "-" else name for name in inputs.split()], ["c"], "n", **attributes
    )


ONES, WIDE = np.ones((2, 2)), np.array(2**50)
X = np.ones((2, 3), np.int16)


class TestSizes:
    """No small operand makes a tensor larger than the machine's memory."""

    @pytest.mark.parametrize(
        ("node", "operands"),
        [
            (_node("ConstantOfShape", "a"), [np.array([2**40, 2**40])]),
            (_node("OneHot", "a b d"), [np.empty(0, np.int64), WIDE, np.array([0, 1], np.int8)]),
            *((_node(f"{window}Window", "a"), [WIDE]) for window in ("Hann", "Blackman", "Hamming")),
        ],
    )
    def test_refused_before_it_is_allocated(self, node: Any, operands: list[Any]) -> None:
        codes = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in operands]
        given = [name for name in node.input if name]
        declared = {name: (code, None) for name, code in zip(given, codes, strict=True)}
        model = load(build([node], declared, {"c": (TensorProto.FLOAT, None)}))
        with one_line(ModelError, "node 'n'", "its result would take"):
            model.run(dict(zip(given, operands, strict=True)))

    @pytest.mark.parametrize(
        ("node", "operands", "size"),
        [
            (_node("ConstantOfShape", "a"), [np.array([2, 3])], 4 * 6),
            (_node("ConstantOfShape", "a", value=helper.make_tensor("v", 3, [1], [0])), [np.array([2, 3])], 6),
            (_node("Expand", "a b"), [X, np.array([5, 2, 3])], 2 * 30),
            (_node("Tile", "a b"), [X, np.array([2, 7])], 2 * 84),
            (_node("Range", "a b d"), [np.array(x, np.int16) for x in (3, 17, 4)], 2 * 4),
            (_node("Pad", "a b"), [X, np.array([1, 0, 2, 4])], 2 * 5 * 7),
            (_node("Pad", "a", pads=[1, 0, 2, 4]), [X], 2 * 5 * 7),
            (_node("Pad", "a b d e"), [X, np.array([1, 4]), np.array(0, np.int16), np.array([-1])], 2 * 2 * 8),
            (_node("OneHot", "a b d"), [np.arange(3), np.array(5), np.zeros(2, np.int32)], 4 * 15),
            (_node("HannWindow", "a"), [np.array(5)], 8 * 5),
            (_node("Upsample", "a b"), [X, np.array([2, 3], np.float32)], 2 * 4 * 9),
            (_node("Resize", "a - b"), [X, None, np.array([2, 3], np.float32)], 2 * 4 * 9),
            (_node("Resize", "a - - b"), [X, None, None, np.array([5, 7])], 2 * 35),
            (_node("Resize", "a - - b", axes=[1]), [X, None, None, np.array([7])], 2 * 14),
            # What looks large, and is not.
            (_node("ConstantOfShape", "a"), [np.array([], np.int64)], 4),
            (_node("Tile", "a b"), [np.ones(2), np.array([0])], 0),
            (_node("Range", "a b d"), [np.array(5.0), np.array(1.0), np.array(0.5)], 0),
            (_node("Range", "a b d"), [np.array(5), np.array(1), np.array(0)], 0),
            (_node("Range", "a b d"), [np.array(5.0), np.array(np.inf), np.array(1.0)], 0),
            (_node("Pad", "a b"), [ONES, np.array([-(2**50), 0, 0, 0])], 8 * 4),
            (_node("OneHot", "a b d"), [np.array([1]), np.array([-(2**50)]), np.array([0, 1])], 0),
            (_node("Resize", "a b d"), [np.ones((1, 2)), None, np.array([np.nan, 1], np.float32)], 0),
        ],
    )
    def test_to_the_byte(self, node: Any, operands: list[Any], size: int) -> None:
        with limited(60.0, size):
            check_result_size(node, operands)
        with limited(60.0, size - 1), pytest.raises(LimitError, match=f" {size} bytes"):
            check_result_size(node, operands)

    def test_operators_of_others(self) -> None:
        check_result_size(_node("ConstantOfShape", "a", domain="custom"), [np.array([2**30, 2**30])])
