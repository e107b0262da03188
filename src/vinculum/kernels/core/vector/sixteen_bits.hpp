// binary16 and bfloat16 by vectors of binary32, on processors with AVX-512, with AVX2 and F16C, or with NEON: compilers
// do not find the conversions of binary16 by themselves, and make more of those of bfloat16 than they are.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "../compiler.hpp"
#include "../formats.hpp"
#include "../task.hpp"

// The bytes of a vector.
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
#define VINCULUM_SIXTEEN_BITS 64
#elif defined(__F16C__) && defined(__AVX2__)
#define VINCULUM_SIXTEEN_BITS 32
#elif defined(__aarch64__) && defined(__GNUC__)
#include <arm_neon.h>
#define VINCULUM_SIXTEEN_BITS 16
#endif

#if defined(VINCULUM_SIXTEEN_BITS)

namespace vinculum {
namespace {
namespace sixteen_bits {

// The one NaN that either format is given.
constexpr float NOT_A_NUMBER = std::bit_cast<float>(0x7FC00000u);

typedef float Floats __attribute__((vector_size(VINCULUM_SIXTEEN_BITS)));
typedef std::uint32_t Words __attribute__((vector_size(VINCULUM_SIXTEEN_BITS)));
// Encodings are held two in a word, and LANES of them in a vector: a whole one, or as many as are left.
constexpr std::int64_t LANES = VINCULUM_SIXTEEN_BITS / sizeof(std::uint16_t);
constexpr bool HAS_MASKS = VINCULUM_SIXTEEN_BITS == 64;
struct Whole {};

// What processors do differently.
#if VINCULUM_SIXTEEN_BITS == 64

VINCULUM_ALWAYS_INLINE Floats lower_half(Words x) { return _mm512_cvtph_ps(_mm512_castsi512_si256((__m512i)x)); }
VINCULUM_ALWAYS_INLINE Floats upper_half(Words x) { return _mm512_cvtph_ps(_mm512_extracti64x4_epi64((__m512i)x, 1)); }
VINCULUM_ALWAYS_INLINE Words from_halves(Floats lower, Floats upper) {
    const __m256i low = _mm512_cvtps_ph(lower, _MM_FROUND_TO_NEAREST_INT);
    const __m256i high = _mm512_cvtps_ph(upper, _MM_FROUND_TO_NEAREST_INT);
    return (Words)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
// The upper halves of words: of the first at their lower halves' place, of the second where they are.
VINCULUM_ALWAYS_INLINE Words upper_halves(Words even, Words odd) {
    return (Words)_mm512_mask_blend_epi16(0xAAAAAAAA, (__m512i)(even >> 16), (__m512i)odd);
}
VINCULUM_ALWAYS_INLINE __mmask32 first(std::int64_t n) { return __mmask32((1u << n) - 1); }
VINCULUM_ALWAYS_INLINE Words load(const std::uint16_t* p, std::int64_t n) {
    return (Words)_mm512_maskz_loadu_epi16(first(n), p);
}
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Words x, std::int64_t n) {
    _mm512_mask_storeu_epi16(p, first(n), (__m512i)x);
}
VINCULUM_ALWAYS_INLINE bool may_have_nan(Floats, Floats) {
    return true;
} // to replace them takes no longer than to look
// Which lanes are subnormal in the format, or NaN.
VINCULUM_ALWAYS_INLINE unsigned irregular(Floats value, Binary16) {
    const __m512 size = _mm512_abs_ps(value);
    const __mmask16 not_normal = _mm512_cmp_ps_mask(size, _mm512_set1_ps(Binary16::smallest_normal()), _CMP_NGE_UQ);
    return _mm512_mask_cmp_ps_mask(not_normal, size, _mm512_setzero_ps(), _CMP_NEQ_UQ);
}
VINCULUM_ALWAYS_INLINE unsigned irregular(Floats value, BFloat16) {
    constexpr int QUIET_NAN = 0x01, SUBNORMAL = 0x20, SIGNALING_NAN = 0x80;
    return _mm512_fpclass_ps_mask(value, QUIET_NAN | SUBNORMAL | SIGNALING_NAN);
}

#elif VINCULUM_SIXTEEN_BITS == 32

VINCULUM_ALWAYS_INLINE Floats lower_half(Words x) { return _mm256_cvtph_ps(_mm256_castsi256_si128((__m256i)x)); }
VINCULUM_ALWAYS_INLINE Floats upper_half(Words x) { return _mm256_cvtph_ps(_mm256_extracti128_si256((__m256i)x, 1)); }
VINCULUM_ALWAYS_INLINE Words from_halves(Floats lower, Floats upper) {
    const __m128i low = _mm256_cvtps_ph(lower, _MM_FROUND_TO_NEAREST_INT);
    const __m128i high = _mm256_cvtps_ph(upper, _MM_FROUND_TO_NEAREST_INT);
    return (Words)_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}
VINCULUM_ALWAYS_INLINE Words upper_halves(Words even, Words odd) {
    return (Words)_mm256_blend_epi16((__m256i)(even >> 16), (__m256i)odd, 0xAA);
}
VINCULUM_ALWAYS_INLINE bool may_have_nan(Floats x, Floats y) {
    return _mm256_movemask_ps(_mm256_cmp_ps(x, y, _CMP_UNORD_Q)) != 0;
}
template <class Format>
VINCULUM_ALWAYS_INLINE unsigned irregular(Floats value, Format) {
    const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), value);
    const __m256 not_normal = _mm256_cmp_ps(size, _mm256_set1_ps(Format::smallest_normal()), _CMP_NGE_UQ);
    const __m256 nonzero = _mm256_cmp_ps(size, _mm256_setzero_ps(), _CMP_NEQ_UQ);
    return _mm256_movemask_ps(_mm256_and_ps(not_normal, nonzero));
}

#else

VINCULUM_ALWAYS_INLINE Floats lower_half(Words x) {
    return vcvt_f32_f16(vget_low_f16(vreinterpretq_f16_u32((uint32x4_t)x)));
}
VINCULUM_ALWAYS_INLINE Floats upper_half(Words x) { return vcvt_high_f32_f16(vreinterpretq_f16_u32((uint32x4_t)x)); }
VINCULUM_ALWAYS_INLINE Words from_halves(Floats lower, Floats upper) {
    return (Words)vreinterpretq_u32_f16(vcvt_high_f16_f32(vcvt_f16_f32(lower), upper));
}
VINCULUM_ALWAYS_INLINE Words upper_halves(Words even, Words odd) { return vsriq_n_u32(odd, even, 16); }
VINCULUM_ALWAYS_INLINE bool may_have_nan(Floats x, Floats y) {
    return vminvq_u32(vandq_u32(vceqq_f32(x, x), vceqq_f32(y, y))) == 0;
}
template <class Format>
VINCULUM_ALWAYS_INLINE unsigned irregular(Floats value, Format) {
    const uint32x4_t normal = vcgeq_f32(vabsq_f32(value), vdupq_n_f32(Format::smallest_normal()));
    return vminvq_u32(vorrq_u32(normal, vceqzq_f32(value))) == 0;
}

#endif

template <class T>
VINCULUM_ALWAYS_INLINE T copied(const void* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}
VINCULUM_ALWAYS_INLINE Words load(const std::uint16_t* p, Whole) { return copied<Words>(p); }
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Words x, Whole) { std::memcpy(p, &x, sizeof x); }
#if VINCULUM_SIXTEEN_BITS != 64
VINCULUM_ALWAYS_INLINE Words load(const std::uint16_t* p, std::int64_t n) {
    std::uint16_t whole[LANES] = {};
    std::memcpy(whole, p, n * sizeof *p);
    return load(whole, Whole());
}
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Words x, std::int64_t n) { std::memcpy(p, &x, n * sizeof *p); }
#endif

