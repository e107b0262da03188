"""The source of the quotient of two elements, which any compiler of C++17 or CUDA takes."""

from pathlib import Path

SOURCE = (Path(__file__).parent / "quotients.cuh").read_text(encoding="utf-8")


# Floating-point types whose encodings the kernels take as unsigned integers, and the source's names of the formats.
NARROW = {
    "float16": "Binary16",
    "bfloat16": "BFloat16",
    "float8_e4m3fn": "Float8E4M3FN",
    "float8_e5m2": "Float8E5M2",
}
