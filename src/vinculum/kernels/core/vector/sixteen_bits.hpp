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

// A vector of encodings, widened: its halves of binary16, its even and odd lanes of bfloat16, whichever is less work.
struct Widened {
    Floats x, y;

    friend VINCULUM_ALWAYS_INLINE Widened operator/(Widened a, Widened b) { return {a.x / b.x, a.y / b.y}; }
    friend VINCULUM_ALWAYS_INLINE Widened operator*(Widened a, Widened b) { return {a.x * b.x, a.y * b.y}; }
};

// What processors do differently. Halves of binary16 are converted where memory is read and written, which takes no
// shuffle of a vector.
#if VINCULUM_SIXTEEN_BITS == 64

VINCULUM_ALWAYS_INLINE Floats widened_half(const std::uint16_t* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p));
}
VINCULUM_ALWAYS_INLINE __m256i narrow(Floats value) { return _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT); }
VINCULUM_ALWAYS_INLINE void store_half(std::uint16_t* p, Floats value) {
    _mm256_storeu_si256((__m256i*)p, narrow(value));
}
// The upper halves of words: of the first at their lower halves' place, of the second where they are.
VINCULUM_ALWAYS_INLINE Words upper_halves(Words even, Words odd) {
    return (Words)_mm512_mask_blend_epi16(0xAAAAAAAA, (__m512i)(even >> 16), (__m512i)odd);
}
VINCULUM_ALWAYS_INLINE bool may_have_nan(Floats x, Floats y) { return _mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q) != 0; }
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

VINCULUM_ALWAYS_INLINE Floats widened_half(const std::uint16_t* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p));
}
VINCULUM_ALWAYS_INLINE void store_half(std::uint16_t* p, Floats value) {
    _mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
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

VINCULUM_ALWAYS_INLINE Floats widened_half(const std::uint16_t* p) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}
VINCULUM_ALWAYS_INLINE void store_half(std::uint16_t* p, Floats value) {
    vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(value)));
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
VINCULUM_ALWAYS_INLINE Floats all(float value) { return value - Floats{}; }
VINCULUM_ALWAYS_INLINE Widened repeated(float value) { return {all(value), all(value)}; }
VINCULUM_ALWAYS_INLINE Words rounded(Floats value) {
    const Words bits = (Words)value;
    return bits + 0x7FFF + (bits >> 16 & 1);
}

// Loads encodings, widened.
VINCULUM_ALWAYS_INLINE Widened widen(Words x) { return {(Floats)(x << 16), (Floats)(x & 0xFFFF0000)}; }
VINCULUM_ALWAYS_INLINE Widened load(const std::uint16_t* p, Whole, Binary16) {
    return {widened_half(p), widened_half(p + LANES / 2)};
}
VINCULUM_ALWAYS_INLINE Widened load(const std::uint16_t* p, Whole, BFloat16) { return widen(copied<Words>(p)); }
// Stores values that are no NaN but the one, rounded.
VINCULUM_ALWAYS_INLINE Words narrow(Widened value) { return upper_halves(rounded(value.x), rounded(value.y)); }
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Widened value, Whole, Binary16) {
    store_half(p, value.x);
    store_half(p + LANES / 2, value.y);
}
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Widened value, Whole, BFloat16) {
    const Words encodings = narrow(value);
    std::memcpy(p, &encodings, sizeof encodings);
}
// The same of fewer.
#if VINCULUM_SIXTEEN_BITS == 64
VINCULUM_ALWAYS_INLINE __mmask32 first(std::int64_t n) { return __mmask32((1u << n) - 1); }
VINCULUM_ALWAYS_INLINE Widened load(const std::uint16_t* p, std::int64_t n, Binary16) {
    return {_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(__mmask16(first(n)), p)),
            _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(__mmask16(first(n) >> 16), p + LANES / 2))};
}
VINCULUM_ALWAYS_INLINE Widened load(const std::uint16_t* p, std::int64_t n, BFloat16) {
    return widen((Words)_mm512_maskz_loadu_epi16(first(n), p));
}
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Widened value, std::int64_t n, Binary16) {
    _mm256_mask_storeu_epi16(p, __mmask16(first(n)), narrow(value.x));
    _mm256_mask_storeu_epi16(p + LANES / 2, __mmask16(first(n) >> 16), narrow(value.y));
}
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Widened value, std::int64_t n, BFloat16) {
    _mm512_mask_storeu_epi16(p, first(n), (__m512i)narrow(value));
}
#else
template <class Format>
VINCULUM_ALWAYS_INLINE Widened load(const std::uint16_t* p, std::int64_t n, Format format) {
    std::uint16_t whole[LANES] = {};
    std::memcpy(whole, p, n * sizeof *p);
    return load(whole, Whole(), format);
}
template <class Format>
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Widened value, std::int64_t n, Format format) {
    std::uint16_t whole[LANES];
    store(whole, value, Whole(), format);
    std::memcpy(p, whole, n * sizeof *p);
}
#endif

