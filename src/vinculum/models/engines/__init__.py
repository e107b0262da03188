"""What runs a model whose divisions are ours."""

from vinculum.errors import ModelError


class EngineRefusalError(ModelError):
    """An engine cannot run a model that another may run."""
