/* Extracted by Why3 1.5.1 from multiply_high_preparation.Exponent,
   multiply_high_preparation.Preparation8, multiply_high_preparation.Preparation16,
   multiply_high_preparation.Preparation32, multiply_high_preparation.Preparation64,
   multiply_high_programs.Product16, multiply_high_programs.Quotient8,
   multiply_high_programs.Quotient16, multiply_high_programs.Quotient32,
   multiply_high_programs.Quotient64, multiply_high_signed.Signed8, multiply_high_signed.Signed16,
   multiply_high_signed.Signed32, multiply_high_signed.Signed64: change it there. */
#pragma once
#include "contract.h"

#include <stdint.h>


static inline uint64_t ceiling_of_log2(uint64_t divisor) {
  uint64_t exponent, rest;
  exponent = UINT64_C(0);
  rest = divisor - UINT64_C(1);
  while (rest > UINT64_C(0)) {
    rest = rest >> UINT64_C(1);
    exponent = exponent + UINT64_C(1);
  }
  return exponent;
}

static inline uint64_t first_of(uint64_t exponent) {
  if (exponent > UINT64_C(0)) {
    return UINT64_C(1);
  } else {
    return UINT64_C(0);
  }
}

struct prepared_8 {
  uint16_t reciprocal;
  uint8_t sign;
};

static inline struct prepared_8 prepared_u8(uint8_t divisor) {
  struct prepared_8 prepared_8;
  prepared_8.reciprocal = (uint16_t)(0xFFFF / (uint16_t)divisor);
  prepared_8.sign = 0;
  return prepared_8;
}

struct prepared_16 {
  uint16_t top;
  uint16_t high;
  uint16_t low;
  uint16_t sign;
};

static inline struct prepared_16 prepared_u16(uint16_t divisor) {
  uint32_t reciprocal, rest;
  int whole;
  struct prepared_16 prepared_16;
  reciprocal = 0xFFFFFFFFU / (uint32_t)divisor;
  whole = reciprocal == 0xFFFFFFFFU;
  if (whole) {
    rest = 0U;
  } else {
    rest = reciprocal + 1U;
  }
  prepared_16.top = whole;
  prepared_16.high = (uint16_t)(rest >> 16U);
  prepared_16.low = (uint16_t)rest;
  prepared_16.sign = 0;
  return prepared_16;
}

struct prepared_32 {
  uint32_t multiplier;
  uint32_t first;
  uint32_t second;
  uint32_t sign;
};

static inline struct prepared_32 prepared_u32(uint32_t divisor) {
  uint64_t wide, exponent, excess, quotient, first, second;
  uint32_t m, first_shift, second_shift;
  struct prepared_32 prepared_32;
  wide = (uint64_t)divisor;
  exponent = ceiling_of_log2(wide);
  excess = (UINT64_C(1) << exponent) - wide;
  quotient = excess * UINT64_C(0x100000000) / wide;
  first = first_of(exponent);
  m = (uint32_t)(quotient + UINT64_C(1));
  second = exponent - first;
  first_shift = (uint32_t)first;
  second_shift = (uint32_t)second;
  prepared_32.multiplier = m;
  prepared_32.first = first_shift;
  prepared_32.second = second_shift;
  prepared_32.sign = 0U;
  return prepared_32;
}

struct prepared_64 {
  uint64_t low;
  uint64_t high;
  uint64_t first;
  uint64_t second;
  uint64_t sign;
};

static inline uint64_t long_division(uint64_t high, uint64_t divisor) {
  uint64_t quotient, remainder, step;
  int carries;
  quotient = UINT64_C(0);
  remainder = high;
  step = UINT64_C(0);
  while (step < UINT64_C(64)) {
    step = step + UINT64_C(1);
    carries = remainder >= UINT64_C(0x8000000000000000);
    remainder = remainder << UINT64_C(1);
    quotient = quotient << UINT64_C(1);
    if (carries || remainder >= divisor) {
      remainder = remainder - divisor;
      quotient = quotient + UINT64_C(1);
    }
  }
  return quotient;
}

static inline uint64_t power_modulo(uint64_t exponent) {
  if (exponent == UINT64_C(64)) {
    return UINT64_C(0);
  } else {
    return UINT64_C(1) << exponent;
  }
}

static inline struct prepared_64 prepared_u64(uint64_t divisor) {
  uint64_t exponent, excess, quotient, m, first;
  struct prepared_64 prepared_64;
  exponent = ceiling_of_log2(divisor);
  excess = power_modulo(exponent) - divisor;
  quotient = long_division(excess, divisor);
  m = quotient + UINT64_C(1);
  first = first_of(exponent);
  prepared_64.low = (uint64_t)(uint32_t)m;
  prepared_64.high = m >> UINT64_C(32);
  prepared_64.first = first;
  prepared_64.second = exponent - first;
  prepared_64.sign = UINT64_C(0);
  return prepared_64;
}

