"""Print what CHANGELOG.md says of the version that a tag names, or of what is unreleased if none is given.

The exit code is 1, with a line that says why, if the tag is not that of the version in the sources, or the version
has no section with a date.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
_VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


def notes(tag: str, version: str, changelog: str) -> str:
    """Return the section of a changelog.

    Raises
    ------
    ValueError
        If the tag is not `version` with a v, or the version has no section with a date.
    """
    if tag and tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, and the version in src/vinculum/version.py is {version}: they must agree")
    title = rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d" if tag else r"\[Unreleased\]"
    section = re.search(rf"^## {title}\n+(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if section is None:
        raise ValueError(f"CHANGELOG.md has no section '## [{version}] - YEAR-MONTH-DAY': write it, and tag again")
    return section[1].strip()


def main() -> int:
    """Print the notes of the tag on the command line."""
    version = _VERSION.findall((ROOT / "src" / "vinculum" / "version.py").read_text(encoding="utf-8"))[0]
    try:
        print(notes(" ".join(sys.argv[1:]), version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
