"""A plug-in of pytest: it notes which functions of the package each test calls, or runs chosen tests in a given order.

Either way Hypothesis neither keeps what fails nor makes it smaller.
"""

from __future__ import annotations

import json
import resource
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import Phase, settings

MEMORY = 8 << 30  # bytes; a mistake may ask for any number


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what the tool says."""
    parser.addoption("--note-calls", type=Path, help="the file for the tests' functions and processor seconds")
    parser.addoption("--in-order", type=Path, help="the file with the tests to run")
    parser.addoption("--most-seconds", type=int, help="processor seconds after which this process is ended")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Limit what a mistake may take, and do without what is for reading failures."""
    config = session.config
    settings.register_profile("mutation", deadline=None, database=None, phases=(Phase.explicit, Phase.generate))
    settings.load_profile("mutation")
    if (seconds := config.getoption("most_seconds")) is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if (notes := config.getoption("note_calls")) is not None:
        config.pluginmanager.register(_Noting(notes))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the file, in its order."""
    if (path := config.getoption("in_order")) is not None:
        place = {test: i for i, test in enumerate(json.loads(path.read_text(encoding="utf-8")))}
        items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])


class _Noting:
    """Notes each test's processor seconds and the functions that its process calls, as `noted_as` names them.

    What a test's file calls when it is imported belongs to all of its tests, what the package calls then to none.
    What a cache holds is not called again: only the first test is noted, and a survivor may be none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._notes: dict[str, tuple[float, list[str]]] = {}
        self._called: dict[tuple[str, str], None] = {}
        self._of_files: dict[str, set[str]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        self._called.clear()
        sys.settrace(self._call_of_file if isinstance(collector, pytest.Module) else None)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self._of_files[collector.nodeid] = self._functions()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._called.clear()
        begun = time.process_time()
        sys.settrace(self._call)
        threading.settrace(self._call)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            taken = time.process_time() - begun
            functions = self._functions() | self._of_files[item.nodeid.partition("::")[0]]
            self._notes[item.nodeid] = (taken, sorted(functions))

    def pytest_sessionfinish(self) -> None:
        self._path.write_text(json.dumps(self._notes), encoding="utf-8")

    def _functions(self) -> set[str]:
        return {noted_as(*called) for called in self._called if "/vinculum/" in called[0]}

    def _call_of_file(self, frame: FrameType, *_: object) -> None:
        if "/vinculum/" in frame.f_code.co_filename and not _is_imported(frame):
            self._call(frame)

    def _call(self, frame: FrameType, *_: object) -> None:
        self._called[frame.f_code.co_filename, frame.f_code.co_qualname] = None


def _is_imported(frame: FrameType | None) -> bool:
    """Tell whether what is called belongs to the import of a module of the package."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and "/vinculum/" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def noted_as(file: str, name: str) -> str:
    """Return a function's outermost one, after the file below the package: what is mutated belongs to that."""
    return f"{file.rpartition('/vinculum/')[2]}:{name.partition('.<locals>')[0]}"
