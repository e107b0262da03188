/* Extracted by Why3 1.5.1 from direct_division_programs.Through32, direct_division_programs.Int8,
   direct_division_programs.Int16, direct_division_programs.UInt8, direct_division_programs.UInt16,
   direct_division_programs.Through64, direct_division_programs.Int32,
   direct_division_programs.UInt32, direct_division_programs.Int64, direct_division_programs.UInt64:
   change it there. */
#pragma once
#include "contract.h"

#include <stdint.h>

#include <math.h>

#include <string.h>

static inline uint64_t encoding_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline double encoded(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}


static inline int32_t truncated_quotient(float dividend, float divisor) {
  float quotient;
  quotient = dividend / divisor;
  return (int32_t)quotient;
}

static inline int32_t floored_quotient(float dividend, float divisor) {
  float quotient, whole;
  quotient = dividend / divisor;
  whole = floorf(quotient);
  return (int32_t)whole;
}

static inline int8_t truncating_i8(int8_t dividend, int8_t divisor) {
  return (int8_t)truncated_quotient((float)dividend, (float)divisor);
}

static inline int8_t floor_i8(int8_t dividend, int8_t divisor) {
  return (int8_t)floored_quotient((float)dividend, (float)divisor);
}

static inline int16_t truncating_i16(int16_t dividend, int16_t divisor) {
  return (int16_t)truncated_quotient((float)dividend, (float)divisor);
}

static inline int16_t floor_i16(int16_t dividend, int16_t divisor) {
  return (int16_t)floored_quotient((float)dividend, (float)divisor);
}

static inline uint8_t quotient_u8(uint8_t dividend, uint8_t divisor) {
  return (uint8_t)truncated_quotient((float)dividend, (float)divisor);
}

static inline uint16_t quotient_u16(uint16_t dividend, uint16_t divisor) {
  return (uint16_t)truncated_quotient((float)dividend, (float)divisor);
}

static inline double binary64_of_small(uint64_t value) {
  uint64_t bits;
  double shifted;
  bits = value + UINT64_C(0x4338000000000000);
  shifted = encoded(bits);
  return shifted - 0x1.8p52;
}

static inline uint64_t shifted_encoding(double whole) {
  double shifted;
  shifted = whole + 0x1.8p52;
  return encoding_of(shifted);
}

static inline uint64_t shifted_truncation(double dividend, double divisor) {
  double quotient;
  quotient = dividend / divisor;
  return shifted_encoding(trunc(quotient));
}

static inline uint64_t shifted_floor(double dividend, double divisor) {
  double quotient;
  quotient = dividend / divisor;
  return shifted_encoding(floor(quotient));
}

static inline int32_t truncating_i32(int32_t dividend, int32_t divisor) {
  return (int32_t)shifted_truncation((double)dividend, (double)divisor);
}

static inline int32_t floor_i32(int32_t dividend, int32_t divisor) {
  return (int32_t)shifted_floor((double)dividend, (double)divisor);
}

static inline uint32_t quotient_u32(uint32_t dividend, uint32_t divisor) {
  uint64_t bits;
  bits = shifted_truncation(binary64_of_small((uint64_t)dividend),
         binary64_of_small((uint64_t)divisor));
  return (uint32_t)bits;
}

static inline int64_t truncating_51_i64(int64_t dividend, int64_t divisor) {
  uint64_t bits;
  bits = shifted_truncation(binary64_of_small((uint64_t)dividend),
         binary64_of_small((uint64_t)divisor));
  return (int64_t)(bits - UINT64_C(0x4338000000000000));
}

static inline int64_t floor_51_i64(int64_t dividend, int64_t divisor) {
  uint64_t bits;
  bits = shifted_floor(binary64_of_small((uint64_t)dividend),
         binary64_of_small((uint64_t)divisor));
  return (int64_t)(bits - UINT64_C(0x4338000000000000));
}

static inline uint64_t quotient_51_u64(uint64_t dividend, uint64_t divisor) {
  uint64_t bits;
  bits = shifted_truncation(binary64_of_small(dividend),
         binary64_of_small(divisor));
  return bits - UINT64_C(0x4338000000000000);
}