VINCULUM_ALWAYS_INLINE Floats with_one_nan(Floats value) { return value == value ? value : all(NOT_A_NUMBER); }
VINCULUM_ALWAYS_INLINE Widened with_one_nan(Widened value) {
    if (!may_have_nan(value.x, value.y)) return value;
    return {with_one_nan(value.x), with_one_nan(value.y)};
}
VINCULUM_ALWAYS_INLINE Floats finite_or_nan(Floats value) { return value - value == 0 ? value : all(NOT_A_NUMBER); }
// The products, or if one is subnormal or NaN, what else is computed.
template <class Format, class Otherwise>
VINCULUM_ALWAYS_INLINE Widened regular(Widened products, Format format, Otherwise quotients) {
    if ((irregular(products.x, format) | irregular(products.y, format)) == 0) return products;
    return with_one_nan(quotients());
}

template <class Format>
struct SixteenBits {
    template <bool OneA, bool OneB>
    static Found divide(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c, std::int64_t n) {
        const Format format;
        const Widened only_a = repeated(Format::widen(*a)), only_b = repeated(Format::widen(*b));
        store_each(c, n, [&](std::int64_t i, auto count) {
            const Widened x = OneA ? only_a : load(a + i, count, format);
            const Widened y = OneB ? only_b : load(b + i, count, format);
            return with_one_nan(x / y);
        });
        return NOTHING;
    }

    // Divides by a reciprocal, and where a quotient is subnormal or NaN, by the divisor.
    static void divide_by_reciprocal(const std::uint16_t* a, float divisor, float reciprocal, std::uint16_t* c,
                                     std::int64_t n) {
        const Format format;
        store_each(c, n, [&](std::int64_t i, auto count) {
            const Widened x = load(a + i, count, format);
            return regular(x * repeated(reciprocal), format, [&] { return x / repeated(divisor); });
        });
    }

    // Writes reciprocals as `divide_by_reciprocals` reads them: whole vectors of them in the order of `Widened`, NaN
    // for infinity, so that nothing that is multiplied by it is taken for a quotient. With masks only.
    static void take_reciprocals(const std::uint16_t* b, float* reciprocals, std::int64_t n) {
        const Format format;
        for (std::int64_t i = 0; i < n; i += LANES) {
            const Widened divisors = i + LANES <= n ? load(b + i, Whole(), format) : load(b + i, n - i, format);
            const Widened found = repeated(1.0f) / divisors;
            const Floats x = finite_or_nan(found.x), y = finite_or_nan(found.y);
            std::memcpy(reciprocals + i, &x, sizeof x);
            std::memcpy(reciprocals + i + LANES / 2, &y, sizeof y);
        }
    }

    static void divide_by_reciprocals(const std::uint16_t* a, bool a_repeats, const std::uint16_t* b,
                                      const float* reciprocals, std::uint16_t* c, std::int64_t n) {
        const Format format;
        const Widened only_a = repeated(Format::widen(*a));
        const auto quotients = [&](Widened x, std::int64_t i, auto count) {
            const Widened y = {copied<Floats>(reciprocals + i), copied<Floats>(reciprocals + i + LANES / 2)};
            return regular(x * y, format, [&] { return x / load(b + i, count, format); });
        };
        if (a_repeats) {
            store_each(c, n, [&](std::int64_t i, auto count) { return quotients(only_a, i, count); });
        } else {
            store_each(c, n,
                       [&](std::int64_t i, auto count) { return quotients(load(a + i, count, format), i, count); });
        }
    }

  private:
    // Stores n quotients, which a function computes by vectors, from where one begins and how many it has. Where there
    // are no masks, those behind whole vectors are computed as the last whole one, first, before others take the place
    // of its operands.
    template <class Quotients>
    static VINCULUM_ALWAYS_INLINE void store_each(std::uint16_t* c, std::int64_t n, Quotients quotients) {
        const Format format;
        const bool overlaps = !HAS_MASKS && n > LANES && n % LANES > 0;
        Widened last;
        if (overlaps) last = quotients(n - LANES, Whole());
        std::int64_t i = 0;
        for (; i + LANES <= n; i += LANES) store(c + i, quotients(i, Whole()), Whole(), format);
        if (overlaps) store(c + n - LANES, last, Whole(), format);
        else if (i < n) store(c + i, quotients(i, n - i), n - i, format);
    }
};

} // namespace sixteen_bits
} // namespace
} // namespace vinculum
#endif
