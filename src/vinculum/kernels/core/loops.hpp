// The loops over a chunk, by rule. Operands are contiguous, or one element that is repeated.
//
// A rule divides chunks: `divide` tells which exceptions are among the elements, whose quotients are then settled
// apart. `Invariant` is a quicker way for lines that repeat a divisor, on which no element is an exception.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

#include "compiler.hpp"
#include "formats.hpp"
#include "rules.hpp"
#include "task.hpp"
#include "vector/avx2.hpp"
#include "vector/avx512_vbmi.hpp"
#include "vector/sixteen_bits.hpp"

namespace vinculum {
namespace {

// The vectors that are written by hand for the processor that this is compiled for: here alone they are chosen. Of
// `Plain` loops compilers make vectors that are as good or better. It has a parameter because clang looks up members of
// what has none at once, also in branches that are never taken.
template <class>
struct Plain {};
#if defined(__AVX512VBMI__)
template <class T, bool Floor, int Bits>
using IntegerVectors = std::conditional_t<Bits == 8, avx512_vbmi::EightBits<T, Floor>, Plain<T>>;
#elif defined(__AVX2__) && !defined(__AVX512F__)
template <class T, bool Floor, int Bits>
using IntegerVectors = std::conditional_t<(sizeof(T) <= 2), avx2::Narrow<T, Floor, Bits>, Plain<T>>;
#else
template <class T, bool Floor, int Bits>
using IntegerVectors = Plain<T>;
#endif
#if defined(__AVX2__) && !defined(__AVX512F__)
template <class T, bool Floor>
using InvariantVectors = std::conditional_t<(sizeof(T) >= 4), avx2::Invariant<T, Floor>, Plain<T>>;
#else
template <class T, bool Floor>
using InvariantVectors = Plain<T>;
#endif
#if defined(VINCULUM_SIXTEEN_BITS)
template <class Format>
using FloatVectors =
    std::conditional_t<sizeof(typename Format::Element) == 2, sixteen_bits::SixteenBits<Format>, Plain<Format>>;
#else
template <class Format>
using FloatVectors = Plain<Format>;
#endif
// Whether to multiply 16-bit floats by a reciprocal, and to look at the products, is quicker than to divide.
#if defined(__AVX2__) && defined(__F16C__) && !defined(__AVX512F__)
template <class Format>
constexpr bool MULTIPLIES = !std::is_same_v<Format, Binary16>;
#else
template <class Format>
constexpr bool MULTIPLIES = true;
#endif
// Likewise by the reciprocals of a line of divisors, which many lines of dividends have in common.
#if defined(VINCULUM_SIXTEEN_BITS) && defined(__AVX512F__)
constexpr bool MULTIPLIES_LINES = true;
#else
constexpr bool MULTIPLIES_LINES = false;
#endif
template <class Vectors>
constexpr bool BY_HAND = true;
template <class T>
constexpr bool BY_HAND<Plain<T>> = false;

using Yes = std::true_type;
using No = std::false_type;

// Calls a loop with what is repeated as constants, so that it is compiled for each case.
template <class Loop>
VINCULUM_ALWAYS_INLINE Found by_repetition(bool a_repeats, bool b_repeats, Loop loop) {
    if (a_repeats) return b_repeats ? loop(Yes(), Yes()) : loop(Yes(), No());
    return b_repeats ? loop(No(), Yes()) : loop(No(), No());
}

// For rules that know no quicker way.
template <class T>
struct NoInvariant {
    static bool applies(T) { return false; }
    explicit NoInvariant(T) {}
    void divide(const T*, T*, std::int64_t) const {}
};

// Integers, whose elements may have fewer bits than are stored: the lower ones count.
template <class T, bool Floor, int Bits = 8 * sizeof(T)>
struct Integers {
    using Element = T;
    using Unsigned = std::make_unsigned_t<T>;
    static constexpr bool HAS_EXCEPTIONS = true, TAKES_RECIPROCALS = false;
    static constexpr bool SIGNED = std::is_signed_v<T>;
    static constexpr int UNUSED = 8 * sizeof(T) - Bits;
    static constexpr T MIN = T(std::numeric_limits<T>::min() >> UNUSED);
    static constexpr T MAX = T(std::numeric_limits<T>::max() >> UNUSED);

#if defined(__AVX512VBMI__)
    static constexpr bool PREPARES = sizeof(T) > 1; // the table of reciprocals is as quick
#else
    static constexpr bool PREPARES = UNUSED == 0;
#endif

