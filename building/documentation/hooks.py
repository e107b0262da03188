"""What MkDocs calls while it builds the site: pages made from the program, of README.md, and of the files linked to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from building.documentation.commands import command_pages
from building.documentation.made import MadePage
from building.documentation.operators import operator_pages
from building.documentation.python_reference import python_pages
from building.documentation.sources import FROM_ROOT, SourcePages, from_root
from building.documentation.survey import survey_pages, with_answers
from building.documentation.traceability import traceability_page

ROOT = Path(__file__).parents[2]

_ALONE = "---\nhide: [navigation]\n---\n\n"
_FOLDERS = {
    "reference/operators/": operator_pages,
    "reference/commands/": command_pages,
    "reference/python/": python_pages,
    "reference/survey/": survey_pages,
}
"""Folders of the navigation whose pages are made here; `index.md` is the folder's own."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that are made into the navigation, where it names their folder."""
    made = {folder: pages() for folder, pages in _FOLDERS.items()}
    config.extra["made"] = {folder + page.file: page.text for folder, pages in made.items() for page in pages}
    entries = {folder: [_entry(folder, page) for page in pages] for folder, pages in made.items()}
    config.nav = _filled(config.nav, entries)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and one for each file of the repository that a page links to."""
    texts: dict[str, str] = config.extra.pop("made")
    for name, text in texts.items():
        files.append(File.generated(config, name, content=text))
    files.append(File.generated(config, "traceability.md", content=traceability_page()))
    for name, place in FROM_ROOT.items():
        text = from_root((ROOT / name).read_text("utf-8"))
        files.append(File.generated(config, place, content=_ALONE + text if place == "index.md" else text))
    sources = SourcePages(ROOT, Path(config.docs_dir))
    for file in files.documentation_pages():
        if file.src_uri not in texts:
            sources.collect(f"docs/{file.src_uri}", file.content_string)
    for name, text in sources.pages.items():
        files.append(File.generated(config, name, content=text, inclusion=InclusionLevel.NOT_IN_NAV))
    config.extra["sources"] = sources
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links that leave the folder of documents lead to the pages of those files."""
    sources: SourcePages = config.extra["sources"]
    uri = page.file.src_uri
    if uri == "reference/survey.md":
        page.meta["hide"] = ["toc"]  # the table is wide
        markdown = with_answers(markdown)
    return markdown if uri in sources.pages else sources.rewritten(f"docs/{uri}", markdown)


def _entry(folder: str, page: MadePage) -> Any:
    return folder + page.file if page.file == "index.md" else {page.title: folder + page.file}


def _filled(nav: Any, entries: dict[str, list[Any]]) -> Any:
    if isinstance(nav, list):
        # Beside other entries the name of a folder stands for its pages.
        return [one for item in nav for one in entries.get(str(item)) or [_filled(item, entries)]]
    if isinstance(nav, dict):
        return {title: _filled(value, entries) for title, value in nav.items()}
    return entries.get(nav, nav)
