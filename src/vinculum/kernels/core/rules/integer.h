#pragma once
#include <stdint.h>
static inline int64_t quotient_int64(int64_t a, int64_t b) { return b == -1 ? (a < -INT64_C(0x7fffffffffffffff) ? a : -a) : a / b; }
static inline int64_t floor_quotient_int64(int64_t a, int64_t b) {
    if (b == -1) return a < -INT64_C(0x7fffffffffffffff) ? a : -a;
    int64_t q = a / b, r = a % b;
    return (r < 0 && b > 0) || (r > 0 && b < 0) ? q - 1 : q;
}
static inline uint64_t quotient_uint64(uint64_t a, uint64_t b) { return a / b; }
