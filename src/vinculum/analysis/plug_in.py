"""All that a plug-in needs to tell the analysis of an operator: an entry point in the group ``vinculum.operators``."""

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, anything, tensor
from vinculum.analysis.transfer.call import Call
from vinculum.analysis.transfer.declarations import Hidden, Operator, Unary
from vinculum.analysis.transfer.operators import GROUP, operator_of

__all__ = ["GROUP", "AbstractTensor", "Call", "Hidden", "Operator", "Unary", "anything", "operator_of", "tensor"]
