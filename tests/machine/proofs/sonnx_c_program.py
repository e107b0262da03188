"""A C program that calls every function of the extracted library on heap blocks of the exact size and checks results.

``python -m tests.machine.proofs.sonnx_c_program`` prints it, for use on other targets. Its ``main`` returns 0 if every
result is right. With the argument ``overrun`` or ``zero`` it violates a precondition of the header instead, which a
sanitizer must report.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from tests.kernels.comparing import DTYPES, FLOATS, encodings
from tests.kernels.witness import crossed, random_encodings, values
from vinculum import reference
from vinculum.spec.element_types import by_numpy_name
from vinculum.spec.model import IntegerRounding

Array = npt.NDArray[Any]

NAMES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
# The names of these types in C, which function names end with.
C_NAMES = {"float32": "float", "float64": "double"}
# Shapes of dividend and divisor.
_SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    *(((), ()), ((3,), ()), ((), (2, 3)), ((2, 1), (1, 3)), ((0, 3), (1, 3)), ((2, 1, 4), (2, 0, 1)), ((1, 1), (1, 1))),
    *(((2, 1, 3, 1, 2, 1), (1, 4, 1, 2, 1, 3)), ((5, 4, 3), (4, 1))),
)


def _numbered(*shape: int) -> Array:
    return np.arange(prod(shape)).reshape(shape)


# Views of the indices of elements, in the order of broadcast divisions: by shapes, and along diagonals.
WALKS: list[tuple[Array, Array]] = [
    *((a, b) for a, b in (np.broadcast_arrays(*(_numbered(*shape) for shape in pair)) for pair in _SHAPES)),
    (sliding_window_view(_numbered(6), 4), sliding_window_view(_numbered(6), 4)),
]

HEAD = """\
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "sonnx_div.h"

/* A block of exactly this size, so that a sanitizer reports an access beyond it. */
static void *copy(const void *from, size_t size) {
  void *block = malloc(size);
  if (size > 0 && block == NULL) exit(2);
  if (size > 0) memcpy(block, from, size);
  return block;
}

static int same(const void *block, const void *expected, size_t size) {
  return size == 0 || memcmp(block, expected, size) == 0;
}

