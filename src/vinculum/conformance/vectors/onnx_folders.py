"""Folders in the layout of ONNX's node tests: a model, its inputs, and the quotient where there is one."""

from __future__ import annotations

from pathlib import Path

from onnx import numpy_helper

from vinculum.conformance.cases.case import Case
from vinculum.conformance.runtimes.programs.models import onnx_model
from vinculum.conformance.vectors.lines import name_of, standing
from vinculum.conformance.vectors.records import Standing

ROOMS = {Standing.EXACT: "node", Standing.UNSPECIFIED: "unspecified", Standing.REFUSED: "refused"}
"""The folder of each class of cases; all those in `node` can be run and compared."""

_TOLERANCE = b'{"atol": 0.0, "rtol": 0.0}\n'  # The default of ONNX's runner accepts relative errors of 0.001.


def write_folder(case: Case, folder: Path) -> None:
    """Write a case of an ONNX operator into a folder of its own, below the folder of its class.

    Parameters
    ----------
    case : Case
        The case.
    folder : Path
        The folder of the export.
    """
    own = folder / ROOMS[standing(case)] / name_of(case)
    data = own / "test_data_set_0"
    data.mkdir(parents=True)
    (own / "data.json").write_bytes(_TOLERANCE)
    (own / "model.onnx").write_bytes(onnx_model(case.operation).SerializeToString(deterministic=True))
    for number, (name, array) in enumerate(case.operation.inputs.items()):
        tensor = numpy_helper.from_array(array, name)
        (data / f"input_{number}.pb").write_bytes(tensor.SerializeToString(deterministic=True))
    if standing(case) is Standing.EXACT and case.expectation.quotient is not None:
        tensor = numpy_helper.from_array(case.expectation.quotient, case.operation.spec.outputs[0].name)
        (data / "output_0.pb").write_bytes(tensor.SerializeToString(deterministic=True))
