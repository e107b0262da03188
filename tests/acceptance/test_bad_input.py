"""Bad input: one line that says what was given and what is allowed, exit code 2, and nothing written or changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from tests.copies import copied

Refused = Callable[..., str]

X = "x=x.npy"
RUN_ONNX = ("run", "model.onnx", "--input", X, "--output", "out")


@pytest.fixture
def layer_norm(tmp_path: Path, examples: Path) -> Path:
    """Return the path of a copy of the example, its input ``x.npy`` beside it."""
    for name in ("model.onnx", "x.npy"):
        copied(examples / "layer_norm" / name, tmp_path)
    return tmp_path / "model.onnx"


def save_division(path: Path, *, opset: int = 14, element_type: int = TensorProto.FLOAT, **attributes: int) -> None:
    """Write a model of one Div of two inputs `a` and `b` of shape (N, 3)."""
    declared = [helper.make_tensor_value_info(name, element_type, ["N", 3]) for name in "abq"]
    node = helper.make_node("Div", ["a", "b"], ["q"], name="ratio")
    node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
    graph = helper.make_graph([node], "graph", declared[:2], declared[2:])
    operator_sets = [helper.make_operatorsetid("", opset)]
    path.write_bytes(helper.make_model(graph, opset_imports=operator_sets, ir_version=8).SerializeToString())


def edit(path: Path, change: Callable[[ModelProto], object]) -> None:
    """Change an ONNX file."""
    model = onnx.load(path, load_external_data=False)
    change(model)
    path.write_bytes(model.SerializeToString())


class TestArrays:
    """A wrong type or shape, a missing or surplus input."""

    def test_wrong_element_type(self, refused: Refused, layer_norm: Path) -> None:
        np.save(layer_norm.with_name("x.npy"), np.zeros((3, 4, 16)))
        assert refused(*RUN_ONNX) == (
            "input 'x' has element type double; the model declares float: convert it with .astype('float32')"
        )

    @pytest.mark.parametrize(("shape", "reason"), [((3, 4), "the ranks differ"), ((3, 5, 16), "dimension 1 differs")])
    def test_wrong_shape(self, refused: Refused, layer_norm: Path, shape: tuple[int, ...], reason: str) -> None:
        np.save(layer_norm.with_name("x.npy"), np.zeros(shape, np.float32))
        assert refused(*RUN_ONNX) == f"input 'x' has shape {shape}; the model declares (batch, 4, 16): {reason}"

    def test_one_symbol_of_two_sizes(self, refused: Refused, tmp_path: Path) -> None:
        save_division(tmp_path / "model.onnx")
        np.save(tmp_path / "a.npy", np.ones((2, 3), np.float32))
        np.save(tmp_path / "b.npy", np.ones((4, 3), np.float32))
        line = refused("run", "model.onnx", "--input", "a=a.npy", "--input", "b=b.npy", "--output", "out")
        assert "but N is 2 by input 'a'" in line

    def test_missing_input(self, refused: Refused, layer_norm: Path) -> None:
        line = refused("run", layer_norm, "--output", "out")
        assert line.startswith("no array for input 'x' (float, shape (batch, 4, 16)); give one with --input x=FILE")
        assert "--seed" in line

    def test_surplus_input(self, refused: Refused, layer_norm: Path) -> None:
        assert refused(*RUN_ONNX, "--input", "y=x.npy") == "the model has no input 'y'; its inputs: 'x'"


class TestFilesOfArrays:
    """A file of an array that is truncated, malformed, or not what it seems."""

    @pytest.mark.parametrize(
        ("content", "words"),
        [(b"", "cannot be read"), (b"\x93NUMPY\x01\x00\xff\xff{", "cannot be read"), (b"not an array", "magic string")],
        ids=["empty", "header cut off", "text"],
    )
    def test_malformed_npy(self, refused: Refused, layer_norm: Path, content: bytes, words: str) -> None:
        layer_norm.with_name("x.npy").write_bytes(content)
        line = refused(*RUN_ONNX)
        assert line.startswith("input 'x' from 'x.npy'")
        assert words in line

    def test_truncated_npy(self, refused: Refused, layer_norm: Path) -> None:
        file = layer_norm.with_name("x.npy")
        file.write_bytes(file.read_bytes()[:-4])
        assert refused(*RUN_ONNX).endswith("float32 of shape (3, 4, 16) takes 768 bytes; the file has 764")

    def test_npy_of_an_impossible_size(self, refused: Refused, layer_norm: Path) -> None:
        with layer_norm.with_name("x.npy").open("wb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": (2**40, 2**40)}
            np.lib.format.write_array_header_1_0(file, header)
        assert "takes 4835703278458516698824704 bytes; the file has 0" in refused(*RUN_ONNX)

    def test_pickled_objects_are_not_loaded(self, refused: Refused, layer_norm: Path) -> None:
        np.save(layer_norm.with_name("x.npy"), np.array([print], object), allow_pickle=True)
        assert "Python objects, which are never unpickled" in refused(*RUN_ONNX)

    def test_member_that_is_not_there(self, refused: Refused, layer_norm: Path) -> None:
        np.savez(layer_norm.with_name("x.npz"), first=np.zeros(1), second=np.zeros(1))
        line = refused("run", "model.onnx", "--input", "x=x.npz", "--output", "out")
        assert line.endswith("it has no member 'x'; its members: 'first', 'second'")
        assert "no member 'third'" in refused("run", "model.onnx", "--input", "x=x.npz:third", "--output", "out")

    def test_archive_that_is_none(self, refused: Refused, layer_norm: Path) -> None:
        layer_norm.with_name("x.npz").write_bytes(b"PK\x03\x04 and no more")
        assert "not a zip file" in refused("run", "model.onnx", "--input", "x=x.npz", "--output", "out")

    def test_truncated_tensor_proto(self, refused: Refused, tmp_path: Path, examples: Path) -> None:
        content = (examples / "div_6_axis" / "A.pb").read_bytes()
        (tmp_path / "A.pb").write_bytes(content[:-4])
        copied(examples / "div_6_axis" / "model.onnx", tmp_path)
        line = refused("run", "model.onnx", "--input", "A=A.pb", "--seed", "0", "--output", "out")
        assert line.startswith("input 'A' from 'A.pb'")

    def test_tensor_proto_that_points_outside(self, refused: Refused, layer_norm: Path) -> None:
        tensor = TensorProto(data_type=TensorProto.FLOAT, dims=[3, 4, 16], data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="../x.bin")
        layer_norm.with_name("x.pb").write_bytes(tensor.SerializeToString())
        assert "without '..'" in refused("run", "model.onnx", "--input", "x=x.pb", "--output", "out")

    @pytest.mark.parametrize(
        ("option", "words"),
        [
            ("x", "input 'x' from 'x': unknown kind of file; allowed: .npy"),
            ("none.npy", "'none.npy' cannot be read: No such file or directory"),
            ("x=", "is not of the form NAME=FILE"),
            ("x=model.onnx", "allowed: .npy, .npz, .pb"),
            ("x=none.npy", "'none.npy' cannot be read: No such file or directory"),
            ("x=folder.npy", "is a directory"),
        ],
    )
    def test_options(self, refused: Refused, layer_norm: Path, option: str, words: str) -> None:
        layer_norm.with_name("folder.npy").mkdir()
        assert words in refused("run", "model.onnx", "--input", option, "--output", "out")

    def test_an_input_given_twice(self, refused: Refused, layer_norm: Path) -> None:
        assert refused(*RUN_ONNX, "--input", X) == "--input gives 'x' twice; give it once"


class TestOnnxFiles:
    """A truncated or malformed file, a wrong attribute, version or operator set, and tensors that lie."""

    @pytest.mark.parametrize("kept", [0, 1, 100, -1])
    def test_truncated(self, refused: Refused, layer_norm: Path, kept: int) -> None:
        layer_norm.write_bytes(layer_norm.read_bytes()[:kept])
        assert refused(*RUN_ONNX).startswith("model 'model.onnx' ")

    def test_garbage(self, refused: Refused, layer_norm: Path) -> None:
        layer_norm.write_bytes(np.random.default_rng(5).bytes(10_000))
        assert "is not a readable ONNX file" in refused(*RUN_ONNX)

    @pytest.mark.parametrize(("model", "reason"), [("none.onnx", "No such file"), (".", "is a directory")])
    def test_no_file(self, refused: Refused, model: str, reason: str) -> None:
        line = refused("run", model, "--output", "out")
        assert line.startswith(f"model {model!r} cannot be read: ")
        assert reason in line

    def test_wrong_element_type(self, refused: Refused, tmp_path: Path) -> None:
        save_division(tmp_path / "model.onnx", opset=13, element_type=TensorProto.INT8)
        line = refused("run", "model.onnx", "--seed", 0, "--output", "out")
        assert line.startswith("model 'model.onnx': node 'ratio' (Div-13): ")
        assert "int8" in line
        assert "14" in line

    @pytest.mark.parametrize(
        ("opset", "attributes", "words"),
        [(14, {"axis": 1}, "axis"), (6, {"broadcast": 2}, "broadcast"), (6, {"broadcast": 1, "axis": -1}, "axis")],
    )
    def test_wrong_attribute(
        self, refused: Refused, tmp_path: Path, opset: int, attributes: dict[str, int], words: str
    ) -> None:
        save_division(tmp_path / "model.onnx", opset=opset, **attributes)
        line = refused("run", "model.onnx", "--seed", 0, "--output", "out")
        assert line.startswith("model 'model.onnx': node 'ratio' (Div-")
        assert words in line

    def test_shapes_that_do_not_fit(self, refused: Refused, layer_norm: Path) -> None:
        save_division(layer_norm, opset=6, broadcast=1)
        edit(layer_norm, lambda model: model.graph.input[1].type.tensor_type.shape.dim[1].__setattr__("dim_value", 1))
        line = refused("run", "model.onnx", "--seed", 0, "--dim", "N=2", "--output", "out")
        assert line.startswith("node 'ratio' (Div-6)")

    def test_operator_set_zero(self, refused: Refused, layer_norm: Path) -> None:
        edit(layer_norm, lambda model: model.opset_import[0].__setattr__("version", 0))
        assert "operator set 0" in refused(*RUN_ONNX)

    def test_no_operator_set(self, refused: Refused, layer_norm: Path) -> None:
        edit(layer_norm, lambda model: model.ClearField("opset_import"))
        assert "imports no operator set" in refused(*RUN_ONNX)

    def test_operator_that_nobody_knows(self, refused: Refused, layer_norm: Path) -> None:
        edit(layer_norm, lambda model: model.graph.node[0].__setattr__("op_type", "Nonsense"))
        assert "Nonsense" in refused(*RUN_ONNX)

    @pytest.mark.parametrize("location", ["../outside", "/etc/hostname", "inner/../../outside", "C:\\outside"])
    def test_external_data_outside(self, refused: Refused, tmp_path: Path, examples: Path, location: str) -> None:
        copied(examples / "rms_norm", tmp_path)

        def point_outside(model: ModelProto) -> None:
            for tensor in model.graph.initializer:
                for entry in tensor.external_data:
                    entry.value = location if entry.key == "location" else entry.value

        edit(tmp_path / "model.onnx", point_outside)
        assert "without '..'" in refused(*RUN_ONNX)

    def test_external_data_by_a_link_outside(self, refused: Refused, tmp_path: Path, examples: Path) -> None:
        copied(examples / "rms_norm", tmp_path)
        (tmp_path / "weights.data").unlink()
        (tmp_path / "weights.data").symlink_to(examples / "rms_norm" / "weights.data")
        assert "a link that leads outside" in refused(*RUN_ONNX)

    def test_external_data_that_ends_early(self, refused: Refused, tmp_path: Path, examples: Path) -> None:
        copied(examples / "rms_norm", tmp_path)
        (tmp_path / "weights.data").write_bytes(b"1234")
        assert "which has only 4" in refused(*RUN_ONNX)

    @pytest.mark.parametrize("dims", [[2**62, 2**62], [2**62, 4], [-1, 4]])
    def test_initializer_of_an_impossible_shape(self, refused: Refused, layer_norm: Path, dims: list[int]) -> None:
        def declare(model: ModelProto) -> None:
            del model.graph.initializer[0].dims[:]
            model.graph.initializer[0].dims.extend(dims)

        edit(layer_norm, declare)
        assert f"shape ({dims[0]}, {dims[1]})" in refused(*RUN_ONNX)

    def test_input_of_an_impossible_shape(self, refused: Refused, layer_norm: Path) -> None:
        def declare(model: ModelProto) -> None:
            for dimension in model.graph.input[0].type.tensor_type.shape.dim:
                dimension.dim_value = 2**40

        edit(layer_norm, declare)
        assert "its size in bytes exceeds 2**63 - 1" in refused("run", layer_norm, "--seed", 0, "--output", "out")

    def test_a_name_with_control_characters_is_harmless(self, refused: Refused, tmp_path: Path) -> None:
        save_division(tmp_path / "model.onnx", opset=14, axis=1)
        edit(tmp_path / "model.onnx", lambda m: m.graph.node[0].__setattr__("name", "\x1b[2J\r\n\x07[red]\u202e"))
        line = refused("run", "model.onnx", "--seed", 0, "--output", "out")
        assert "\\x1b[2J\\r\\n\\x07[red]\\u202e" in line


class TestOptions:
    """Wrong usage of ``vinculum run``."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((), "Missing argument 'MODEL'"),
            (("model.onnx", "--unknown"), "No such option: --unknown"),
            (("model.onnx", "--seed", "x"), "--seed"),
            (("model.onnx", "--seed", "-1"), "--seed"),
            (("model.onnx", "--seed", "0", "--dim", "batch"), "is not of the form NAME=SIZE"),
            (("model.onnx", "--seed", "0", "--dim", "batch=-1"), "is not of the form NAME=SIZE"),
            (("model.onnx", "--seed", "0", "--dim", "depth=2"), "symbolic dimensions: 'batch'"),
            (("model.onnx", "--input", X, "--dim", "batch=2"), "'batch' is 3 already"),
            (("model.onnx", "--seed", "0", "--dim", "batch=9999999"), "takes more than 1 GiB"),
            (
                ("model.onnx", "--seed", "0", "--zero-divisor", "ignore"),
                "'--zero-divisor': 'ignore' is not one of 'raise', 'zero'",
            ),
            (
                ("model.onnx", "--seed", "0", "--overflow", "ignore"),
                "'--overflow': 'ignore' is not one of 'wrap', 'raise'",
            ),
            (("model.onnx", "--seed", "0", "--output", "x.npy"), "is not a folder"),
        ],
    )
    def test_refusals(self, refused: Refused, layer_norm: Path, arguments: tuple[str, ...], words: str) -> None:
        assert words in refused("run", *arguments)

    def test_an_output_never_replaces_an_input(self, refused: Refused, layer_norm: Path) -> None:
        layer_norm.with_name("x.npy").rename(layer_norm.with_name("y.npy"))
        line = refused("run", "model.onnx", "--input", "x=y.npy", "--output", ".")
        assert line == "output 'y' would replace the input 'y.npy'; give another --output"