VINCULUM_ALWAYS_INLINE Floats all(float value) { return value - Floats{}; }
VINCULUM_ALWAYS_INLINE Words rounded(Floats value) {
    const Words bits = (Words)value;
    return bits + 0x7FFF + (bits >> 16 & 1);
}
VINCULUM_ALWAYS_INLINE Floats with_one_nan(Floats value) { return value == value ? value : all(NOT_A_NUMBER); }
VINCULUM_ALWAYS_INLINE Floats finite_or_nan(Floats value) { return value - value == 0 ? value : all(NOT_A_NUMBER); }

// A vector of encodings, widened: its halves of binary16, its even and odd lanes of bfloat16, whichever is less work.
struct Widened {
    Floats x, y;

    friend VINCULUM_ALWAYS_INLINE Widened operator/(Widened a, Widened b) { return {a.x / b.x, a.y / b.y}; }
    friend VINCULUM_ALWAYS_INLINE Widened operator*(Widened a, Widened b) { return {a.x * b.x, a.y * b.y}; }
};

VINCULUM_ALWAYS_INLINE Widened repeated(float value) { return {all(value), all(value)}; }
VINCULUM_ALWAYS_INLINE Widened widen(Words x, Binary16) { return {lower_half(x), upper_half(x)}; }
VINCULUM_ALWAYS_INLINE Widened widen(Words x, BFloat16) { return {(Floats)(x << 16), (Floats)(x & 0xFFFF0000)}; }
// Of values of which none is NaN.
VINCULUM_ALWAYS_INLINE Words narrow_numbers(Widened value, Binary16) { return from_halves(value.x, value.y); }
VINCULUM_ALWAYS_INLINE Words narrow_numbers(Widened value, BFloat16) {
    return upper_halves(rounded(value.x), rounded(value.y));
}
template <class Format>
VINCULUM_ALWAYS_INLINE Words narrow(Widened value, Format format) {
    if (!may_have_nan(value.x, value.y)) return narrow_numbers(value, format);
    return narrow_numbers({with_one_nan(value.x), with_one_nan(value.y)}, format);
}
// The products, or if one is subnormal or NaN, what else is computed.
template <class Format, class Otherwise>
VINCULUM_ALWAYS_INLINE Words narrow_products(Widened products, Format format, Otherwise quotients) {
    if ((irregular(products.x, format) | irregular(products.y, format)) == 0) return narrow_numbers(products, format);
    return narrow(quotients(), format);
}

