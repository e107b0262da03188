"""Print the files that the package is installed with, one a line, as seen from src/."""

from pathlib import Path

src = Path(__file__).parents[1] / "src"
compiled = {".cpp", ".hpp", ".h", ".build", ".so", ".pyd", ".dll", ".pyc"}
for path in sorted((src / "vinculum").rglob("*")):
    if path.is_file() and path.suffix not in compiled:
        print(path.relative_to(src).as_posix())
