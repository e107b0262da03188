"""Models from files: read, run with every division exact, and observed while they run."""

from vinculum.models.execution import Division, DivisionRecord
from vinculum.models.model import Model
from vinculum.models.observation import DivisionSummary, summarise
from vinculum.models.source import load
from vinculum.models.values import ModelTensor

__all__ = ["Division", "DivisionRecord", "DivisionSummary", "Model", "ModelTensor", "load", "summarise"]
