// Encodings of floating-point formats narrower than binary32, widened exactly, and rounded once with ties to even.
#pragma once

#include <bit>
#include <cstdint>

#include "compiler.hpp"

namespace vinculum {
namespace {

// A format by the bits of its exponent and of its fraction. One without infinities has a single NaN of each sign in
// their place, and greater numbers where others have NaN: OCP's E4M3, "fn".
template <class Encoding, int Exponent, int Fraction, bool Infinities, std::uint32_t NaN>
struct Format {
    using Element = Encoding;

    static constexpr int BIAS = (1 << (Exponent - 1)) - 1;
    static constexpr int SHIFT = 23 - Fraction;
    static constexpr std::uint32_t SIGN = 1u << (Exponent + Fraction);
    static constexpr std::uint32_t REBIAS = std::uint32_t(127 - BIAS) << 23;
    static constexpr std::uint32_t SMALLEST_NORMAL = 1u << Fraction;
    // Infinity, or NaN where there is none: what overflows becomes, and the first encoding that is no number.
    static constexpr std::uint32_t OVERFLOWED = Infinities ? SIGN - SMALLEST_NORMAL : SIGN - 1;
    // Its spacing is that of the subnormal numbers: added to one, it lets the processor round.
    static constexpr std::uint32_t MAGIC = std::uint32_t(127 + 1 - BIAS - Fraction + 23) << 23;

    static VINCULUM_ALWAYS_INLINE float widen(Encoding encoding) {
        const std::uint32_t magnitude = encoding & (SIGN - 1);
        const std::uint32_t sign = std::uint32_t(encoding & SIGN) << (31 - Exponent - Fraction);
        const std::uint32_t normal = (magnitude << SHIFT) + REBIAS;
        if constexpr (REBIAS == 0) return std::bit_cast<float>(sign | normal); // the upper part of binary32
        const std::uint32_t special = Infinities ? (magnitude << SHIFT) | 0x7F800000u : 0x7FC00000u;
        // In the exponent's place above MAGIC the fraction counts in units of the smallest number.
        const std::uint32_t subnormal =
            std::bit_cast<std::uint32_t>(std::bit_cast<float>(MAGIC + magnitude) - std::bit_cast<float>(MAGIC));
        const std::uint32_t found = magnitude >= OVERFLOWED        ? special
                                    : magnitude >= SMALLEST_NORMAL ? normal
                                                                   : subnormal;
        return std::bit_cast<float>(sign | found);
    }

    static VINCULUM_ALWAYS_INLINE Encoding narrow(float value) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
        if constexpr (REBIAS == 0) {
            const std::uint32_t upper = (bits + 0x7FFFu + ((bits >> 16) & 1)) >> 16;
            return Encoding(value != value ? NaN : upper);
        }
        const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
        const std::uint32_t sign = (bits >> (31 - Exponent - Fraction)) & SIGN;
        const std::uint32_t lowest_kept = (magnitude >> SHIFT) & 1;
        const std::uint32_t rounded = magnitude + (1u << (SHIFT - 1)) - 1 + lowest_kept - REBIAS;
        const std::uint32_t subnormal =
            std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(MAGIC)) - MAGIC;
        std::uint32_t found = magnitude < REBIAS + (1u << 23) ? subnormal : rounded >> SHIFT;
        found = found > OVERFLOWED || magnitude >= 0x7F800000u ? OVERFLOWED : found;
        if constexpr (!Infinities) return Encoding(found == OVERFLOWED ? NaN : sign | found);
        return Encoding(magnitude > 0x7F800000u ? NaN : sign | found);
    }

    // The least divisor whose reciprocal is a number of binary32 (see NarrowFloats::Invariant).
    static constexpr std::uint32_t SMALLEST_RECIPROCAL_DIVISOR = REBIAS == 0 ? SMALLEST_NORMAL : 0;
    static constexpr float smallest_normal() { return std::bit_cast<float>(REBIAS + (1u << 23)); }
};

using Binary16 = Format<std::uint16_t, 5, 10, true, 0x7E00>;
using BFloat16 = Format<std::uint16_t, 8, 7, true, 0x7FC0>;
using Float8E4M3FN = Format<std::uint8_t, 4, 3, false, 0x7F>;
using Float8E5M2 = Format<std::uint8_t, 5, 2, true, 0x7E>;

} // namespace
} // namespace vinculum