    static VINCULUM_ALWAYS_INLINE T value(T stored) {
        if constexpr (UNUSED > 0) return T(T(Unsigned(stored) << UNUSED) >> UNUSED);
        else return stored;
    }

    static VINCULUM_ALWAYS_INLINE bool overflows(T a, T b) { return SIGNED && a == MIN && b == T(-1); }

    static Found divide(const T* a, bool a_repeats, const T* b, bool b_repeats, T* c, std::int64_t n) {
        using Vectors = IntegerVectors<T, Floor, Bits>;
        if constexpr (BY_HAND<Vectors>) return Vectors::divide(a, a_repeats, b, b_repeats, c, n);
        const bool few = FEW_BITS<T> > 0 && have_few_bits(b, b_repeats ? 1 : n) && have_few_bits(a, a_repeats ? 1 : n);
        return by_repetition(a_repeats, b_repeats, [=](auto one_a, auto one_b) {
            if constexpr (FEW_BITS<T> > 0) {
                if (few) return loop<one_a, one_b, true>(a, b, c, n);
            }
            return loop<one_a, one_b, false>(a, b, c, n);
        });
    }

    // What a quotient by zero saturates to.
    static T saturated(T dividend) { return dividend > 0 ? MAX : dividend < 0 ? MIN : T(0); }

    class Invariant {
      public:
        // No quotient is an exception then.
        static bool applies(T divisor) { return PREPARES && divisor != 0 && !(SIGNED && divisor == T(-1)); }
        explicit Invariant(T divisor) : prepared_(prepared(divisor)) {}
        void divide(const T* a, T* c, std::int64_t n) const {
            using Vectors = InvariantVectors<T, Floor>;
            if constexpr (BY_HAND<Vectors>) Vectors::divide(a, prepared_, c, n);
            else loop(a, prepared_, c, n);
        }

      private:
        // Not inlined: compilers make a better loop of it where nothing is around.
        static VINCULUM_NOINLINE void loop(const T* a, Prepared<T> by, T* c, std::int64_t n) {
            VINCULUM_INDEPENDENT
            for (std::int64_t i = 0; i < n; i++) c[i] = quotient_by<T, Floor>(a[i], by);
        }

        Prepared<T> prepared_;
    };

  private:
    // Few: whether all operands have few bits, for which one rounded division is enough.
    template <bool OneA, bool OneB, bool Few>
    static VINCULUM_NOINLINE Found loop(const T* a, const T* b, T* c, std::int64_t n) {
        const T only_a = value(*a), only_b = value(*b);
        Unsigned zero_divisors = 0, overflowing = 0;
        VINCULUM_INDEPENDENT
        for (std::int64_t i = 0; i < n; i++) {
            const T x = OneA ? only_a : value(a[i]), y = OneB ? only_b : value(b[i]);
            zero_divisors |= Unsigned(y == 0);
            overflowing |= Unsigned(overflows(x, y));
            const T guarded = y == 0 ? T(1) : y;
            if constexpr (Few) c[i] = quotient_of_few_bits<T, Floor>(x, guarded);
            else c[i] = value(quotient<T, Floor>(x, guarded));
        }
        return Found((zero_divisors ? ZERO_DIVISORS : NOTHING) | (overflowing ? OVERFLOWS : NOTHING));
    }

    // Whether integers lie in [-2^(bits - 1), 2^(bits - 1)).
    static bool have_few_bits(const T* values, std::int64_t n) {
        constexpr std::int64_t STRETCH = 256; // large ones are soon found
        for (std::int64_t start = 0; start < n; start += STRETCH) {
            const std::int64_t end = n - start < STRETCH ? n : start + STRETCH;
            Unsigned above = 0;
            for (std::int64_t i = start; i < end; i++)
                above |= Unsigned(SIGNED && values[i] < 0 ? ~values[i] : values[i]);
            if (std::uint64_t(above) >> (FEW_BITS<T> > 0 ? FEW_BITS<T> - 1 : 0)) return false;
        }
        return true;
    }
};

// What one operation of the processor does to each pair, in place too.
template <class T, class Operation>
struct Elementwise {
    using Element = T;
    using Invariant = NoInvariant<T>;
    static constexpr bool HAS_EXCEPTIONS = false, TAKES_RECIPROCALS = false;

