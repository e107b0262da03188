"""IR files: which graphs run, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vinculum.errors import BroadcastError, DivisionByZeroError, ModelError
from vinculum.models import DivisionRecord, load

OneLine = Callable[..., AbstractContextManager[None]]
File = Callable[..., Path]

X = (
    '<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="i32" shape="?"/>'
    '<output><port id="0"/></output></layer>'
)
W = (
    '<layer id="1" name="w" type="Const" version="opset1"><data element_type="i32" shape="2" offset="0" size="8"/>'
    '<output><port id="0"/></output></layer>'
)
D = (
    '<layer id="2" name="d" type="Divide" version="opset1"><data auto_broadcast="numpy" m_pythondiv="true"/>'
    '<input><port id="0"/><port id="1"/></input><output><port id="2" names="q"/></output></layer>'
)
R = '<layer id="3" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>'
DATA = np.array([3, -4], np.int32).tobytes()


def _edge(start: str, end: str) -> str:
    (from_layer, from_port), (to_layer, to_port) = start.split("."), end.split(".")
    return f'<edge from-layer="{from_layer}" from-port="{from_port}" to-layer="{to_layer}" to-port="{to_port}"/>'


EDGES = _edge("0.0", "2.0") + _edge("1.0", "2.1") + _edge("2.2", "3.0")


class TestRun:
    """Parameter, Const, Convert, Divide and Result run, in IR versions 10 and 11."""

    @pytest.mark.parametrize("version", ["10", "11"])
    @pytest.mark.parametrize(("flag", "expected"), [("true", [-4, 2]), ("false", [-3, 2])])
    def test_floor_and_truncating(self, ir_file: File, version: str, flag: str, expected: list[int]) -> None:
        layers = X + W + D.replace('pythondiv="true"', f'pythondiv="{flag}"') + R
        model = load(ir_file(layers, EDGES, DATA, version))
        assert model.run({"x": np.array([-11, -9], np.int32)})["q"].tolist() == expected
        assert [tensor.name for tensor in model.inputs] == ["x"]
        assert model.inputs[0].shape == (None,)
        assert model.outputs[0].shape == (2,)

    def test_policies_and_observer(self, ir_file: File) -> None:
        layers = X + W.replace("w", "w2") + D + R
        model = load(ir_file(layers, EDGES, np.array([0, -1], np.int32).tobytes()))
        records: list[DivisionRecord] = []
        array = np.array([5, -(2**31)], np.int32)
        output = model.run({"x": array}, zero_divisor="saturate", overflow="saturate", observer=records.append)["q"]
        assert output.tolist() == [2**31 - 1, 2**31 - 1]
        assert [record.division for record in records] == list(model.divisions)
        with pytest.raises(DivisionByZeroError, match=r"^node 'd' \(Divide-1\): ") as caught:
            model.run({"x": array})
        assert (caught.value.count, caught.value.first_index) == (1, (0,))

    def test_an_input_handed_through_is_not_the_output(self, ir_file: File) -> None:
        array = np.array([5], np.int32)
        output = load(ir_file(X + R, _edge("0.0", "3.0"))).run({"x": array})["r"]
        assert not np.shares_memory(output, array)

    def test_a_constant_outlasts_what_a_caller_does_to_outputs(self, ir_file: File) -> None:
        model = load(ir_file(W + R, _edge("1.0", "3.0"), DATA))
        model.run({})["r"][:] = 0
        assert model.run({})["r"].tolist() == [3, -4]


def _shaping(kind: str, data: str, inputs: int = 2) -> str:
    ports = "".join(f'<port id="{number}"/>' for number in range(inputs))
    return (
        f'<layer id="2" name="d" type="{kind}" version="opset1"><data {data}/>'
        f'<input>{ports}</input><output><port id="2" names="q"/></output></layer>'
    )


class TestShapes:
    """Unsqueeze, Squeeze and Reshape run, and what they give is known before where the file settles it."""

    @pytest.mark.parametrize(
        ("kind", "data", "numbers", "declared", "known", "result"),
        [
            ("Unsqueeze", "", [0, -1], "?", (1, None, 1), (1, 4, 1)),
            ("Squeeze", "", [1, 0], "?,1", (), ()),
            ("Squeeze", "", [1, 0], "4,1", (4,), (4,)),
            ("Squeeze", "", [1, 2], "...", None, (4, 6)),
            ("Reshape", 'special_zero="true"', [0, 2], "?,1,2", (None, 2), (4, 2)),
            ("Reshape", 'special_zero="false"', [2, 2], "...", (2, 2), (2, 2)),
            ("Reshape", 'special_zero="1"', [-1, 2], "...", (None, 2), (2, 2)),
        ],
    )
    def test_every_kind(
        self,
        ir_file: File,
        kind: str,
        data: str,
        numbers: list[int],
        declared: str,
        known: Any,
        result: tuple[int, ...],
    ) -> None:
        layers = X.replace('"?"', f'"{declared}"') + W + _shaping(kind, data) + R
        model = load(ir_file(layers, EDGES, np.array(numbers, np.int32).tobytes()))
        assert model.outputs[0].shape == known
        shape = {"?": (4,), "?,1": (1, 1), "4,1": (4, 1), "?,1,2": (4, 1, 2)}.get(declared, (2, 2))
        array = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
        if kind == "Squeeze" and declared == "...":
            array = np.zeros((4, 6, 1), np.int32)
        assert model.run({"x": array})["q"].shape == result

    def test_a_dimension_that_turns_out_not_to_be_1(self, ir_file: File, one_line: OneLine) -> None:
        layers = X.replace('"?"', '"?,2"') + W + _shaping("Squeeze", "") + R
        model = load(ir_file(layers, EDGES, np.array([0, 0], np.int32).tobytes()))
        with one_line(BroadcastError, "layer 'd' (Squeeze)", "down to rank 1", "(3, 2)"):
            model.run({"x": np.ones((3, 2), np.int32)})

    @pytest.mark.parametrize(
        ("layer", "shape", "kind", "part"),
        [
            (_shaping("Reshape", 'special_zero="true"'), "4", BroadcastError, "layer 'd' (Reshape): the pattern"),
            (_shaping("Reshape", ""), "4", ModelError, "layer 'd' (Reshape) has no attribute special_zero"),
            (_shaping("Reshape", 'special_zero="maybe"'), "4", ModelError, "special_zero of layer 'd' (Reshape) is 'm"),
            (_shaping("Unsqueeze", ""), "", BroadcastError, "layer 'd' (Unsqueeze): axis 3 is outside of rank 2"),
            (
                _shaping("Unsqueeze", "", 1),
                "4",
                ModelError,
                "1 input ports and 1 output ports; it takes 2 inputs and 1",
            ),
        ],
    )
    def test_refused(
        self, ir_file: File, one_line: OneLine, layer: str, shape: str, kind: type[Exception], part: str
    ) -> None:
        edges = EDGES if '<port id="1"/>' in layer else _edge("0.0", "2.0") + _edge("2.2", "3.0")
        layers = X.replace('"?"', f'"{shape}"') + W + layer + R
        with one_line(kind, part):
            load(ir_file(layers, edges, np.array([3, 1], np.int32).tobytes()))


class TestNames:
    """An output is called as its tensor is, or as its Result layer where the tensor has no name to itself."""

    @pytest.mark.parametrize(
        ("divide", "result", "expected"),
        [
            (D, R, "q"),
            (D.replace(' names="q"', ""), R, "r"),
            (D, R.replace("version", 'output_names="o" version'), "o"),
        ],
    )
    def test_one(self, ir_file: File, divide: str, result: str, expected: str) -> None:
        assert [tensor.name for tensor in load(ir_file(X + W + divide + result, EDGES, DATA)).outputs] == [expected]

    def test_one_tensor_of_two_results(self, ir_file: File) -> None:
        second = R.replace('id="3" name="r"', 'id="4" name="s"')
        model = load(ir_file(X + W + D + R + second, EDGES + _edge("2.2", "4.0"), DATA))
        assert [tensor.name for tensor in model.outputs] == ["r", "s"]


class TestRefused:
    """Bad input: graphs that cannot be run."""

    @pytest.mark.parametrize(
        ("layers", "edges", "part"),
        [
            (X + W + D + R, _edge("0.0", "2.0") + _edge("2.2", "3.0"), "no edge leads to input port '1' of layer 'd'"),
            (X + W + D.replace('<port id="1"/>', "") + R, _edge("0.0", "2.0") + _edge("2.2", "3.0"), "1 input ports"),
            (X + W + D.replace('<output><port id="2" names="q"/></output>', "") + R, "", "0 output ports"),
            (W + D + R, _edge("2.2", "2.0") + _edge("1.0", "2.1") + _edge("2.2", "3.0"), "'d', 'd' form a cycle"),
            (X + W + D, _edge("0.0", "2.0") + _edge("1.0", "2.1"), "no Result layer"),
            ("", "", "no Result layer"),
            (
                X + X.replace('id="0" name', 'id="9" name') + R,
                _edge("0.0", "3.0"),
                "two Parameter layers are called 'x'",
            ),
            (
                X + R + R.replace('id="3"', 'id="4"'),
                _edge("0.0", "3.0") + _edge("0.0", "4.0"),
                "two Result layers are called 'r'",
            ),
            (X + W.replace('offset="0"', 'offset="4"') + D + R, EDGES, "layer 'w' (Const) needs 8 bytes at offset 4"),
        ],
    )
    def test_every_part(self, ir_file: File, one_line: OneLine, layers: str, edges: str, part: str) -> None:
        with one_line(ModelError, part):
            load(ir_file(layers, edges, DATA))

    def test_no_data_file(self, ir_file: File, one_line: OneLine) -> None:
        with one_line(ModelError, "layer 'w' (Const)", "'model.bin'"):
            load(ir_file(X + W + D + R, EDGES, None))

    def test_sizes_outside_a_range(self, ir_file: File, one_line: OneLine) -> None:
        model = load(ir_file(X.replace('"?"', '"1..3"') + R, _edge("0.0", "3.0")))
        assert model.run({"x": np.ones(3, np.int32)})["r"].tolist() == [1, 1, 1]
        with one_line(BroadcastError, "input 'x' has shape (4,)", "1 to 3"):
            model.run({"x": np.ones(4, np.int32)})
