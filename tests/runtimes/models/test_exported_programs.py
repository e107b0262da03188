"""Programs of torch.export as models, in memory and in files; findings name lines of Python."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

import vinculum
from vinculum.errors import ModelError


class MaskedMean(torch.nn.Module):
    """A mean over a mask that may be empty."""

    def forward(self, x: Any, mask: Any) -> Any:
        """Return the mean of each row."""
        return (x * mask).sum(dim=1) / mask.sum(dim=1)


@pytest.fixture(scope="module")
def program() -> Any:
    """Return the exported program."""
    batch = {0: torch.export.Dim("batch")}
    given = (torch.ones(2, 4), torch.ones(2, 4))
    return torch.export.export(MaskedMean(), given, dynamic_shapes={"x": batch, "mask": batch})


def test_a_finding_stands_on_a_line_of_python(program: Any) -> None:
    (finding,) = vinculum.check(program, assume=["mask=0|1"], runs=30).findings
    assert (finding.rule, finding.severity.value) == ("zero-over-zero", "witnessed")
    assert finding.frames[-1].file.endswith("test_exported_programs.py")
    assert finding.frames[-1].code == "return (x * mask).sum(dim=1) / mask.sum(dim=1)"


def test_a_loaded_program_is_pickled(program: Any) -> None:
    """Dask's workers get pickled models."""
    kept = pickle.loads(pickle.dumps(vinculum.load(program)))
    (found,), (expected,) = (vinculum.check(one, runs=0).findings for one in (kept, program))
    assert vars(found) == vars(expected)  # Findings have no ==, since witnesses hold arrays.


def test_a_file(program: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mean.pt2"
    torch.export.save(program, path)
    capfd.readouterr()
    assert [one.rule for one in vinculum.check(path, runs=0).findings] == ["zero-over-zero"]
    assert vinculum.load(path).divisions[0].operator.startswith("Div-")
    assert capfd.readouterr() == ("", "")


def test_what_is_no_program(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mean.pt2"
    with pytest.raises(ModelError, match="cannot be read"):
        vinculum.check(path)
    path.write_bytes(b"no archive")
    with pytest.raises(ModelError, match=r"is not a program that torch\.export\.save has written"):
        vinculum.check(path)
    assert capfd.readouterr() == ("", "")