static inline uint16_t low_product_u16(uint16_t a, uint16_t b) {
  return (uint16_t)((uint32_t)a * (uint32_t)b);
}

static inline uint16_t high_half_u16(uint16_t a, uint16_t b) {
  return (uint16_t)((uint32_t)a * (uint32_t)b >> 16U);
}

static inline uint8_t quotient_u8_by(uint8_t dividend,
                                     struct prepared_8 prepared) {
  uint16_t quotient;
  quotient = high_half_u16((uint16_t)((uint16_t)dividend + 1),
             prepared.reciprocal);
  return (uint8_t)quotient;
}

static inline uint16_t quotient_u16_by(uint16_t dividend,
                                       struct prepared_16 prepared) {
  uint16_t rest, below, sum, carry, above, whole;
  rest = high_half_u16(dividend, prepared.low);
  below = low_product_u16(dividend, prepared.high);
  sum = (uint16_t)(below + rest);
  carry = (uint16_t)(sum < rest);
  above = high_half_u16(dividend, prepared.high);
  whole = low_product_u16(dividend, prepared.top);
  return (uint16_t)((uint16_t)(whole + above) + carry);
}

static inline uint32_t high_half_u32(uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)a * (uint64_t)b >> UINT64_C(32));
}

static inline uint32_t quotient_u32_by(uint32_t dividend,
                                       struct prepared_32 prepared) {
  uint32_t high, estimate;
  high = high_half_u32(dividend, prepared.multiplier);
  estimate = high + ((dividend - high) >> prepared.first);
  return estimate >> prepared.second;
}

static inline uint64_t lower_32(uint64_t word) {
  return (uint64_t)(uint32_t)word;
}

static inline uint64_t upper_32(uint64_t word) {
  return word >> UINT64_C(32);
}

static inline uint64_t high_half_u64(uint64_t a, uint64_t low, uint64_t high) {
  uint64_t a_low, a_high, b_low, b_high, lowest, carry, middle, middle_low,
           middle_high, other, other_high;
  a_low = lower_32(a);
  a_high = upper_32(a);
  b_low = lower_32(low);
  b_high = lower_32(high);
  lowest = a_low * b_low;
  carry = upper_32(lowest);
  middle = a_high * b_low + carry;
  middle_low = lower_32(middle);
  middle_high = upper_32(middle);
  other = a_low * b_high + middle_low;
  other_high = upper_32(other);
  return a_high * b_high + middle_high + other_high;
}

static inline uint64_t quotient_u64_by(uint64_t dividend,
                                       struct prepared_64 prepared) {
  uint64_t high, estimate;
  high = high_half_u64(dividend, prepared.low, prepared.high);
  estimate = high + ((dividend - high) >> prepared.first);
  return estimate >> prepared.second;
}

static inline uint8_t magnitude_i8(int8_t number) {
  if (number < 0) {
    return (uint8_t)(0 - (uint8_t)number);
  } else {
    return (uint8_t)number;
  }
}

static inline uint8_t negated_where_u8(uint8_t word, uint8_t mask) {
  return (uint8_t)((uint8_t)(word ^ mask) - mask);
}

static inline struct prepared_8 prepared_i8(int8_t divisor) {
  struct prepared_8 prepared, prepared_8;
  prepared = prepared_u8(magnitude_i8(divisor));
  prepared_8.reciprocal = prepared.reciprocal;
  prepared_8.sign = (uint8_t)-(divisor < 0);
  return prepared_8;
}

static inline int8_t truncating_i8_by(int8_t dividend,
                                      struct prepared_8 prepared) {
  uint8_t quotient, sign;
  quotient = quotient_u8_by(magnitude_i8(dividend), prepared);
  sign = (uint8_t)((uint8_t)-(dividend < 0) ^ prepared.sign);
  return (int8_t)negated_where_u8(quotient, sign);
}

static inline int8_t floor_i8_by(int8_t dividend, struct prepared_8 prepared) {
  int8_t turned;
  uint8_t mask, reduced, quotient;
  turned = (int8_t)(uint8_t)((uint8_t)dividend ^ prepared.sign);
  mask = (uint8_t)-(turned < (int8_t)prepared.sign);
  reduced = (uint8_t)(magnitude_i8(dividend) + mask);
  quotient = quotient_u8_by(reduced, prepared);
  return (int8_t)(uint8_t)(quotient ^ mask);
}

static inline uint16_t magnitude_i16(int16_t number) {
  if (number < 0) {
    return (uint16_t)(0 - (uint16_t)number);
  } else {
    return (uint16_t)number;
  }
}

