// The rules that Why3 extracts from the proofs, by the type that they divide.
#pragma once

#include <cstdint>
#include <type_traits>

#include "compiler.hpp"
#include "rules/direct.h"
#include "rules/integer.h"
#include "rules/invariant.h"
#include "rules/two_step.h"

namespace vinculum {
namespace {

// Two-step quotients need vector conversions between 64-bit integers and binary64; without them they take twice as long
// as the processor's division.
#if defined(__AVX512DQ__) || defined(__aarch64__)
constexpr bool TWO_STEPS = true;
#else
constexpr bool TWO_STEPS = false;
#endif

// clang-format off
VINCULUM_ALWAYS_INLINE std::int8_t truncating(std::int8_t a, std::int8_t b) { return truncating_i8(a, b); }
VINCULUM_ALWAYS_INLINE std::int16_t truncating(std::int16_t a, std::int16_t b) { return truncating_i16(a, b); }
VINCULUM_ALWAYS_INLINE std::int32_t truncating(std::int32_t a, std::int32_t b) { return truncating_i32(a, b); }
VINCULUM_ALWAYS_INLINE std::int64_t truncating(std::int64_t a, std::int64_t b) { return TWO_STEPS ? truncating_i64(a, b) : quotient_int64(a, b); }
VINCULUM_ALWAYS_INLINE std::uint8_t truncating(std::uint8_t a, std::uint8_t b) { return quotient_u8(a, b); }
VINCULUM_ALWAYS_INLINE std::uint16_t truncating(std::uint16_t a, std::uint16_t b) { return quotient_u16(a, b); }
VINCULUM_ALWAYS_INLINE std::uint32_t truncating(std::uint32_t a, std::uint32_t b) { return quotient_u32(a, b); }
VINCULUM_ALWAYS_INLINE std::uint64_t truncating(std::uint64_t a, std::uint64_t b) { return TWO_STEPS ? quotient_u64(a, b) : quotient_uint64(a, b); }

VINCULUM_ALWAYS_INLINE std::int8_t flooring(std::int8_t a, std::int8_t b) { return floor_i8(a, b); }
VINCULUM_ALWAYS_INLINE std::int16_t flooring(std::int16_t a, std::int16_t b) { return floor_i16(a, b); }
VINCULUM_ALWAYS_INLINE std::int32_t flooring(std::int32_t a, std::int32_t b) { return floor_i32(a, b); }
VINCULUM_ALWAYS_INLINE std::int64_t flooring(std::int64_t a, std::int64_t b) { return TWO_STEPS ? floor_i64(a, b) : floor_quotient_int64(a, b); }

// Of integers that lie in [-2^50, 2^50).
VINCULUM_ALWAYS_INLINE std::int64_t truncating_51(std::int64_t a, std::int64_t b) { return truncating_51_i64(a, b); }
VINCULUM_ALWAYS_INLINE std::uint64_t truncating_51(std::uint64_t a, std::uint64_t b) { return quotient_51_u64(a, b); }
VINCULUM_ALWAYS_INLINE std::int64_t flooring_51(std::int64_t a, std::int64_t b) { return floor_51_i64(a, b); }
// clang-format on

// Unsigned quotients are never negative: their floor is the truncated quotient.
template <class T, bool Floor>
VINCULUM_ALWAYS_INLINE T quotient(T a, T b) {
    if constexpr (Floor && std::is_signed_v<T>) return flooring(a, b);
    else return truncating(a, b);
}

// Bits of integers that a quicker division is enough for, if there is one: those of 64 bits are divided in binary64,
// those of 32 bits in binary32. With the vectors of AVX-512, looking at them costs as much as that saves.
#if defined(VINCULUM_X86) && !defined(__AVX512F__)
constexpr bool FEW_OF_32 = true;
#else
constexpr bool FEW_OF_32 = false;
#endif
template <class T>
constexpr int FEW_BITS = sizeof(T) == 8                ? 51
                         : sizeof(T) == 4 && FEW_OF_32 ? 24
                                                       : 0;

// Of integers of so few bits; unsigned ones have one bit less, and are converted as signed ones: of others compilers
// make a product and a sum.
template <class T, bool Floor>
VINCULUM_ALWAYS_INLINE T quotient_of_few_bits(T a, T b) {
    constexpr bool FLOORS = Floor && std::is_signed_v<T>;
    if constexpr (FEW_BITS<T> == 24)
        return T(FLOORS ? floored_quotient(float(std::int32_t(a)), float(std::int32_t(b)))
                        : truncated_quotient(float(std::int32_t(a)), float(std::int32_t(b))));
    else if constexpr (FLOORS) return flooring_51(a, b);
    else return truncating_51(a, b);
}

// clang-format off
// A divisor that stays the same, with what is computed once for all quotients by it; it is neither 0 nor -1.
VINCULUM_ALWAYS_INLINE auto prepared(std::int8_t divisor) { return prepared_i8(divisor); }
VINCULUM_ALWAYS_INLINE auto prepared(std::int16_t divisor) { return prepared_i16(divisor); }
VINCULUM_ALWAYS_INLINE auto prepared(std::int32_t divisor) { return prepared_i32(divisor); }
VINCULUM_ALWAYS_INLINE auto prepared(std::int64_t divisor) { return prepared_i64(divisor); }
VINCULUM_ALWAYS_INLINE auto prepared(std::uint8_t divisor) { return prepared_u8(divisor); }
VINCULUM_ALWAYS_INLINE auto prepared(std::uint16_t divisor) { return prepared_u16(divisor); }
VINCULUM_ALWAYS_INLINE auto prepared(std::uint32_t divisor) { return prepared_u32(divisor); }
VINCULUM_ALWAYS_INLINE auto prepared(std::uint64_t divisor) { return prepared_u64(divisor); }

template <class T> using Prepared = decltype(prepared(T()));

VINCULUM_ALWAYS_INLINE std::int8_t truncating_by(std::int8_t a, prepared_8 by) { return truncating_i8_by(a, by); }
VINCULUM_ALWAYS_INLINE std::int16_t truncating_by(std::int16_t a, prepared_16 by) { return truncating_i16_by(a, by); }
VINCULUM_ALWAYS_INLINE std::int32_t truncating_by(std::int32_t a, prepared_32 by) { return truncating_i32_by(a, by); }
VINCULUM_ALWAYS_INLINE std::int64_t truncating_by(std::int64_t a, prepared_64 by) { return truncating_i64_by(a, by); }
VINCULUM_ALWAYS_INLINE std::uint8_t truncating_by(std::uint8_t a, prepared_8 by) { return quotient_u8_by(a, by); }
VINCULUM_ALWAYS_INLINE std::uint16_t truncating_by(std::uint16_t a, prepared_16 by) { return quotient_u16_by(a, by); }
VINCULUM_ALWAYS_INLINE std::uint32_t truncating_by(std::uint32_t a, prepared_32 by) { return quotient_u32_by(a, by); }
VINCULUM_ALWAYS_INLINE std::uint64_t truncating_by(std::uint64_t a, prepared_64 by) { return quotient_u64_by(a, by); }

VINCULUM_ALWAYS_INLINE std::int8_t flooring_by(std::int8_t a, prepared_8 by) { return floor_i8_by(a, by); }
VINCULUM_ALWAYS_INLINE std::int16_t flooring_by(std::int16_t a, prepared_16 by) { return floor_i16_by(a, by); }
VINCULUM_ALWAYS_INLINE std::int32_t flooring_by(std::int32_t a, prepared_32 by) { return floor_i32_by(a, by); }
VINCULUM_ALWAYS_INLINE std::int64_t flooring_by(std::int64_t a, prepared_64 by) { return floor_i64_by(a, by); }
// clang-format on

template <class T, bool Floor>
VINCULUM_ALWAYS_INLINE T quotient_by(T a, Prepared<T> by) {
    if constexpr (Floor && std::is_signed_v<T>) return flooring_by(a, by);
    else return truncating_by(a, by);
}

} // namespace
} // namespace vinculum
