"""Peers by their names on the command line; other peers are written ``package.module:Class``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from vinculum.benchmarking.peers.protocol import Peer
from vinculum.errors import ModelError, SpecLookupError
from vinculum.text import did_you_mean, one_line, quoted

OURS, ROOFLINE = "vinculum", "limit"
"""The names in stored runs of our engine and the roofline, which are always measured; they are not peers."""

_PACKAGE = "vinculum.benchmarking.peers"
_PEERS = {
    "numpy": f"{_PACKAGE}.numpy:Numpy",
    "torch": f"{_PACKAGE}.torch:Torch",
    "onnxruntime": f"{_PACKAGE}.onnxruntime:OnnxRuntime",
    "openvino": f"{_PACKAGE}.openvino:OpenVino",
    "numexpr": f"{_PACKAGE}.numexpr:Numexpr",
    "jax": f"{_PACKAGE}.jax:Jax",
}
_ALWAYS = {OURS: f"{_PACKAGE}.vinculum_itself:VinculumItself", ROOFLINE: f"{_PACKAGE}.copy_roofline:CopyRoofline"}

NAMES = tuple(_PEERS)
"""The peers that Vinculum provides."""


def factory_of(name: str) -> str:
    """Return ``"package.module:Class"`` for a name; a text of this form is returned as it is.

    Raises
    ------
    SpecLookupError
        If no peer has that name.
    """
    known = {**_ALWAYS, **_PEERS}
    if name in known:
        return known[name]
    if ":" in name:
        return name
    message = f"no peer is called {quoted(name)}; allowed: {', '.join(NAMES)}, or package.module:Class"
    raise SpecLookupError(message + did_you_mean(name.lower(), NAMES))


def peer(name: str) -> Peer:
    """Return a peer; nothing foreign is imported, except the module of a class given by name.

    Raises
    ------
    SpecLookupError
        If no peer has that name.
    ModelError
        If the class cannot be loaded.
    """
    module, _, attribute = factory_of(name).partition(":")
    try:
        made: Peer = getattr(import_module(module), attribute)()
    except Exception as error:  # Importing a foreign module may raise anything.
        raise ModelError(f"the peer {quoted(name)} cannot be loaded: {one_line(error)}") from None
    return made


def is_installed(name: str) -> bool:
    """Tell whether a peer's package is installed, without importing it."""
    try:
        return find_spec(peer(name).packages[0]) is not None
    except ModuleNotFoundError:  # The parent package is not installed.
        return False


def checked_peers(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names without repetitions; without names, all installed peers.

    Raises
    ------
    SpecLookupError
        If no peer has one of the names.
    ModelError
        If its package is not installed.
    """
    if not names:
        return tuple(filter(is_installed, NAMES))
    for name in names:
        if name in _ALWAYS:
            raise SpecLookupError(f"{name!r} is always measured; name its peers: {', '.join(NAMES)}")
        if not is_installed(name):
            found = peer(name)
            raise ModelError(f"{found.title} cannot be measured: it is not installed: {found.install}")
    return tuple(dict.fromkeys(names))
