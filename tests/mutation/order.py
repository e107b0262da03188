"""A plug-in of pytest: it notes which functions of the package each test calls, or runs chosen tests in a given order.

In both cases Hypothesis neither stores nor shrinks failing examples.
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
    """Add the options that the tool passes."""
    parser.addoption("--note-calls", type=Path, help="the file for the tests' functions and processor seconds")
    parser.addoption("--in-order", type=Path, help="the file with the tests to run")
    parser.addoption("--most-seconds", type=int, help="processor seconds after which this process is ended")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Limit the memory and time that a mistake may take, and skip what only helps to read failures."""
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
    """Keep the tests that the file lists, in its order."""
    if (path := config.getoption("in_order")) is not None:
        place = {test: i for i, test in enumerate(json.loads(path.read_text(encoding="utf-8")))}
        items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])


class _Noting:
    """Notes each test's processor seconds and the functions that its process calls, as `noted_as` names them.

    What a test's file calls when it is imported is noted for no test, and what a cache holds only for the first one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._notes: dict[str, tuple[float, list[str]]] = {}
        self._called: dict[tuple[str, str], None] = {}

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
            functions = {noted_as(*called) for called in self._called if "/vinculum/" in called[0]}
            self._notes[item.nodeid] = (time.process_time() - begun, sorted(functions))

    def pytest_sessionfinish(self) -> None:
        self._path.write_text(json.dumps(self._notes), encoding="utf-8")

    def _call(self, frame: FrameType, *_: object) -> None:
        self._called[frame.f_code.co_filename, frame.f_code.co_qualname] = None


def noted_as(file: str, name: str) -> str:
    """Return the file below the package and the outermost function, to which a change inside belongs."""
    return f"{file.rpartition('/vinculum/')[2]}:{name.partition('.<locals>')[0]}"
