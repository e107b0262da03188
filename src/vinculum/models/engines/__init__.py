"""Engines that run everything in a model except its divisions."""

from vinculum.errors import ModelError


class EngineRefusalError(ModelError):
    """An engine cannot run a model that another may run."""
