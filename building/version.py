"""Print the version, from the one place where it stands, without importing the package."""

import re
from pathlib import Path

package = Path(__file__).parents[1] / "src" / "vinculum" / "version.py"
print(re.findall(r'^__version__ = "(.+)"$', package.read_text(encoding="utf-8"), re.MULTILINE)[0])
