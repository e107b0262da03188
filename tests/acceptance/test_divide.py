"""`vinculum divide`: two stored arrays into a third, by every operator."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from tests.acceptance.conftest import Vinculum
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
    """The array that the command writes, and its report."""

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
