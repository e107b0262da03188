"""A C program that calls every function of the extracted library on heap blocks of the exact size, and compares.

``python -m tests.machine.proofs.sonnx_c_program`` prints it, for a target of yours.
Its ``main`` returns 0 if every result is right. With the argument ``overrun`` or ``zero`` it breaks a condition of the
header instead: a sanitizer has to report it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.kernels.comparing import DTYPES, FLOATS, encodings
from tests.machine.proofs.sonnx_c_library import C_NAMES
from tests.machine.proofs.sonnx_c_operands import INTEGERS, NAMES, divisible
from vinculum import reference
from vinculum.spec.element_types import by_numpy_name
from vinculum.spec.model import IntegerRounding

Array = npt.NDArray[Any]

HEAD = """\
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "sonnx_div.h"

/* A block of exactly so many bytes, so that a sanitizer sees one byte too many. */
static void *copy(const void *from, size_t size) {
  void *block = malloc(size);
  if (size > 0 && block == NULL) exit(2);
  if (size > 0) memcpy(block, from, size);
  return block;
}

static int same(const void *block, const void *expected, size_t size) {
  return size == 0 || memcmp(block, expected, size) == 0;
}
"""

# A type without floor division, or without NaN, has these lines as comments. Every NaN, whose sign and payload nobody
# promises, is made one before the comparison.
CHECK = """
{floats}static void one_nan_{name}({type} *z, int64_t n) {{
{floats}  static const {word} nan = {nan};
{floats}  for (int64_t p = 0; p < n; p++) if (z[p] != z[p]) memcpy(&z[p], &nan, sizeof nan);
{floats}}}
static int check_{name}(int64_t n) {{
  static const {word} a[] = {{{a}}}, b[] = {{{b}}};
  static const {word} truncated[] = {{{truncated}}}, outer[] = {{{outer}}};
{integers}  static const {word} floored[] = {{{floored}}}, floored_outer[] = {{{floored_outer}}};
{integers}  const int64_t inside = n < {inside} ? n : {inside}, before_zero = n - 1 < {inside} ? n - 1 : {inside};
  const size_t size = (size_t)n * sizeof a[0], size_of_outer = sizeof outer;
  const int64_t extents[2] = {{3, 4}}, along_a[2] = {{1, 0}}, along_b[2] = {{0, 1}};
  {type} *x = copy(a, size), *y = copy(b, size), *z = copy(b, size);
  int64_t *shape = copy(extents, sizeof extents);
  int64_t *s = copy(along_a, sizeof along_a), *t = copy(along_b, sizeof along_b), *u = copy(extents, sizeof *extents);
  int right = 1;
  sonnx_div_{name}(x, y, z, n);
{floats}  one_nan_{name}(z, n);
  right = right && same(z, truncated, size);
{integers}  vinculum_floor_div_{name}(x, y, z, n);
{integers}  right = right && same(z, floored, size);
{integers}  right = right && vinculum_first_zero_{name}(y, n) == n;
{integers}  right = right && sonnx_div_first_violation_{name}({looked_at}, n) == inside;
{integers}  right = right && sonnx_div_checked_{name}(x, y, z, n) == inside;
{integers}  right = right && same(z, truncated, (size_t)inside * sizeof a[0]);
{integers}  if (n > 0) {{
{integers}    y[n - 1] = 0;
{integers}    right = right && vinculum_first_zero_{name}(y, n) == n - 1;
{integers}    right = right && sonnx_div_first_violation_{name}({looked_at}, n) == before_zero;
{integers}    right = right && sonnx_div_checked_{name}(x, y, z, n) == before_zero;
{integers}    memcpy(y, b, size);
{integers}  }}
  right = right && same(x, a, size) && same(y, b, size);
  if (size > 0) memcpy(z, x, size);
  sonnx_div_in_place_{name}(z, y, n);
{floats}  one_nan_{name}(z, n);
  right = right && same(z, truncated, size);
  free(z); free(x); free(y);
  x = copy(a, 3 * sizeof a[0]); y = copy(b, 4 * sizeof a[0]); z = malloc(size_of_outer);
  vinculum_div_broadcast_{name}(x, y, z, 2, 12, shape, s, t, u);
{floats}  one_nan_{name}(z, 12);
  right = right && same(z, outer, size_of_outer);
{integers}  vinculum_floor_div_broadcast_{name}(x, y, z, 2, 12, shape, s, t, u);
{integers}  right = right && same(z, floored_outer, size_of_outer);
  vinculum_div_broadcast_{name}(x, y, z, 0, 1, shape, s, t, u);
{floats}  one_nan_{name}(z, 1);
  right = right && same(z, truncated, sizeof a[0]);
{integers}  vinculum_floor_div_broadcast_{name}(x, y, z, 0, 1, shape, s, t, u);
{integers}  right = right && same(z, floored, sizeof a[0]);
  vinculum_div_broadcast_{name}(x, y, z, 2, 0, shape, s, t, u);
{integers}  vinculum_floor_div_broadcast_{name}(x, y, z, 2, 0, shape, s, t, u);
  free(x); free(y); free(z); free(shape); free(s); free(t); free(u);
  return right;
}}
"""

MAIN = """
int main(int count, char **arguments) {{
  const char *planted = count > 1 ? arguments[1] : "";
  int right = 1;
  if (strcmp(planted, "overrun") == 0) {{
    int32_t *block = copy("1234567890ab", 12), *other = copy("1234567890ab", 12), *result = malloc(12);
    sonnx_div_int32(block, other, result, 4);
    return result[0] != 1;
  }}
  if (strcmp(planted, "zero") == 0) {{
    int32_t one = 1, zero = atoi("0"), result = 0;
    sonnx_div_int32(&one, &zero, &result, 1);
    return result;
  }}
{calls}
  return !right;
}}
"""


def program() -> str:
    """Return the program's text."""
    calls = [f"  right = right && check_{_c(name)}({n});" for name in NAMES for n in (operands(name)[0].size, 1, 0)]
    return HEAD + "".join(map(_check, NAMES)) + MAIN.format(calls="\n".join(calls))