    static Found divide(const T* a, bool a_repeats, const T* b, bool b_repeats, T* c, std::int64_t n) {
        return by_repetition(a_repeats, b_repeats, [=](auto one_a, auto one_b) {
            const T only_a = *a, only_b = *b;
            VINCULUM_INDEPENDENT
            for (std::int64_t i = 0; i < n; i++) c[i] = Operation()(one_a ? only_a : a[i], one_b ? only_b : b[i]);
            return NOTHING;
        });
    }
};

// binary32 and binary64, by the processor's division, never by a reciprocal.
template <class T>
struct Floats : Elementwise<T, std::divides<T>> {};

// Exclusive or: what division does to memory, without division.
template <class T>
struct ExclusiveOr : Elementwise<T, std::bit_xor<T>> {};

// Narrower formats, by way of binary32. Rounding to 24 bits first is harmless where 24 >= 2 p + 2: proved, and every
// pair has been enumerated.
template <class Format>
struct NarrowFloats {
    using T = typename Format::Element;
    using Element = T;
    using Vectors = FloatVectors<Format>;
    static constexpr bool HAS_EXCEPTIONS = false;
    static constexpr bool TAKES_RECIPROCALS = BY_HAND<Vectors> && MULTIPLIES_LINES;

    static Found divide(const T* a, bool a_repeats, const T* b, bool b_repeats, T* c, std::int64_t n) {
        return by_repetition(a_repeats, b_repeats, [=](auto one_a, auto one_b) {
            if constexpr (BY_HAND<Vectors>) return Vectors::template divide<one_a, one_b>(a, b, c, n);
            const float only_a = Format::widen(*a), only_b = Format::widen(*b);
            VINCULUM_INDEPENDENT
            for (std::int64_t i = 0; i < n; i++) {
                const float x = one_a ? only_a : Format::widen(a[i]), y = one_b ? only_b : Format::widen(b[i]);
                c[i] = Format::narrow(x / y);
            }
            return NOTHING;
        });
    }

    // Quotients by the rounded reciprocal of a divisor in binary32. Two roundings move a quotient by little more than
    // 2^-23 of itself. If its result is normal it is never halfway between two results of p bits, but at least 1 /
    // ((2^(p+1) - 1) (2^p - 1)) of itself away from there, which is more. Every pair has been enumerated.
    class Invariant {
      public:
        static bool applies(T divisor) {
            return MULTIPLIES<Format> && sizeof(T) == 2 &&
                   (divisor & (Format::SIGN - 1)) >= Format::SMALLEST_RECIPROCAL_DIVISOR;
        }
        explicit Invariant(T divisor) : divisor_(divisor), reciprocal_(1.0f / Format::widen(divisor)) {}
        void divide(const T* a, T* c, std::int64_t n) const {
            if constexpr (BY_HAND<Vectors>)
                Vectors::divide_by_reciprocal(a, Format::widen(divisor_), reciprocal_, c, n);
            else if (multiply(a, c, n)) NarrowFloats::divide(a, false, &divisor_, true, c, n);
        }

      private:
        // Multiplies by the reciprocal, and returns whether a product is subnormal.
        bool multiply(const T* a, T* c, std::int64_t n) const {
            const float reciprocal = reciprocal_;
            std::uint32_t subnormal = 0;
            VINCULUM_INDEPENDENT
            for (std::int64_t i = 0; i < n; i++) {
                const float value = Format::widen(a[i]) * reciprocal;
                const std::uint32_t size = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu;
                subnormal |= std::uint32_t(size - 1 < Format::REBIAS + (1u << 23) - 1); // 0 is not
                c[i] = Format::narrow(value);
            }
            return subnormal != 0;
        }

        T divisor_;
        float reciprocal_;
    };
};

} // namespace
} // namespace vinculum