template <class Format>
struct SixteenBits {
    template <bool OneA, bool OneB>
    static Found divide(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c, std::int64_t n) {
        const Format format;
        const Widened only_a = repeated(Format::widen(*a)), only_b = repeated(Format::widen(*b));
        store_each(c, n, [&](std::int64_t i, auto count) {
            const Widened x = OneA ? only_a : widen(load(a + i, count), format);
            const Widened y = OneB ? only_b : widen(load(b + i, count), format);
            return narrow(x / y, format);
        });
        return NOTHING;
    }

    // Divides by a reciprocal, and where a quotient is subnormal or NaN, by the divisor.
    static void divide_by_reciprocal(const std::uint16_t* a, float divisor, float reciprocal, std::uint16_t* c,
                                     std::int64_t n) {
        const Format format;
        store_each(c, n, [&](std::int64_t i, auto count) {
            const Widened x = widen(load(a + i, count), format);
            return narrow_products(x * repeated(reciprocal), format, [&] { return x / repeated(divisor); });
        });
    }

    // Writes reciprocals as `divide_by_reciprocals` reads them: whole vectors of them in the order of `Widened`, NaN
    // for infinity, so that nothing that is multiplied by it is taken for a quotient. With masks only.
    static void take_reciprocals(const std::uint16_t* b, float* reciprocals, std::int64_t n) {
        for (std::int64_t i = 0; i < n; i += LANES) {
            const Words divisors = i + LANES <= n ? load(b + i, Whole()) : load(b + i, n - i);
            const Widened found = repeated(1.0f) / widen(divisors, Format());
            const Floats x = finite_or_nan(found.x), y = finite_or_nan(found.y);
            std::memcpy(reciprocals + i, &x, sizeof x);
            std::memcpy(reciprocals + i + LANES / 2, &y, sizeof y);
        }
    }

    static void divide_by_reciprocals(const std::uint16_t* a, bool a_repeats, const std::uint16_t* b,
                                      const float* reciprocals, std::uint16_t* c, std::int64_t n) {
        const Format format;
        const Widened only_a = repeated(Format::widen(*a));
        const auto quotient = [&](Widened x, std::int64_t i, auto count) {
            const Widened y = {copied<Floats>(reciprocals + i), copied<Floats>(reciprocals + i + LANES / 2)};
            return narrow_products(x * y, format, [&] { return x / widen(load(b + i, count), format); });
        };
        if (a_repeats) {
            store_each(c, n, [&](std::int64_t i, auto count) { return quotient(only_a, i, count); });
        } else {
            store_each(c, n, [&](std::int64_t i, auto count) {
                return quotient(widen(load(a + i, count), format), i, count);
            });
        }
    }

  private:
    // Stores n quotients, which a function computes by vectors, from where one begins and how many it has. Where there
    // are no masks, those behind whole vectors are computed as the last whole one, first, before others take the place
    // of its operands.
    template <class Quotients>
    static VINCULUM_ALWAYS_INLINE void store_each(std::uint16_t* c, std::int64_t n, Quotients quotients) {
        const bool overlaps = !HAS_MASKS && n > LANES && n % LANES > 0;
        Words last;
        if (overlaps) last = quotients(n - LANES, Whole());
        std::int64_t i = 0;
        for (; i + LANES <= n; i += LANES) store(c + i, quotients(i, Whole()), Whole());
        if (overlaps) store(c + n - LANES, last, Whole());
        else if (i < n) store(c + i, quotients(i, n - i), n - i);
    }
};

} // namespace sixteen_bits
} // namespace
} // namespace vinculum
#endif
