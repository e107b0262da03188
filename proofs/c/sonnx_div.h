/*
 * Division of tensors: SONNX Div for its eight integer types, float and double; broadcast and floor division.
 *
 * The functions are extracted by Why3 from programs that are proved: the theories c_*.mlw. Proved is, under the
 * conditions named here: each element of the result is the quotient that the specification asks for; every access is
 * within the arrays, no integer operation overflows, every loop ends; nothing but the n elements of the result is
 * written. There is no allocation, no recursion, and no call of a library.
 *
 * Conditions, for every function:
 *   - n >= 0 is the number of elements: the product of the dimensions, 1 for a scalar, 0 if a dimension is 0.
 *   - Each array has at least that many elements (the operands of a broadcast division: see there). With n = 0 nothing
 *     is accessed, and a null pointer is as good as any.
 *   - The result overlaps no other array. To overwrite the dividends use sonnx_div_in_place, whose divisors overlap
 *     the dividends nowhere. Operands may overlap each other, and may be the same.
 *   - Elements are in row-major order, without gaps.
 *   - Integers: no divisor is zero. Only sonnx_div_checked looks; division by zero is undefined in C and traps on many
 *     processors. sonnx_div_first_violation and vinculum_first_zero tell beforehand.
 *   - Floating point: the rounding mode is to nearest, ties to even, and subnormal numbers are not flushed to zero:
 *     both are so where nobody changed them. A program that is linked with -ffast-math changes them.
 *
 *     A processor without them divides by a routine of the compiler, which must keep to IEEE 754. The integer functions
 *     compute nothing in floating point, and their files need neither such a processor nor such a routine.
 *
 * float16 and bfloat16 are absent: C11 has no type for them. Their algorithm is proved in the other theories.
 */
#ifndef SONNX_DIV_H
#define SONNX_DIV_H

#include <stdint.h>

/* The major number counts changes after which a program must be changed too; the minor one counts additions. */
#define SONNX_DIV_VERSION_MAJOR 2
#define SONNX_DIV_VERSION_MINOR 0

