/* Extracted by Why3 1.5.1 from c_integer_quotients.Int64.quotient_int64,
   c_integer_quotients.Int64.floor_quotient_int64, c_integer_quotients.UInt64.quotient_uint64:
   change it there. */
#pragma once
#include "contract.h"

static inline int64_t quotient_int64(int64_t a, int64_t b) {
  if (b == INT64_C(-1)) {
    if (a < INT64_C(-9223372036854775807)) {
      return a;
    } else {
      return -a;
    }
  } else {
    return a / b;
  }
}

static inline int64_t floor_quotient_int64(int64_t a, int64_t b) {
  int64_t quotient, remainder, turned;
  if (b == INT64_C(-1)) {
    if (a < INT64_C(-9223372036854775807)) {
      return a;
    } else {
      return -a;
    }
  } else {
    quotient = a / b;
    remainder = a % b;
    if (b < INT64_C(0)) {
      turned = -remainder;
    } else {
      turned = remainder;
    }
    if (turned < INT64_C(0)) {
      return quotient - INT64_C(1);
    } else {
      return quotient;
    }
  }
}

static inline uint64_t quotient_uint64(uint64_t a, uint64_t b) {
  return a / b;
}
