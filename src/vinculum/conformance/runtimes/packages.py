"""Whether a runtime's package is installed, and in which version, without importing it; and whether it starts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from typing import Any

import numpy as np

from vinculum.conformance.cases.operation import Operation
from vinculum.errors import ModelError
from vinculum.sandbox import End, Isolated, Limits
from vinculum.spec.onnx_div import DIV_14
from vinculum.version import __version__

_SECONDS = 60.0  # To import a runtime takes seconds.
_DEATHS = ("SIG", "signal ", "exit code ")  # How the words about a process that died begin.
_ONE = np.ones(1, np.float32)

ONE_BY_ONE = Operation(DIV_14, {}, (_ONE, _ONE), (False, False))
"""What every runtime that divides at all can divide."""


def check_package(title: str, package: str, factory: str, options: Mapping[str, str]) -> None:
    """Refuse to go on without a package, or with a runtime that does not start as its options say.

    Parameters
    ----------
    title : str
        What messages call the runtime.
    package : str
        The package, and the extra of ours that installs it.
    factory, options
        What makes the runtime in another process, where it is started if there are options.

    Raises
    ------
    ModelError
        The line says how to install it, or why it does not start.
    """
    if find_spec(package) is None:
        install = f"pip install 'vinculum-div[{package}]'"
        raise ModelError(f"{title} cannot be used: the package {package} is not installed: {install}")
    if options:
        asked_elsewhere("start", factory, options, called=title)


_providers = cache(packages_distributions)  # It looks through the files of everything that is installed.


@cache
def versions_of(*packages: str) -> dict[str, str]:
    """Return the version of every distribution that provides one of the packages, by the distribution's name.

    Our own is the one that runs, installed or not.
    """
    providers = _providers()
    found: dict[str, str] = {}
    for package in packages:
        for distribution in sorted(set(providers.get(package, [package]))):
            found[distribution] = _version(distribution)
    return found


def _version(distribution: str) -> str:
    if distribution == "vinculum":
        return __version__
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def asked_elsewhere(method: str, factory: str, *arguments: object, called: str) -> Any:
    """Return what a method of a runtime gives in another process, which is made for that and ended.

    Parameters
    ----------
    method : str
        Its name; it takes no arguments.
    factory : str
        ``"package.module:attribute"``, what makes the runtime there.
    *arguments
        What the factory is called with.
    called : str, keyword-only
        What messages call the runtime.

    Raises
    ------
    VinculumError
        If the runtime cannot be made there.
    ModelError
        If the method refuses, or the process dies of it.
    """
    with Isolated(factory, *arguments, limits=Limits(seconds=_SECONDS), called=called) as elsewhere:
        answer = elsewhere.call(method)
    if answer.end is End.RETURNED:
        return answer.value
    words = answer.words
    if answer.end is End.REFUSED and words.startswith(called):  # A line of ours, which says all.
        raise ModelError(words)
    died = answer.end is End.CRASHED and words.startswith(_DEATHS)
    raise ModelError(f"{called} cannot be started: {'the process ended: ' if died else ''}{words}")