#ifdef __cplusplus
extern "C" {
#endif

/*
 * c[p] = a[p] / b[p] for each p < n: the quotient with its fraction discarded (SONNX Div, int); MIN/-1, which no
 * quotient in the type can be, wraps to MIN and never traps. For float and double it is the IEEE 754 quotient: infinity
 * where only the divisor is zero, NaN for 0/0.
 */
void sonnx_div_int8(const int8_t *a, const int8_t *b, int8_t *c, int64_t n);
void sonnx_div_int16(const int16_t *a, const int16_t *b, int16_t *c, int64_t n);
void sonnx_div_int32(const int32_t *a, const int32_t *b, int32_t *c, int64_t n);
void sonnx_div_int64(const int64_t *a, const int64_t *b, int64_t *c, int64_t n);
void sonnx_div_uint8(const uint8_t *a, const uint8_t *b, uint8_t *c, int64_t n);
void sonnx_div_uint16(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t n);
void sonnx_div_uint32(const uint32_t *a, const uint32_t *b, uint32_t *c, int64_t n);
void sonnx_div_uint64(const uint64_t *a, const uint64_t *b, uint64_t *c, int64_t n);
void sonnx_div_float(const float *a, const float *b, float *c, int64_t n);
void sonnx_div_double(const double *a, const double *b, double *c, int64_t n);

/*
 * Divides as above, up to the first position outside SONNX's domain, which is returned: where the divisor is zero, its
 * constraint [C3], or the quotient is MIN/-1, which the type does not hold. Nothing is divided there, so nothing traps,
 * and nothing is written from there on. n is returned if there is no such position: then every quotient is written.
 */
int64_t sonnx_div_checked_int8(const int8_t *a, const int8_t *b, int8_t *c, int64_t n);
int64_t sonnx_div_checked_int16(const int16_t *a, const int16_t *b, int16_t *c, int64_t n);
int64_t sonnx_div_checked_int32(const int32_t *a, const int32_t *b, int32_t *c, int64_t n);
int64_t sonnx_div_checked_int64(const int64_t *a, const int64_t *b, int64_t *c, int64_t n);
int64_t sonnx_div_checked_uint8(const uint8_t *a, const uint8_t *b, uint8_t *c, int64_t n);
int64_t sonnx_div_checked_uint16(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t n);
int64_t sonnx_div_checked_uint32(const uint32_t *a, const uint32_t *b, uint32_t *c, int64_t n);
int64_t sonnx_div_checked_uint64(const uint64_t *a, const uint64_t *b, uint64_t *c, int64_t n);

/* Unchecked, and the dividends are overwritten: a[p] = a[p] / b[p]. */
void sonnx_div_in_place_int8(int8_t *a, const int8_t *b, int64_t n);
void sonnx_div_in_place_int16(int16_t *a, const int16_t *b, int64_t n);
void sonnx_div_in_place_int32(int32_t *a, const int32_t *b, int64_t n);
void sonnx_div_in_place_int64(int64_t *a, const int64_t *b, int64_t n);
void sonnx_div_in_place_uint8(uint8_t *a, const uint8_t *b, int64_t n);
void sonnx_div_in_place_uint16(uint16_t *a, const uint16_t *b, int64_t n);
void sonnx_div_in_place_uint32(uint32_t *a, const uint32_t *b, int64_t n);
void sonnx_div_in_place_uint64(uint64_t *a, const uint64_t *b, int64_t n);
void sonnx_div_in_place_float(float *a, const float *b, int64_t n);
void sonnx_div_in_place_double(double *a, const double *b, int64_t n);

/*
 * The first position outside SONNX's domain, or n if there is none: where the divisor is zero, its constraint [C3], or
 * the quotient is MIN/-1, outside the type. Of unsigned types the divisors alone decide, and no dividends are taken.
 */
int64_t sonnx_div_first_violation_int8(const int8_t *a, const int8_t *b, int64_t n);
int64_t sonnx_div_first_violation_int16(const int16_t *a, const int16_t *b, int64_t n);
int64_t sonnx_div_first_violation_int32(const int32_t *a, const int32_t *b, int64_t n);
int64_t sonnx_div_first_violation_int64(const int64_t *a, const int64_t *b, int64_t n);
int64_t sonnx_div_first_violation_uint8(const uint8_t *b, int64_t n);
int64_t sonnx_div_first_violation_uint16(const uint16_t *b, int64_t n);
int64_t sonnx_div_first_violation_uint32(const uint32_t *b, int64_t n);
int64_t sonnx_div_first_violation_uint64(const uint64_t *b, int64_t n);

/* The first position of a zero, or n if there is none. */
int64_t vinculum_first_zero_int8(const int8_t *b, int64_t n);
int64_t vinculum_first_zero_int16(const int16_t *b, int64_t n);
int64_t vinculum_first_zero_int32(const int32_t *b, int64_t n);
int64_t vinculum_first_zero_int64(const int64_t *b, int64_t n);
int64_t vinculum_first_zero_uint8(const uint8_t *b, int64_t n);
int64_t vinculum_first_zero_uint16(const uint16_t *b, int64_t n);
int64_t vinculum_first_zero_uint32(const uint32_t *b, int64_t n);
int64_t vinculum_first_zero_uint64(const uint64_t *b, int64_t n);

/*
 * Floor division, OpenVINO's Divide-1 with m_pythondiv: the quotient rounded down, so that a remainder has the sign of
 * the divisor. MIN/-1 wraps to MIN.
 */
void vinculum_floor_div_int8(const int8_t *a, const int8_t *b, int8_t *c, int64_t n);
void vinculum_floor_div_int16(const int16_t *a, const int16_t *b, int16_t *c, int64_t n);
void vinculum_floor_div_int32(const int32_t *a, const int32_t *b, int32_t *c, int64_t n);
void vinculum_floor_div_int64(const int64_t *a, const int64_t *b, int64_t *c, int64_t n);
void vinculum_floor_div_uint8(const uint8_t *a, const uint8_t *b, uint8_t *c, int64_t n);
void vinculum_floor_div_uint16(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t n);
void vinculum_floor_div_uint32(const uint32_t *a, const uint32_t *b, uint32_t *c, int64_t n);
void vinculum_floor_div_uint64(const uint64_t *a, const uint64_t *b, uint64_t *c, int64_t n);

/*
 * Broadcast division: c[p] = a[place of p] / b[place of p] for each p < n.
 *
 * rank is the number of dimensions of the result, shape holds them, and n is their product. a_strides and b_strides
 * hold, for each dimension of the result, by how many elements of the operand one step along it moves: 0 where the
 * operand is stretched, and never less. The place of an index is the sum of each coordinate times its stride. Unless n
 * is 0, the place of the last index is within the operand. The zero divisors that matter are those that are reached.
 *
 * coordinates has room for rank - 1 integers, one for each dimension but the last; what it holds is overwritten, and it
 * overlaps nothing else. The walk adds strides: nothing is divided but the elements.
 */
void vinculum_div_broadcast_int8(const int8_t *a, const int8_t *b, int8_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_div_broadcast_int16(const int16_t *a, const int16_t *b, int16_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_div_broadcast_int32(const int32_t *a, const int32_t *b, int32_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_div_broadcast_int64(const int64_t *a, const int64_t *b, int64_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_div_broadcast_uint8(const uint8_t *a, const uint8_t *b, uint8_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_div_broadcast_uint16(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_div_broadcast_uint32(const uint32_t *a, const uint32_t *b, uint32_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_div_broadcast_uint64(const uint64_t *a, const uint64_t *b, uint64_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_div_broadcast_float(const float *a, const float *b, float *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_div_broadcast_double(const double *a, const double *b, double *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);

/* The same with floor division. */
void vinculum_floor_div_broadcast_int8(const int8_t *a, const int8_t *b, int8_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_floor_div_broadcast_int16(const int16_t *a, const int16_t *b, int16_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_floor_div_broadcast_int32(const int32_t *a, const int32_t *b, int32_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_floor_div_broadcast_int64(const int64_t *a, const int64_t *b, int64_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_floor_div_broadcast_uint8(const uint8_t *a, const uint8_t *b, uint8_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_floor_div_broadcast_uint16(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_floor_div_broadcast_uint32(const uint32_t *a, const uint32_t *b, uint32_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);
void vinculum_floor_div_broadcast_uint64(const uint64_t *a, const uint64_t *b, uint64_t *c, int64_t rank, int64_t n,
    const int64_t *shape, const int64_t *a_strides, const int64_t *b_strides, int64_t *coordinates);

#ifdef __cplusplus
}
#endif

#endif