def operands(name: str) -> tuple[Array, Array]:
    """Return what the program divides: a sample of what the functions accept, MIN/-1 last."""
    a, b = divisible(name)
    step = max(1, a.size // 800)
    a, b = a[::step], b[::step]
    if name in INTEGERS and not name.startswith("u"):
        minimum, minus_one = a.dtype.type(np.iinfo(name).min), a.dtype.type(-1)
        a, b = np.append(a, minimum), np.append(b, minus_one)
    return a, b


def _check(name: str) -> str:
    a, b = operands(name)
    outer_a, outer_b = (x.copy() for x in np.broadcast_arrays(a[:3, None], b[None, :4]))
    signed = name.startswith("int")
    outside: list[int] = np.flatnonzero((a == np.iinfo(name).min) & (b == -1)).tolist() if signed else []
    form = by_numpy_name(name).binary_format
    return CHECK.format(
        name=_c(name),
        type=_c(name) if name in FLOATS else f"{name}_t",
        word=f"uint{8 * DTYPES[name].itemsize}_t",
        integers="//" if name in FLOATS else "",
        floats="" if name in FLOATS else "//",
        a=_literals(a),
        b=_literals(b),
        truncated=_literals(_exact(a, b)),
        floored=_literals(_exact(a, b, IntegerRounding.FLOOR)),
        outer=_literals(_exact(outer_a, outer_b)),
        floored_outer=_literals(_exact(outer_a, outer_b, IntegerRounding.FLOOR)),
        nan=0 if form is None else hex(form.nan),
        looked_at="x, y" if signed else "y",
        inside=outside[0] if outside else a.size,
    )


def _c(name: str) -> str:
    return C_NAMES.get(name, name)


def _exact(a: Array, b: Array, rounding: IntegerRounding = IntegerRounding.TRUNCATING) -> Array:
    return reference.divide(a, b, by_numpy_name(a.dtype.name), rounding=rounding)


def _literals(array: Array) -> str:
    return ", ".join(f"UINT64_C({bits:#x})" if array.dtype.itemsize == 8 else hex(bits) for bits in _bits(array))


def _bits(array: Array) -> list[int]:
    bits: list[int] = encodings(array).ravel().tolist()
    return bits


if __name__ == "__main__":
    print(program(), end="")
