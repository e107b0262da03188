// Integers by AVX2 where compilers do worse: 8 and 16 bits by way of binary32, whose narrowing takes them more than the
// division does, and 32 and 64 bits by an invariant divisor, for which they multiply words of twice the bits or all of
// them where less is enough.
//
// Tested and not proved: every pair up to 16 bits is enumerated, 32 and 64 bits are compared on 10^8 adversarial pairs.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "../compiler.hpp"
#include "../rules.hpp"
#include "../task.hpp"

#if defined(__AVX2__)

namespace vinculum {
namespace {
namespace avx2 {

using Vector = __m256i;

VINCULUM_ALWAYS_INLINE Vector load(const void* p) { return _mm256_loadu_si256((const Vector*)p); }
VINCULUM_ALWAYS_INLINE void store(void* p, Vector x) { _mm256_storeu_si256((Vector*)p, x); }
VINCULUM_ALWAYS_INLINE bool any(Vector x) { return !_mm256_testz_si256(x, x); }

// Integers of 8 or 16 bits, of which the lower ones may count alone. Those at the same place of each 32 bits are
// divided together: shifts widen them and blends put the quotients back, and none crosses a lane.
template <class T, bool Floor, int Bits>
struct Narrow {
    static constexpr int WIDTH = 8 * sizeof(T);
    static constexpr std::int64_t LANES = sizeof(Vector) / sizeof(T);
    static constexpr bool SIGNED = std::is_signed_v<T>;

    static Found divide(const T* a, bool one_a, const T* b, bool one_b, T* c, std::int64_t n) {
        const Vector all_a = all(*a), all_b = all(*b);
        Vector zero_divisors = _mm256_setzero_si256(), overflowing = zero_divisors;
        const auto step = [&](Vector x, Vector y) {
            const Vector kept = all((1 << Bits) - 1), z = _mm256_and_si256(y, kept);
            zero_divisors = _mm256_or_si256(zero_divisors, equal(z, _mm256_setzero_si256()));
            if constexpr (SIGNED) {
                const Vector is_min = equal(_mm256_and_si256(x, kept), all(1 << (Bits - 1)));
                overflowing = _mm256_or_si256(overflowing, _mm256_and_si256(is_min, equal(z, kept)));
            }
            return quotients(x, y);
        };
        std::int64_t i = 0;
        for (; i + LANES <= n; i += LANES) store(c + i, step(one_a ? all_a : load(a + i), one_b ? all_b : load(b + i)));
        if (i < n && n >= LANES) {
            // Some are divided once more: the quotients are not where an operand is.
            i = n - LANES;
            store(c + i, step(one_a ? all_a : load(a + i), one_b ? all_b : load(b + i)));
        } else if (i < n) {
            T rest_a[LANES], rest_b[LANES], rest_c[LANES];
            store(rest_a, all_a);
            store(rest_b, all(1));
            if (!one_a) std::memcpy(rest_a, a + i, (n - i) * sizeof(T));
            if (!one_b) std::memcpy(rest_b, b + i, (n - i) * sizeof(T));
            store(rest_c, step(load(rest_a), one_b ? all_b : load(rest_b)));
            std::memcpy(c + i, rest_c, (n - i) * sizeof(T));
        }
        return Found((any(zero_divisors) ? ZERO_DIVISORS : NOTHING) | (any(overflowing) ? OVERFLOWS : NOTHING));
    }

  private:
    static VINCULUM_ALWAYS_INLINE Vector all(int value) {
        if constexpr (WIDTH == 8) return _mm256_set1_epi8(char(value));
        else return _mm256_set1_epi16(short(value));
    }
    static VINCULUM_ALWAYS_INLINE Vector equal(Vector x, Vector y) {
        if constexpr (WIDTH == 8) return _mm256_cmpeq_epi8(x, y);
        else return _mm256_cmpeq_epi16(x, y);
    }

    // The integers at a place of each 32 bits, widened.
    template <int Place>
    static VINCULUM_ALWAYS_INLINE Vector widened(Vector x) {
        constexpr int ABOVE = 32 - WIDTH * Place - Bits;
        if constexpr (ABOVE > 0) x = _mm256_slli_epi32(x, ABOVE);
        return SIGNED ? _mm256_srai_epi32(x, 32 - Bits) : _mm256_srli_epi32(x, 32 - Bits);
    }

    // A zero divisor gives something that is never kept; MIN/-1 gives MIN, by its lower bits.
    template <int Place>
    static VINCULUM_ALWAYS_INLINE Vector quotients_at(Vector x, Vector y) {
        __m256 q = _mm256_cvtepi32_ps(widened<Place>(x)) / _mm256_cvtepi32_ps(widened<Place>(y));
        if constexpr (Floor) q = _mm256_floor_ps(q);
        const Vector whole = _mm256_cvttps_epi32(q);
        if constexpr (Bits < WIDTH) return widened<0>(whole);
        else return whole;
    }

    static VINCULUM_ALWAYS_INLINE Vector quotients(Vector x, Vector y) {
        if constexpr (WIDTH == 16) return pairs(quotients_at<0>(x, y), quotients_at<1>(x, y));
        else {
            const Vector even = pairs(quotients_at<0>(x, y), quotients_at<2>(x, y));
            const Vector odd = pairs(quotients_at<1>(x, y), quotients_at<3>(x, y));
            return _mm256_or_si256(_mm256_and_si256(even, _mm256_set1_epi16(0xFF)), _mm256_slli_epi16(odd, 8));
        }
    }

