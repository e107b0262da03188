"""The build backend: meson-python, except that an editable installation is a path to src/ and nothing more.

meson-python's own one puts a finder before the others in each process. At every start it runs ninja, and it keeps no
bytecode: `import vinculum` takes twice as long. And PYTHONPATH no longer says which tree is imported.
"""

import csv
import io
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from mesonpy import (
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

_SRC = Path(__file__).parents[1] / "src"
_COMPILED = (
    f"vinculum/kernels/_core{sysconfig.get_config_var('EXT_SUFFIX')}",
    f"vinculum/onnxruntime/operators.{'dll' if sys.platform == 'win32' else 'so'}",
)
_PATH = "vinculum.pth"


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, str | list[str]] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build what is compiled into src/, and a wheel that holds the metadata and a path to src/."""
    with TemporaryDirectory() as folder:
        name: str = build_wheel(folder, config_settings)
        with ZipFile(Path(folder, name)) as whole, ZipFile(Path(wheel_directory, name), "w") as thin:
            metadata = [entry for entry in whole.namelist() if ".dist-info/" in entry]
            for entry in metadata:
                if not entry.endswith("/RECORD"):
                    thin.writestr(entry, whole.read(entry))
            thin.writestr(_PATH, f"{_path_line(str(_SRC))}\n")
            record = io.StringIO()
            csv.writer(record, lineterminator="\n").writerows((entry, "", "") for entry in [*metadata, _PATH])
            thin.writestr(next(entry for entry in metadata if entry.endswith("/RECORD")), record.getvalue())

            # New files, not the old ones' bytes: a process may have the old ones in use.
            for name_in_wheel in _COMPILED:
                (_SRC / name_in_wheel).unlink(missing_ok=True)
                if name_in_wheel in whole.namelist():
                    whole.extract(name_in_wheel, _SRC)
    return name


def _path_line(path: str) -> str:
    """Return a path as a line of a .pth file: code if it is not ASCII, all that Python 3.11 reads in the C locale."""
    return path if path.isascii() else f"import sys; sys.path.append({path!a})"
