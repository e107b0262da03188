"""A C program that calls every function of the extracted library on heap blocks of the exact size, and compares.

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

# NaN, whose sign and payload nobody promises, is made one before the comparison.
NO_NAN = "for (int64_t p = 0; p < n; p++) if (z[p] != z[p]) memcpy(&z[p], &nan_encoding, sizeof z[p]);"

CHECK = """
static int check_{name}(int64_t n) {{
  static const {word} a[] = {{{a}}}, b[] = {{{b}}};
  static const {word} truncated[] = {{{truncated}}}, floored[] = {{{floored}}};
  static const {word} outer[] = {{{outer}}}, floored_outer[] = {{{floored_outer}}};
  static const {word} nan_encoding = {nan};
  const size_t size = (size_t)n * sizeof a[0], size_of_outer = sizeof outer;
  const int64_t extents[2] = {{3, 4}}, along_a[2] = {{1, 0}}, along_b[2] = {{0, 1}};
  {type} *x = copy(a, size), *y = copy(b, size), *z = copy(b, size);
  int64_t *shape = copy(extents, sizeof extents);
  int64_t *s = copy(along_a, sizeof along_a), *t = copy(along_b, sizeof along_b), *u = copy(extents, sizeof *extents);
  int right = 1;
  (void)nan_encoding; (void)floored; (void)floored_outer;
  sonnx_div_{name}(x, y, z, n);
  {no_nan}
  right = right && same(z, truncated, size);
{integer}
  right = right && same(x, a, size) && same(y, b, size);
  if (size > 0) memcpy(z, x, size);
  sonnx_div_in_place_{name}(z, y, n);
  {no_nan}
  right = right && same(z, truncated, size);
  free(z); free(x); free(y);
  x = copy(a, 3 * sizeof a[0]); y = copy(b, 4 * sizeof a[0]); z = malloc(size_of_outer);
  n = 12;
  vinculum_div_broadcast_{name}(x, y, z, 2, n, shape, s, t, u);
  {no_nan}
  right = right && same(z, outer, size_of_outer);
{integer_outer}
  vinculum_div_broadcast_{name}(x, y, z, 0, 1, shape, s, t, u);
  {no_nan_of_one}
  right = right && same(z, truncated, sizeof a[0]);
{integer_scalar}
  vinculum_div_broadcast_{name}(x, y, z, 2, 0, shape, s, t, u);
{integer_none}
  free(x); free(y); free(z); free(shape); free(s); free(t); free(u);
  return right;
}}
"""

INTEGER = """\
  vinculum_floor_div_{name}(x, y, z, n);
  right = right && same(z, floored, size);
  right = right && vinculum_first_zero_{name}(y, n) == n;
  right = right && sonnx_div_first_violation_{name}({x}y, n) == (n < {inside} ? n : {inside});
  right = right && sonnx_div_checked_{name}(x, y, z, n) == (n < {inside} ? n : {inside});
  right = right && same(z, truncated, (size_t)(n < {inside} ? n : {inside}) * sizeof a[0]);
  if (n > 0) {{
    y[n - 1] = 0;
    right = right && vinculum_first_zero_{name}(y, n) == n - 1;
    right = right && sonnx_div_first_violation_{name}({x}y, n) == (n - 1 < {inside} ? n - 1 : {inside});
    right = right && sonnx_div_checked_{name}(x, y, z, n) == (n - 1 < {inside} ? n - 1 : {inside});
    memcpy(y, b, size);
  }}"""

INTEGER_SCALAR = """\
  vinculum_floor_div_broadcast_{name}(x, y, z, 0, 1, shape, s, t, u);
  right = right && same(z, floored, sizeof a[0]);"""

INTEGER_NONE = """\
  vinculum_floor_div_broadcast_{name}(x, y, z, 2, 0, shape, s, t, u);"""

INTEGER_OUTER = """\
  vinculum_floor_div_broadcast_{name}(x, y, z, 2, n, shape, s, t, u);
  right = right && same(z, floored_outer, size_of_outer);"""

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
    whole = np.iinfo(a.dtype).min if name not in FLOATS and name.startswith("int") else None
    outside = np.flatnonzero((a == whole) & (b == -1)) if whole is not None else np.array([], int)
    form = by_numpy_name(name).binary_format
    integer = INTEGER.format(
        name=_c(name), x="" if name.startswith("u") else "x, ", inside=int(outside[0]) if outside.size else a.size
    )
    return CHECK.format(
        name=_c(name),
        type=_c(name) if name in FLOATS else f"{name}_t",
        word=f"uint{8 * DTYPES[name].itemsize}_t",
        a=_literals(a),
        b=_literals(b),
        truncated=_literals(_exact(a, b)),
        floored=_literals(_exact(a, b, IntegerRounding.FLOOR)),
        outer=_literals(_exact(outer_a, outer_b)),
        floored_outer=_literals(_exact(outer_a, outer_b, IntegerRounding.FLOOR)),
        nan=0 if form is None else hex(form.nan),
        no_nan="" if form is None else NO_NAN,
        no_nan_of_one="" if form is None else NO_NAN.replace("p < n", "p < 1"),
        integer="" if name in FLOATS else integer,
        integer_scalar="" if name in FLOATS else INTEGER_SCALAR.format(name=_c(name)),
        integer_none="" if name in FLOATS else INTEGER_NONE.format(name=_c(name)),
        integer_outer="" if name in FLOATS else INTEGER_OUTER.format(name=_c(name)),
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