static inline uint16_t negated_where_u16(uint16_t word, uint16_t mask) {
  return (uint16_t)((uint16_t)(word ^ mask) - mask);
}

static inline struct prepared_16 prepared_i16(int16_t divisor) {
  struct prepared_16 prepared, prepared_16;
  prepared = prepared_u16(magnitude_i16(divisor));
  prepared_16.top = prepared.top;
  prepared_16.high = prepared.high;
  prepared_16.low = prepared.low;
  prepared_16.sign = (uint16_t)-(divisor < 0);
  return prepared_16;
}

static inline int16_t truncating_i16_by(int16_t dividend,
                                        struct prepared_16 prepared) {
  uint16_t quotient, sign;
  quotient = quotient_u16_by(magnitude_i16(dividend), prepared);
  sign = (uint16_t)((uint16_t)-(dividend < 0) ^ prepared.sign);
  return (int16_t)negated_where_u16(quotient, sign);
}

static inline int16_t floor_i16_by(int16_t dividend,
                                   struct prepared_16 prepared) {
  int16_t turned;
  uint16_t mask, reduced, quotient;
  turned = (int16_t)(uint16_t)((uint16_t)dividend ^ prepared.sign);
  mask = (uint16_t)-(turned < (int16_t)prepared.sign);
  reduced = (uint16_t)(magnitude_i16(dividend) + mask);
  quotient = quotient_u16_by(reduced, prepared);
  return (int16_t)(uint16_t)(quotient ^ mask);
}

static inline uint32_t magnitude_i32(int32_t number) {
  if (number < 0) {
    return 0U - (uint32_t)number;
  } else {
    return (uint32_t)number;
  }
}

static inline uint32_t negated_where_u32(uint32_t word, uint32_t mask) {
  return (word ^ mask) - mask;
}

static inline struct prepared_32 prepared_i32(int32_t divisor) {
  struct prepared_32 prepared, prepared_32;
  prepared = prepared_u32(magnitude_i32(divisor));
  prepared_32.multiplier = prepared.multiplier;
  prepared_32.first = prepared.first;
  prepared_32.second = prepared.second;
  prepared_32.sign = -(uint32_t)(divisor < 0);
  return prepared_32;
}

static inline int32_t truncating_i32_by(int32_t dividend,
                                        struct prepared_32 prepared) {
  uint32_t quotient, sign;
  quotient = quotient_u32_by(magnitude_i32(dividend), prepared);
  sign = -(uint32_t)(dividend < 0) ^ prepared.sign;
  return (int32_t)negated_where_u32(quotient, sign);
}

static inline int32_t floor_i32_by(int32_t dividend,
                                   struct prepared_32 prepared) {
  int32_t turned;
  uint32_t mask, reduced, quotient;
  turned = (int32_t)((uint32_t)dividend ^ prepared.sign);
  mask = -(uint32_t)(turned < (int32_t)prepared.sign);
  reduced = magnitude_i32(dividend) + mask;
  quotient = quotient_u32_by(reduced, prepared);
  return (int32_t)(quotient ^ mask);
}

static inline uint64_t magnitude_i64(int64_t number) {
  if (number < INT64_C(0)) {
    return UINT64_C(0) - (uint64_t)number;
  } else {
    return (uint64_t)number;
  }
}

static inline uint64_t negated_where_u64(uint64_t word, uint64_t mask) {
  return (word ^ mask) - mask;
}

static inline struct prepared_64 prepared_i64(int64_t divisor) {
  struct prepared_64 prepared, prepared_64;
  prepared = prepared_u64(magnitude_i64(divisor));
  prepared_64.low = prepared.low;
  prepared_64.high = prepared.high;
  prepared_64.first = prepared.first;
  prepared_64.second = prepared.second;
  prepared_64.sign = -(uint64_t)(divisor < INT64_C(0));
  return prepared_64;
}

static inline int64_t truncating_i64_by(int64_t dividend,
                                        struct prepared_64 prepared) {
  uint64_t quotient, sign;
  quotient = quotient_u64_by(magnitude_i64(dividend), prepared);
  sign = -(uint64_t)(dividend < INT64_C(0)) ^ prepared.sign;
  return (int64_t)negated_where_u64(quotient, sign);
}

static inline int64_t floor_i64_by(int64_t dividend,
                                   struct prepared_64 prepared) {
  int64_t turned;
  uint64_t mask, reduced, quotient;
  turned = (int64_t)((uint64_t)dividend ^ prepared.sign);
  mask = -(uint64_t)(turned < (int64_t)prepared.sign);
  reduced = magnitude_i64(dividend) + mask;
  quotient = quotient_u64_by(reduced, prepared);
  return (int64_t)(quotient ^ mask);
}
