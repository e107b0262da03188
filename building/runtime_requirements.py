"""Print what `make runtimes` installs: ``python building/runtime_requirements.py pinned|oldest|newest``.

``pinned`` are the versions that known_deviations/ is about, ``oldest`` the least that pyproject.toml allows of every
package, ``newest`` whatever the registry has. PyTorch is the pinned one in each: another build brings gigabytes.
"""

import re
import sys
import tomllib
from pathlib import Path

VERSIONS = ("pinned", "oldest", "newest")
FOREIGN = ("onnxruntime", "openvino", "jax")
_PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_EXTRAS = _PROJECT["optional-dependencies"]


def requirements(versions: str) -> list[str]:
    """Return the requirements of one of the three sets of versions."""
    pinned = _EXTRAS["runtimes"]
    testing = [requirement for requirement in _EXTRAS["test"] if "==" not in requirement]
    if versions == "pinned":
        return [*_PROJECT["dependencies"], *testing, *pinned]
    allowed = [*_PROJECT["dependencies"], *(requirement for name in FOREIGN for requirement in _EXTRAS[name])]
    if versions == "oldest":
        allowed = [re.sub(r">=([\w.]+).*", r"==\1", requirement) for requirement in allowed]
    return [*allowed, *testing, *(each for each in pinned if each.startswith(("torch==", "onnxscript==")))]


if __name__ == "__main__":
    if sys.argv[1:] not in [[name] for name in VERSIONS]:
        sys.exit(f"give one of {', '.join(VERSIONS)}")
    print("\n".join(requirements(sys.argv[1])))