    // The lower halves of each 32 bits side by side.
    static VINCULUM_ALWAYS_INLINE Vector pairs(Vector lower, Vector upper) {
        return _mm256_blend_epi16(lower, _mm256_slli_epi32(upper, 16), 0xAA);
    }
};

// 32 or 64 bits by an invariant divisor: `quotient_u32_by`, `quotient_u64_by` and their signed callers, of a vector of
// integers at once.
template <class T, bool Floor>
struct Invariant {
    static constexpr std::int64_t LANES = sizeof(Vector) / sizeof(T);
    static constexpr bool IS_64 = sizeof(T) == 8;

    static void divide(const T* a, Prepared<T> by, T* c, std::int64_t n) {
        const Divisor divisor(by);
        std::int64_t i = 0;
        for (; i + LANES <= n; i += LANES) store(c + i, quotients(load(a + i), divisor));
        for (; i < n; i++) c[i] = quotient_by<T, Floor>(a[i], by);
    }

  private:
    struct Divisor {
        Vector low, high, sign; // the multiplier's halves of 32 bits
        __m128i first, second;  // shifts

        explicit Divisor(prepared_32 by)
            : low(_mm256_set1_epi32(int(by.multiplier))), high(_mm256_setzero_si256()),
              sign(_mm256_set1_epi32(int(by.sign))), first(_mm_cvtsi32_si128(int(by.first))),
              second(_mm_cvtsi32_si128(int(by.second))) {}
        explicit Divisor(prepared_64 by)
            : low(_mm256_set1_epi64x((long long)by.low)), high(_mm256_set1_epi64x((long long)by.high)),
              sign(_mm256_set1_epi64x((long long)by.sign)), first(_mm_cvtsi64_si128((long long)by.first)),
              second(_mm_cvtsi64_si128((long long)by.second)) {}
    };

    static VINCULUM_ALWAYS_INLINE Vector quotients(Vector x, const Divisor& by) {
        if constexpr (std::is_unsigned_v<T>) return of_magnitudes(x, by);
        const Vector zero = _mm256_setzero_si256(), sign_x = greater(zero, x);
        const Vector sign = _mm256_xor_si256(sign_x, by.sign), size = negated_where(x, sign_x);
        if constexpr (!Floor) return negated_where(of_magnitudes(size, by), sign);
        // A negative quotient's floor is -1 - floor((|x| - 1) / |y|).
        const Vector below = _mm256_andnot_si256(equal(x, zero), sign);
        return _mm256_xor_si256(of_magnitudes(sum(size, below), by), below);
    }

    static VINCULUM_ALWAYS_INLINE Vector negated_where(Vector x, Vector mask) {
        return difference(_mm256_xor_si256(x, mask), mask);
    }

    static VINCULUM_ALWAYS_INLINE Vector of_magnitudes(Vector x, const Divisor& by) {
        const Vector high = high_half(x, by);
        return shifted(sum(high, shifted(difference(x, high), by.first)), by.second);
    }

    // Of the product with the multiplier: of 64 bits, as `high_half_u64` has it, from four products of halves.
    static VINCULUM_ALWAYS_INLINE Vector high_half(Vector x, const Divisor& by) {
        const Vector upper = _mm256_srli_epi64(x, 32), lower_32 = _mm256_set1_epi64x(0xFFFFFFFF);
        const Vector carry = _mm256_srli_epi64(_mm256_mul_epu32(x, by.low), 32);
        if constexpr (!IS_64) return _mm256_blend_epi32(carry, _mm256_mul_epu32(upper, by.low), 0xAA);
        const Vector middle = _mm256_add_epi64(_mm256_mul_epu32(upper, by.low), carry);
        const Vector other = _mm256_add_epi64(_mm256_mul_epu32(x, by.high), _mm256_and_si256(middle, lower_32));
        const Vector above = _mm256_add_epi64(_mm256_mul_epu32(upper, by.high), _mm256_srli_epi64(middle, 32));
        return _mm256_add_epi64(above, _mm256_srli_epi64(other, 32));
    }

    static VINCULUM_ALWAYS_INLINE Vector sum(Vector x, Vector y) {
        return IS_64 ? _mm256_add_epi64(x, y) : _mm256_add_epi32(x, y);
    }
    static VINCULUM_ALWAYS_INLINE Vector difference(Vector x, Vector y) {
        return IS_64 ? _mm256_sub_epi64(x, y) : _mm256_sub_epi32(x, y);
    }
    static VINCULUM_ALWAYS_INLINE Vector shifted(Vector x, __m128i bits) {
        return IS_64 ? _mm256_srl_epi64(x, bits) : _mm256_srl_epi32(x, bits);
    }
    static VINCULUM_ALWAYS_INLINE Vector greater(Vector x, Vector y) {
        return IS_64 ? _mm256_cmpgt_epi64(x, y) : _mm256_cmpgt_epi32(x, y);
    }
    static VINCULUM_ALWAYS_INLINE Vector equal(Vector x, Vector y) {
        return IS_64 ? _mm256_cmpeq_epi64(x, y) : _mm256_cmpeq_epi32(x, y);
    }
};

} // namespace avx2
} // namespace
} // namespace vinculum
#endif
