"""Runtimes by their names on the command line: built-in ones, those of other packages, plug-ins and programs.

A backend is written `name`, `name[key=value,key=value]`, `package.module:attribute[...]` or `command:./program[...]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from vinculum.conformance.runtimes.command import PREFIX, Command
from vinculum.conformance.runtimes.libraries import LIBRARIES
from vinculum.conformance.runtimes.onnx_loaders import LOADERS
from vinculum.conformance.runtimes.protocol import Runtime, asked_elsewhere, check_names
from vinculum.errors import AttributeValueError, SpecLookupError
from vinculum.text import did_you_mean, quoted

GROUP = "vinculum.backends"
"""The group of entry points by which other packages provide runtimes; each names a module and attribute."""

MAKER = f"{__name__}:runtime"
"""The factory that makes a runtime from its name in a subprocess."""

STARTED = f"{__name__}:started"
"""The same, which also starts it."""

GIVEN = "answers:"
"""What a backend begins with that is a folder of answers: see `vinculum.conformance.vectors.answers`."""

_ROOM = "vinculum.conformance.runtimes"
_OWN = {
    "onnxruntime": f"{_ROOM}.onnxruntime:OnnxRuntime",
    "openvino": f"{_ROOM}.openvino:OpenVino",
    "vinculum": f"{_ROOM}.vinculum_itself:VinculumItself",
}
_STRANGERS = "package.module:attribute, or command:./program"
_FORMS = f"name, name[key=value,key=value], {_STRANGERS}"
_BACKEND = re.compile(r"([^\[\]]+)(?:\[([^\[\]]*)\])?")

Factory = Callable[[Mapping[str, str]], Runtime]


def names() -> tuple[str, ...]:
    """Return all names of runtimes: built-in ones first, then those of other packages."""
    own = (*_OWN, *LOADERS, *LIBRARIES)
    return (*own, *sorted(name for name in _foreign() if name not in own))


def runtime(backend: str) -> Runtime:
    """Return the runtime of a name; nothing foreign is imported.

    - `backend`: ``"onnxruntime"``, ``"openvino[device=GPU]"``, ``"package.module:attribute"``, ``"command:./program"``.
      Built-in names precede those of other packages, which precede programs and modules.

    SpecLookupError if no runtime has that name. AttributeValueError if the text is malformed, or the runtime has no
    such option.
    """
    name, options = parsed(backend)
    if name in _OWN:
        module, _, attribute = _OWN[name].partition(":")
        factory: Factory = getattr(import_module(module), attribute)
        return factory(options)
    if name in LIBRARIES:
        return LIBRARIES[name].with_options(options)
    if name in LOADERS:
        check_names(name, options, ())
        return LOADERS[name]
    if name.startswith(GIVEN):
        raise AttributeValueError(f"{quoted(name)} can only be judged, by vinculum conform: there is nothing to ask")
    foreign = _foreign()
    if name.startswith(PREFIX) and name not in foreign:
        return Command(name.removeprefix(PREFIX), options)
    if ":" in name or name in foreign:
        from vinculum.conformance.runtimes.plugin import Plugin

        return Plugin(foreign.get(name, name), options, name)
    raise SpecLookupError(_unknown(name))


def check_usable(backend: str, made: Runtime) -> None:
    """Check that a runtime's package is installed and, in another process, that it starts with options that are given.

    ModelError if not; the message says how to install it, or why it does not start.
    """
    made.check()
    name, options = parsed(backend)
    if options and name in (*_OWN, *LIBRARIES):  # Others are started to learn what they are.
        asked_elsewhere("start", MAKER, backend, called=made.title)


def started(backend: str) -> Runtime:
    """Return a runtime that has been started, so that no case is charged with the time for that."""
    made = runtime(backend)
    made.start()
    return made


def parsed(backend: str) -> tuple[str, dict[str, str]]:
    """Return a backend's name and its options.

    AttributeValueError if the brackets or their contents are malformed.
    """
    match = _BACKEND.fullmatch(backend.strip())
    if match is None:
        raise AttributeValueError(f"{quoted(backend)} is not a backend; allowed: {_FORMS}")
    options: dict[str, str] = {}
    for part in (match[2] or "").split(",") if match[2] else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise AttributeValueError(f"the option {quoted(part)} of {match[1].strip()} must be written key=value")
        if key in options:
            raise AttributeValueError(f"the option {quoted(key)} of {match[1].strip()} is given twice")
        options[key] = value
    return match[1].strip(), options


def _foreign() -> dict[str, str]:
    """Return the entry points of other packages: names, each with a module and attribute."""
    return {point.name: f"{point.module}:{point.attr}" for point in entry_points(group=GROUP)}


def _unknown(name: str) -> str:
    allowed = names()
    message = f"no backend is called {quoted(name)}; allowed: {', '.join(allowed)}, {_STRANGERS}"
    importable = name.isidentifier() and find_spec(name) is not None
    # Modules of the working folder are found too, and none is imported.
    if importable or (name.isidentifier() and (Path(f"{name}.py").is_file() or Path(name, "__init__.py").is_file())):
        return f"{message}; for the module of that name, write '{name}:', or {name}:ATTRIBUTE for what is in it"
    if Path(name).is_file():
        return f"{message}; for that program, write 'command:{name}'"
    return message + did_you_mean(name.lower(), allowed)