/* The strides of a broadcast division, and the number of elements of its operands. */
struct walk { int64_t rank, n, of_a, of_b, shape[6], along_a[6], along_b[6]; };
"""

# The lines for floor division, MIN/-1 or NaN are comments for a type that lacks them. All NaN are made equal before the
# comparison, since their sign and payload are not specified.
CHECK = """
static const {word} a_{name}[] = {{{a}}}, b_{name}[] = {{{b}}}, truncated_{name}[] = {{{truncated}}};
{floats}static void one_nan_{name}({type} *z, int64_t n) {{
{floats}  static const {word} nan = {nan};
{floats}  for (int64_t p = 0; p < n; p++) if (z[p] != z[p]) memcpy(&z[p], &nan, sizeof nan);
{floats}}}
/* The first position outside the domain is returned; only the elements before it are divided and written. */
{integers}static int stops_{name}(const {type} *x, const {type} *y, {type} *z, int64_t n, int64_t first) {{
{integers}  const size_t before = (size_t)first * sizeof *z, size = (size_t)n * sizeof *z;
{integers}  if (size > 0) memcpy(z, b_{name}, size);
{integers}  return sonnx_div_first_violation_{name}({looked_at}, n) == first
{integers}    && sonnx_div_checked_{name}(x, y, z, n) == first
{integers}    && same(z, truncated_{name}, before)
{integers}    && same(z + first, b_{name} + first, size - before);
{integers}}}
static int check_{name}(int64_t n) {{
{integers}  static const {word} floored[] = {{{floored}}};
{integers}  const int64_t inside = n < {inside} ? n : {inside}, places[] = {{0, 1, 7, n - 1}};
  const size_t size = (size_t)n * sizeof({type});
  {type} *x = copy(a_{name}, size), *y = copy(b_{name}, size), *z = copy(b_{name}, size);
  int right = 1;
  sonnx_div_{name}(x, y, z, n);
{floats}  one_nan_{name}(z, n);
  right = right && same(z, truncated_{name}, size);
{integers}  vinculum_floor_div_{name}(x, y, z, n);
{integers}  right = right && same(z, floored, size);
{integers}  right = right && vinculum_first_zero_{name}(y, n) == n && stops_{name}(x, y, z, n, inside);
{integers}  for (int i = 0; i < 4; i++) {{
{integers}    const int64_t place = places[i];
{integers}    if (place < 0 || place >= n) continue;
{integers}    y[place] = 0;
{integers}    right = right && vinculum_first_zero_{name}(y, n) == place;
{integers}    right = right && stops_{name}(x, y, z, n, place < inside ? place : inside);
{signed}    x[place] = ({type})({least}), y[place] = -1;
{signed}    right = right && stops_{name}(x, y, z, n, place < inside ? place : inside);
{integers}    memcpy(&x[place], &a_{name}[place], sizeof *x);
{integers}    memcpy(&y[place], &b_{name}[place], sizeof *y);
{integers}  }}
  right = right && same(x, a_{name}, size) && same(y, b_{name}, size);
  if (size > 0) memcpy(z, x, size);
  sonnx_div_in_place_{name}(z, y, n);
{floats}  one_nan_{name}(z, n);
  right = right && same(z, truncated_{name}, size);
  free(z); free(x); free(y);
  return right;
}}
/* The last elements of both operands are divided by strides, each in a memory block of the exact size. */
static int walk_{name}(const struct walk *w, const {word} *truncated, const {word} *floored) {{
  const size_t size = (size_t)w->n * sizeof({type}), rank = (size_t)w->rank;
  {type} *x = copy(a_{name} + {count} - w->of_a, (size_t)w->of_a * sizeof *x);
  {type} *y = copy(b_{name} + {count} - w->of_b, (size_t)w->of_b * sizeof *y), *z = malloc(size);
  int64_t *shape = copy(w->shape, rank * 8), *s = copy(w->along_a, rank * 8), *t = copy(w->along_b, rank * 8);
  int64_t *u = malloc(rank > 1 ? (rank - 1) * 8 : 0);
  vinculum_div_broadcast_{name}(x, y, z, w->rank, w->n, shape, s, t, u);
{floats}  one_nan_{name}(z, w->n);
  int right = same(z, truncated, size);
{integers}  vinculum_floor_div_broadcast_{name}(x, y, z, w->rank, w->n, shape, s, t, u);
{integers}  right = right && same(z, floored, size);
{floats}  (void)floored;
  free(x); free(y); free(z); free(shape); free(s); free(t); free(u);
  return right;
}}
static int walks_{name}(void) {{
  int right = 1;
{walks}
  return right;
}}
"""
WALK = """\
  {{
    static const {word} truncated[] = {{{truncated}}}, floored[] = {{{floored}}};
    right = right && walk_{name}(&walks[{i}], truncated, floored);
  }}"""
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


def program(*, every: bool = False) -> str:
    """Return the source; the program divides a sample of the pairs, or every pair."""
    given = {name: operands(name, every) for name in NAMES}
    texts = "".join(_check(name, a, b) for name, (a, b) in given.items())
    calls = [f"check_{_c(name)}({n})" for name, (a, _) in given.items() for n in (a.size, 1, 0)]
    calls += [f"walks_{_c(name)}()" for name in NAMES]
    main = MAIN.format(calls="\n".join(f"  right = right && {call};" for call in calls))
    rows = ", ".join(f"{{{', '.join(_of_c(part) for part in _row(*walk))}}}" for walk in WALKS)
    return f"{HEAD}static const struct walk walks[] = {{{rows}}};\n{texts}{main}"


def operands(name: str, every: bool) -> tuple[Array, Array]:
    """Return the operands: pairs in the domain of the functions, or a sample, with MIN/-1 as the last pair only.

    They are every pair of edge values, for 8 bits every pair, and random pairs. No integer is divided by zero.
    """
    some = np.arange(256, dtype=np.uint8).view(name) if name in ("int8", "uint8") else values(name)
    drawn = [random_encodings(name, 2000, seed) for seed in (1, 2)]
    a, b = (np.concatenate([x.ravel(), y]) for x, y in zip(crossed(some), drawn, strict=True))
    if name not in FLOATS:
        a, b = a[b != 0], b[b != 0]
    signed = name.startswith("int")
    inside = (a != np.iinfo(name).min) | (b != -1) if signed else np.ones(a.shape, bool)
    step = 1 if every else max(1, a.size // 800)
    a, b = a[inside][::step], b[inside][::step]
    return (np.append(a, np.iinfo(name).min).astype(a.dtype), np.append(b, -1).astype(b.dtype)) if signed else (a, b)


def _row(*walk: Array) -> tuple[int | tuple[int, ...], ...]:
    """Return a struct's values for two views of numbered elements."""
    strides = [tuple(step // x.itemsize for step in x.strides) for x in walk]
    return walk[0].ndim, walk[0].size, *(int(x.max(initial=-1)) + 1 for x in walk), walk[0].shape, *strides


def _of_c(value: int | tuple[int, ...]) -> str:
    return str(value) if isinstance(value, int) else f"{{{', '.join(map(str, value)) or 0}}}"


def _check(name: str, a: Array, b: Array) -> str:
    limits = None if name in FLOATS else np.iinfo(name)
    form = by_numpy_name(name).binary_format
    common = {"name": _c(name), "word": f"uint{8 * DTYPES[name].itemsize}_t"}
    walks = []
    for i, (of_a, of_b) in enumerate(WALKS):
        x, y = (tail[tail.size - walk.max(initial=-1) - 1 :][walk] for tail, walk in ((a, of_a), (b, of_b)))
        floored = _literals(_exact(x, y, IntegerRounding.FLOOR)) or "0"
        walks.append(WALK.format(i=i, truncated=_literals(_exact(x, y)) or "0", floored=floored, **common))
    return CHECK.format(
        type=_c(name) if limits is None else f"{name}_t",
        integers="//" if limits is None else "",
        signed="" if name.startswith("int") else "//",
        floats="" if limits is None else "//",
        a=_literals(a),
        b=_literals(b),
        count=a.size,
        truncated=_literals(_exact(a, b)),
        floored=_literals(_exact(a, b, IntegerRounding.FLOOR)),
        walks="\n".join(walks),
        nan=0 if form is None else hex(form.nan),
        least=f"-{-int(limits.min) - 1} - 1" if limits is not None and limits.min else 0,
        looked_at="x, y" if name.startswith("int") else "y",
        inside=a.size - name.startswith("int"),
        **common,
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
