"""`vinculum divide`: two stored arrays into a third, by every operator, and one line for whatever is wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr

from tests.acceptance.conftest import EachRefused, Refused, Vinculum
from vinculum import Operator

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")

A = np.array([[-7, 8, 9], [10, -11, 12]], np.int32)
B = np.array([2, -3, 4], np.int32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "a.npy", A)
    np.save(tmp_path / "b.npy", B)
    return tmp_path


class TestQuotients:
    """What the command writes and tells."""

    @pytest.mark.parametrize(
        ("options", "operator", "b"),
        [
            ("--operator Divide", Operator("Divide"), B),
            ("--operator Divide --m-pythondiv false", Operator("Divide", m_pythondiv=False), B),
            (
                "--operator Divide --auto-broadcast pdpd --axis 0",
                Operator("Divide", auto_broadcast="pdpd", axis=0),
                B[:2],
            ),
            ("--version 6 --broadcast 1 --axis 0", Operator("Div", opset=6, broadcast=1, axis=0), B[:2]),
            ("--dialect sonnx --variant int", Operator("Div", dialect="sonnx", variant="int"), A),
            ("--zero-divisor saturate", Operator("Div", zero_divisor="saturate"), B - 2),
            ("--zero-divisor zero --overflow saturate", Operator("Div", zero_divisor="zero"), B - 4),
        ],
    )
    def test_by_another(
        self, vinculum: Vinculum, folder: Path, options: str, operator: Operator, b: np.ndarray
    ) -> None:
        np.save(folder / "b.npy", b)
        done = vinculum("divide", "a.npy", "b.npy", "-o", "c.npy", "--json", *options.split(), folder=folder, code=0)
        assert json.loads(done.stdout)["operator"] == operator.spec.title
        assert np.load(folder / "c.npy").tolist() == operator(A, b).tolist()

    def test_of_one_operand(self, vinculum: Vinculum, folder: Path) -> None:
        np.save(folder / "x.npy", np.array([4, 0], "f4"))
        options = ("--operator", "Reciprocal", "--version", "1")
        assert vinculum("divide", "x.npy", "-o", "c.npy", *options, folder=folder).returncode == 0
        assert np.load(folder / "c.npy").tolist() == [0.25, np.inf]

    def test_of_raw_elements(self, vinculum: Vinculum, folder: Path) -> None:
        for name, bits in (("x", 0x40C0), ("y", 0x4040)):  # 6 and 3
            np.save(folder / f"{name}.npy", np.array([bits], np.uint16).view("V2"))
        assert vinculum("divide", "x.npy", "y.npy", "-o", "c.npy", "--type", "bfloat16", folder=folder).returncode == 0
        assert np.load(folder / "c.npy").view(np.uint16).tolist() == [0x4000]


class TestRefused:
    """One line, exit code 2, or 1 for what the policies raise; nothing is written."""

    def test_zero_divisors(self, refused: Refused, folder: Path) -> None:
        np.save(folder / "b.npy", B - 4)
        line = refused("divide", "a.npy", "b.npy", "-o", "c.npy", code=1)
        assert line.startswith("2 of 6 divisors of Div-14 are zero, the first at index (0, 2); to continue")
        assert line.endswith("to continue, give --zero-divisor zero or --zero-divisor saturate")
        np.save(folder / "b.npy", A - 12)
        assert refused(
            "divide", "a.npy", "b.npy", "-o", "c.npy", "--dialect", "sonnx", "--variant", "int", code=1
        ).startswith("[C3] 1 of 6 divisors")

    def test_one_line(self, each_refused: EachRefused, folder: Path) -> None:
        whole = (folder / "b.npy").read_bytes()
        (folder / "cut.npy").write_bytes(whole[:-1])
        (folder / "text.npy").write_text("no array")
        (folder / "empty.npy").touch()
        (folder / "there.npy").touch()
        (folder / "folder.npy").mkdir()
        np.save(folder / "f4.npy", B.astype("f4"))
        np.save(folder / "long.npy", np.ones(4, "i4"))
        np.save(folder / "bool.npy", B > 0)
        np.save(folder / "raw.npy", np.ones(3, "u2").view("V2"))
        np.save(folder / "u2.npy", np.ones(3, "u2"))
        given = {
            "a.npy -o c.npy": "Div-14 takes A and B; 1 given",
            "a.txt b.npy -o c.npy": "'a.txt' does not name a stored array; allowed: NAME.npy, NAME.zarr",
            "s3://b/a.zarr b.npy -o c.npy": "'s3://b/a.zarr' is a URL, and only files are divided",
            "raw.npy raw.npy -o c.npy --type int4": "is for raw elements of 1 bytes",
            "u2.npy u2.npy -o c.npy --type bfloat16": "'u2.npy' holds uint16, and element_type (--type) bfloat16 is",
        }
        divisors = {
            "none.npy": "none.npy cannot be read or written: No such file or directory",
            "none.zarr": "none.zarr cannot be read or written: No such file or directory",
            "cut.npy": "'cut.npy': int32 of shape (3,) takes 140 bytes; the file has 139",
            "text.npy": "'text.npy' cannot be read: ",
            "empty.npy": "'empty.npy' cannot be read: ",
            "folder.npy": "folder.npy",
            "f4.npy": "int32",
            "long.npy": "do not broadcast",
            "bool.npy": "B has NumPy type bool",
            "raw.npy": "raw elements of 2 bytes; give their type with",
        }
        results = {
            "memory://c.zarr": "'memory://c.zarr' is a URL",
            "c": "'c' does not name a stored array",
            "no/c.npy": "there is no folder 'no' for 'c.npy'; make it first",
            "a.npy": "'a.npy' is an operand, which is never written",
            "there.npy": "'there.npy' exists; delete it",
            ".": "'.' does not name a stored array",
        }
        options = {
            "--operator Reciprocal": "Reciprocal-13 takes X; 2 given",
            "--operator Div-6": "no operator 'Div-6'",
            "--version 5": "Div has no version 5; allowed: 1, 6, 7, 13, 14",
            "--axis 1": "Div-14 has no attribute 'axis'",
            "--dialect sonnx": "no variant given; allowed: real, float, int",
            "--type int32": "--type is 'int32'; allowed: bfloat16, ",
            "--type bfloat16": "'a.npy' holds int32",
            "--task-size 0": "--task-size",
            "--cluster xyz": "no scheduler answers at 'xyz'",
        }
        given |= {f"a.npy {b} -o c.npy": words for b, words in divisors.items()}
        given |= {f"a.npy b.npy -o {c}": words for c, words in results.items()}
        given |= {f"a.npy b.npy -o c.npy {option}": words for option, words in options.items()}
        each_refused("divide", given)

    def test_zarr_and_hdf5(self, each_refused: EachRefused, folder: Path) -> None:
        zarr.create_group(folder / "group.zarr").create_array("x", shape=(2,), dtype="i4")
        (folder / "hollow.zarr").mkdir()
        with h5py.File(folder / "a.h5", "w") as file:
            file["in/x"] = A
            file["text"] = "words"
            file["nothing"] = h5py.Empty("f4")
        (folder / "broken.h5").write_bytes(b"no HDF5")
        operands = {
            "group.zarr": "'group.zarr'",
            "hollow.zarr": "'hollow.zarr'",
            "a.h5": "'a.h5' has datasets, one has to be named: a.h5:/NAME; its datasets: '/in/x'",
            "a.h5:/y": "'a.h5' has no dataset '/y': a.h5:/NAME; its datasets: '/in/x'",
            "a.h5:/in": "'a.h5' has no dataset '/in'",
            "a.h5:/text": "'a.h5:/text' holds text or other objects",
            "a.h5:/nothing": "is an empty dataset, which has no shape",
            "broken.h5:/x": "broken.h5",
            "none.h5:/x": "none.h5 cannot be read or written: No such file or directory",
        }
        results = {"c.h5": "'c.h5' needs the name of a dataset: c.h5:/NAME", "a.h5:/in/y": "'a.h5' exists; delete it"}
        each_refused("divide", {f"{name} b.npy -o c.npy": words for name, words in operands.items()})
        each_refused("divide", {f"a.npy b.npy -o {name}": words for name, words in results.items()})
