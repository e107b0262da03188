"""The standard ONNX backend interface, for every tool that takes an ``onnx.backend`` module.

Every division is computed by this package's engine, everything else by ONNX's reference evaluator.
"""

from vinculum.models.backend import VinculumBackend, VinculumBackendRep

__all__ = [
    "VinculumBackend",
    "VinculumBackendRep",
    "is_compatible",
    "prepare",
    "run_model",
    "run_node",
    "supports_device",
]

is_compatible = VinculumBackend.is_compatible
prepare = VinculumBackend.prepare
run_model = VinculumBackend.run_model
run_node = VinculumBackend.run_node
supports_device = VinculumBackend.supports_device
