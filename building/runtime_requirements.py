"""Print what `make runtimes` installs: ``python building/runtime_requirements.py pinned|oldest|newest|gpu``.

Or what `make survey` does: ``python building/runtime_requirements.py known_deviations/tvm.toml``.

``pinned`` are the versions that known_deviations/ is about, ``oldest`` the least that pyproject.toml allows of every
package, ``newest`` whatever the registry has. PyTorch is the pinned one in each: another build brings gigabytes. So is
CUDA's compiler, on which nothing depends. ``gpu`` is for `make gpu`.
"""

import re
import sys
import tomllib
from pathlib import Path

VERSIONS = ("pinned", "oldest", "newest", "gpu")
FOREIGN = ("onnxruntime", "openvino", "jax")
_PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_EXTRAS = _PROJECT["optional-dependencies"]


def requirements(versions: str) -> list[str]:
    """Return the requirements of one of the three sets of versions."""
    pinned = _EXTRAS["runtimes"]
    testing = [requirement for requirement in _EXTRAS["test"] if "==" not in requirement]
    if versions == "pinned":
        return [*_PROJECT["dependencies"], *testing, *pinned]
    if versions == "gpu":
        torch, jax = (next(each for each in pinned if each.startswith(name)) for name in ("torch==", "jax=="))
        return [*_PROJECT["dependencies"], *testing, *_EXTRAS["cuda"], torch, jax.replace("==", "[cuda12]==")]
    allowed = [*_PROJECT["dependencies"], *(requirement for name in FOREIGN for requirement in _EXTRAS[name])]
    if versions == "oldest":
        allowed = [re.sub(r">=([\w.]+).*", r"==\1", requirement) for requirement in allowed]
    return [*allowed, *testing, *(each for each in pinned if each.startswith(("torch==", "onnxscript==", "nvidia-")))]


def surveyed(known: Path) -> list[str]:
    """Return the requirements of the runtime that a file of known deviations is about, at its versions."""
    versions = tomllib.loads(known.read_text(encoding="utf-8"))["versions"]
    # What follows a + names a build, which registries may have or not.
    return [*_PROJECT["dependencies"], *(f"{name}=={version.partition('+')[0]}" for name, version in versions.items())]


if __name__ == "__main__":
    (asked,) = sys.argv[1:] or ("",)
    if asked not in VERSIONS and not asked.endswith(".toml"):
        sys.exit(f"give one of {', '.join(VERSIONS)}, or a file of known_deviations/")
    print("\n".join(requirements(asked) if asked in VERSIONS else surveyed(Path(asked))))
