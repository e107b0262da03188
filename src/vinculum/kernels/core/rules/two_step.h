/* Extracted by Why3 1.5.1 from two_step_programs.Unsigned, two_step_bits.SignBits,
   two_step_bits.Magnitude, two_step_signed.Signed, two_step_kernels.Quotients: change it there. */
#pragma once
#include "contract.h"

#include <stdint.h>


static inline double reciprocal_of(uint64_t divisor) {
  double rounded, one;
  rounded = (double)divisor;
  one = 0x1.ffffffffffff8p-1;
  return one / rounded;
}

static inline uint64_t estimated_quotient(uint64_t dividend,
                                          double reciprocal) {
  double rounded, estimate;
  rounded = (double)dividend;
  estimate = rounded * reciprocal;
  return (uint64_t)estimate;
}

static inline uint64_t two_step_quotient(uint64_t dividend, uint64_t divisor,
                                         double reciprocal) {
  uint64_t first, remainder, second, left;
  first = estimated_quotient(dividend, reciprocal);
  remainder = dividend - first * divisor;
  second = estimated_quotient(remainder, reciprocal);
  left = remainder - second * divisor;
  return first + second + (uint64_t)(left >= divisor);
}

static inline uint64_t sign_mask(uint64_t value) {
  return -(value >> UINT64_C(63));
}

static inline uint64_t negated_where(uint64_t value, uint64_t mask) {
  return (value ^ mask) - mask;
}

static inline int is_negative(uint64_t value) {
  return value >= UINT64_C(0x8000000000000000);
}

static inline uint64_t magnitude(uint64_t value) {
  return negated_where(value, sign_mask(value));
}

static inline double reciprocal_of_magnitude(uint64_t divisor) {
  return reciprocal_of(magnitude(divisor));
}

static inline uint64_t signed_quotient(uint64_t dividend, uint64_t divisor,
                                       double reciprocal) {
  uint64_t sign, of_magnitudes;
  sign = sign_mask(dividend ^ divisor);
  of_magnitudes = two_step_quotient(magnitude(dividend), magnitude(divisor),
                  reciprocal);
  return negated_where(of_magnitudes, sign);
}

static inline uint64_t floor_of(uint64_t truncated, uint64_t dividend,
                                uint64_t divisor) {
  int exact;
  uint64_t step;
  exact = truncated * divisor == dividend;
  step = (uint64_t)(is_negative(dividend ^ divisor) && !exact);
  return truncated - step;
}

static inline double reciprocal_u64(uint64_t divisor) {
  return reciprocal_of(divisor);
}

static inline uint64_t quotient_u64(uint64_t dividend, uint64_t divisor) {
  return two_step_quotient(dividend, divisor, reciprocal_u64(divisor));
}

static inline double reciprocal_i64(int64_t divisor) {
  return reciprocal_of_magnitude((uint64_t)divisor);
}

static inline int64_t truncating_i64(int64_t dividend, int64_t divisor) {
  return (int64_t)signed_quotient((uint64_t)dividend, (uint64_t)divisor,
                  reciprocal_i64(divisor));
}

static inline int64_t floor_i64(int64_t dividend, int64_t divisor) {
  uint64_t bits, divisor_bits;
  bits = (uint64_t)dividend;
  divisor_bits = (uint64_t)divisor;
  return (int64_t)floor_of(signed_quotient(bits, divisor_bits,
                           reciprocal_i64(divisor)),
                  bits, divisor_bits);
}
