"""Conversion of ONNX models to OpenVINO IR, by OpenVINO's own reader and writer.

OpenVINO reads every Div as a Divide that floors. Each is found by its name, in bodies too, and made to truncate again.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from onnx import ModelProto

from vinculum.errors import ModelError
from vinculum.models.convert.change import Change
from vinculum.models.engines.openvino.onnx import prepared
from vinculum.models.engines.openvino.process import OpenVinoProcess, check_installed
from vinculum.models.onnx.scopes import title


def by_openvino(proto: ModelProto, folder: Path, name: str) -> list[Change]:
    """Write an IR, and return what was changed.

    - `proto`: self-contained; it is not changed.
    - `folder`, `name`: where to write, and the name of the ``.xml``.

    ModelError if OpenVINO is not installed, cannot read the model, or turns a division into another layer.
    """
    check_installed("writing an IR")
    model = prepared(proto)
    with TemporaryDirectory(dir=folder) as place:
        source = Path(place) / "source.onnx"
        source.write_bytes(model.proto.SerializeToString())
        process = OpenVinoProcess("vinculum.models.engines.openvino.writer:Writer")
        found = process.call("write", source, folder / name, model.names)
    if isinstance(found, str):
        raise ModelError(f"the model cannot be written by OpenVINO: {found}")
    model.check_found(found)
    titles = list(map(title, model.divisions))
    return [
        Change(titles[number], 'm_pythondiv="false"', "ONNX truncates") for number in sorted(found) if found[number]
    ]
