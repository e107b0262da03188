"""What a plug-in needs to describe an operator to the analysis, by an entry point in ``vinculum.operators``."""

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, anything, tensor
from vinculum.analysis.transfer.call import Call
from vinculum.analysis.transfer.declarations import Hidden, Operator, Unary
from vinculum.analysis.transfer.operators import GROUP, operator_of

__all__ = ["GROUP", "AbstractTensor", "Call", "Hidden", "Operator", "Unary", "anything", "operator_of", "tensor"]
