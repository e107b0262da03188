"""Files of the repository as pages of the site, so that links to them lead somewhere without a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

_LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")
_FENCE = re.compile(r"^(```+).*?^\1\s*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_LANGUAGES = {
    ".py": "python",
    ".c": "c",
    ".h": "c",
    ".hpp": "cpp",
    ".cpp": "cpp",
    ".toml": "toml",
    ".json": "json",
    ".mlw": "ocaml",
}
_SHOWN = {*_LANGUAGES, ".md", ".txt", ".drv"}
_HEAD = "---\nsearch:\n  exclude: true\n---\n\n"
FROM_ROOT = {"README.md": "index.md", "ARCHITECTURE.md": "architecture.md"}
"""Files above the folder of documents that are pages of the site, and where."""
MADE_OF = {
    "proofs/baseline.toml": "traceability.md",
    "src/vinculum/__init__.py": "reference/python/index.md",
    "src/vinculum/cli/commands": "reference/commands/index.md",
    "src/vinculum/cli/commands/check.py": "reference/commands/check.md",
    "src/vinculum/cli/commands/divide.py": "reference/commands/divide.md",
    "src/vinculum/spec": "reference/operators/index.md",
    "src/vinculum/spec/onnx_div.py": "reference/operators/div-7.md",
    "src/vinculum/spec/sonnx_div.py": "reference/operators/sonnx-div-int.md",
    "src/vinculum/spec/traceability.json": "traceability.md",
    "src/vinculum/testing.py": "reference/python/testing.md",
}
"""What documents link to in the repository in place of a page that only the site has, and that page."""
_WHOLE = 200_000  # Characters of a file that are shown.


class SourcePages:
    """The pages of the files that pages link to.

    Parameters
    ----------
    root : Path
        The repository.
    documents : Path
        The folder whose pages are the site's own.

    Attributes
    ----------
    pages : dict of str to str
        The text of each by its place in the site, as Markdown.
    """

    def __init__(self, root: Path, documents: Path) -> None:
        self.pages: dict[str, str] = {}
        self._root = root
        self._documents = documents.relative_to(root).as_posix() + "/"

    def collect(self, file: str, text: str) -> None:
        """Make pages of the files that a text links to, and of those that these link to.

        Parameters
        ----------
        file : str
            Where the text stands, from the root of the repository.
        text : str
            Markdown.
        """
        for target in self._targets(file, text):
            place = _place(target)
            if place not in self.pages:
                self.pages[place] = ""  # it may link to itself
                self.pages[place] = _HEAD + self._page(target)

    def rewritten(self, file: str, text: str) -> str:
        """Return a text whose links lead to the pages of the site."""
        here = self._in_site(file)

        def led(link: re.Match[str]) -> str:
            target = normpath(f"{PurePosixPath(file).parent}/{link[1]}")
            if not (self._root / target).exists() or (self._in_documents(file) and self._in_documents(target)):
                return link[0]
            made = MADE_OF.get(target) if self._in_documents(file) else None
            return relpath(made or self._in_site(target), str(PurePosixPath(here).parent)) + (link[2] or "")

        pieces, end = [], 0
        for fence in _FENCE.finditer(text):
            pieces += [_LINK.sub(led, text[end : fence.start()]), fence[0]]
            end = fence.end()
        return "".join([*pieces, _LINK.sub(led, text[end:])])

    def _page(self, target: str) -> str:
        path = self._root / target
        if path.is_dir():
            files = sorted(p.name for p in path.iterdir() if p.suffix in _SHOWN)
            text = f"# {target}\n\n" + "".join(f"- [{name}]({path.name}/{name})\n" for name in files)
            self.collect(target, text)
            return self.rewritten(target, text)
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == ".md":
            self.collect(target, text)
            return self.rewritten(target, text)
        more = f"\n\nThe first {_WHOLE:,} of {len(text):,} characters.\n" if len(text) > _WHOLE else "\n"
        return f"# {target}\n\n`````{_LANGUAGES.get(path.suffix, 'text')}\n{text[:_WHOLE]}\n`````{more}"

    def _targets(self, file: str, text: str) -> Iterator[str]:
        for link in links(text):
            target = normpath(f"{PurePosixPath(file).parent}/{link}")
            if target.startswith("..") or self._in_documents(target) or target in FROM_ROOT:
                continue
            if self._in_documents(file) and target in MADE_OF:
                continue
            if (self._root / target).exists():
                yield target

    def _in_documents(self, target: str) -> bool:
        return target.startswith(self._documents)

    def _in_site(self, target: str) -> str:
        if self._in_documents(target):
            return target.removeprefix(self._documents)
        return FROM_ROOT.get(target) or _place(target)


def links(text: str) -> list[str]:
    """Return the paths that a Markdown text links to, without what follows a #."""
    return [path for path, _ in _LINK.findall(_FENCE.sub("", text))]


def from_root(text: str) -> str:
    """Return the text of such a page: its links as they are seen from the folder of documents."""

    def seen(link: re.Match[str]) -> str:
        path = link[1]
        return (path.removeprefix("docs/") if path.startswith("docs/") else f"../{path}") + (link[2] or "")

    return _LINK.sub(seen, text).replace('src="docs/', 'src="')


def _place(target: str) -> str:
    return f"source/{target}.md"
