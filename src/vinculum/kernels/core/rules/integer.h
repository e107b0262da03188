/* Extracted by Why3 1.5.1 from c_integer_quotients.Int64, c_integer_quotients.UInt64: change it
   there. */
#pragma once
#include "contract.h"

#include <stdint.h>


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
  int64_t quotient, remainder;
  if (b == INT64_C(-1)) {
    if (a < INT64_C(-9223372036854775807)) {
      return a;
    } else {
      return -a;
    }
  } else {
    quotient = a / b;
    remainder = a % b;
    if ((remainder < INT64_C(0) && b > INT64_C(0)) || (remainder > INT64_C(0) && b < INT64_C(0))) {
      return quotient - INT64_C(1);
    } else {
      return quotient;
    }
  }
}

static inline int is_zero_int64(int64_t b) {
  return b == INT64_C(0);
}

static inline int violates_int64(int64_t a, int64_t b) {
  if (b == INT64_C(0)) {
    return 1;
  } else {
    if (b == INT64_C(-1)) {
      return a < INT64_C(-9223372036854775807);
    } else {
      return 0;
    }
  }
}

static inline uint64_t quotient_uint64(uint64_t a, uint64_t b) {
  return a / b;
}

static inline uint64_t floor_quotient_uint64(uint64_t a, uint64_t b) {
  return a / b;
}

static inline int is_zero_uint64(uint64_t b) {
  return b == UINT64_C(0);
}
