// binary16 and bfloat16 by vectors of binary32, on processors with AVX-512, with AVX2 and F16C, or with NEON: compilers
// do not find the conversions of binary16 by themselves, and make more of those of bfloat16 than they are.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "../compiler.hpp"
#include "../formats.hpp"
#include "../task.hpp"

#if defined(__aarch64__) && defined(__GNUC__)
#include <arm_neon.h>
#define VINCULUM_SIXTEEN_BITS
#elif defined(__F16C__) && defined(__AVX2__)
#define VINCULUM_SIXTEEN_BITS
#endif

#if defined(VINCULUM_SIXTEEN_BITS)

namespace vinculum {
namespace {
namespace sixteen_bits {

// The one NaN that either format is given.
constexpr float NOT_A_NUMBER = std::bit_cast<float>(0x7FC00000u);

#if defined(__AVX512BW__) && defined(__AVX512DQ__)

using Floats = __m512;
using Encodings = __m512i;

VINCULUM_ALWAYS_INLINE Floats all(float value) { return _mm512_set1_ps(value); }
VINCULUM_ALWAYS_INLINE Encodings load(const std::uint16_t* p) { return _mm512_loadu_si512(p); }
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Encodings x) { _mm512_storeu_si512(p, x); }
VINCULUM_ALWAYS_INLINE __mmask32 first(std::int64_t n) { return __mmask32((1u << n) - 1); }
VINCULUM_ALWAYS_INLINE Encodings load(const std::uint16_t* p, std::int64_t n) {
    return _mm512_maskz_loadu_epi16(first(n), p);
}
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Encodings x, std::int64_t n) {
    _mm512_mask_storeu_epi16(p, first(n), x);
}

VINCULUM_ALWAYS_INLINE Floats lower_half(Encodings x) { return _mm512_cvtph_ps(_mm512_castsi512_si256(x)); }
VINCULUM_ALWAYS_INLINE Floats upper_half(Encodings x) { return _mm512_cvtph_ps(_mm512_extracti64x4_epi64(x, 1)); }
VINCULUM_ALWAYS_INLINE Encodings from_halves(Floats lower, Floats upper) {
    const __m256i low = _mm512_cvtps_ph(lower, _MM_FROUND_TO_NEAREST_INT);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), _mm512_cvtps_ph(upper, _MM_FROUND_TO_NEAREST_INT), 1);
}

VINCULUM_ALWAYS_INLINE Floats even_lanes(Encodings x) { return _mm512_castsi512_ps(_mm512_slli_epi32(x, 16)); }
VINCULUM_ALWAYS_INLINE Floats odd_lanes(Encodings x) {
    return _mm512_castsi512_ps(_mm512_and_si512(x, _mm512_set1_epi32(int(0xFFFF0000))));
}
VINCULUM_ALWAYS_INLINE __m512i rounded(Floats value) {
    const __m512i bits = _mm512_castps_si512(value);
    const __m512i lowest_kept = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    return _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), lowest_kept);
}
VINCULUM_ALWAYS_INLINE Encodings from_lanes(Floats even, Floats odd) {
    return _mm512_mask_blend_epi16(0xAAAAAAAA, _mm512_srli_epi32(rounded(even), 16), rounded(odd));
}

VINCULUM_ALWAYS_INLINE bool may_have_nan(Floats, Floats) {
    return true;
} // to replace them takes no longer than to look
VINCULUM_ALWAYS_INLINE Floats with_one_nan(Floats value) {
    return _mm512_mask_mov_ps(value, _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q), all(NOT_A_NUMBER));
}
// Which lanes are subnormal in the format, or NaN.
VINCULUM_ALWAYS_INLINE unsigned irregular(Floats value, Binary16) {
    const __m512 size = _mm512_abs_ps(value);
    const __mmask16 not_normal = _mm512_cmp_ps_mask(size, all(Binary16::smallest_normal()), _CMP_NGE_UQ);
    return _mm512_mask_cmp_ps_mask(not_normal, size, _mm512_setzero_ps(), _CMP_NEQ_UQ);
}
VINCULUM_ALWAYS_INLINE unsigned irregular(Floats value, BFloat16) {
    constexpr int QUIET_NAN = 0x01, SUBNORMAL = 0x20, SIGNALING_NAN = 0x80;
    return _mm512_fpclass_ps_mask(value, QUIET_NAN | SUBNORMAL | SIGNALING_NAN);
}

#elif defined(__AVX2__)

using Floats = __m256;
using Encodings = __m256i;

VINCULUM_ALWAYS_INLINE Floats all(float value) { return _mm256_set1_ps(value); }
VINCULUM_ALWAYS_INLINE Encodings load(const std::uint16_t* p) { return _mm256_loadu_si256((const __m256i*)p); }
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Encodings x) { _mm256_storeu_si256((__m256i*)p, x); }

VINCULUM_ALWAYS_INLINE Floats lower_half(Encodings x) { return _mm256_cvtph_ps(_mm256_castsi256_si128(x)); }
VINCULUM_ALWAYS_INLINE Floats upper_half(Encodings x) { return _mm256_cvtph_ps(_mm256_extracti128_si256(x, 1)); }
VINCULUM_ALWAYS_INLINE Encodings from_halves(Floats lower, Floats upper) {
    const __m128i low = _mm256_cvtps_ph(lower, _MM_FROUND_TO_NEAREST_INT);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), _mm256_cvtps_ph(upper, _MM_FROUND_TO_NEAREST_INT), 1);
}

VINCULUM_ALWAYS_INLINE Floats even_lanes(Encodings x) { return _mm256_castsi256_ps(_mm256_slli_epi32(x, 16)); }
VINCULUM_ALWAYS_INLINE Floats odd_lanes(Encodings x) {
    return _mm256_castsi256_ps(_mm256_and_si256(x, _mm256_set1_epi32(int(0xFFFF0000))));
}
VINCULUM_ALWAYS_INLINE __m256i rounded(Floats value) {
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i lowest_kept = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), lowest_kept);
}
VINCULUM_ALWAYS_INLINE Encodings from_lanes(Floats even, Floats odd) {
    return _mm256_blend_epi16(_mm256_srli_epi32(rounded(even), 16), rounded(odd), 0xAA);
}

VINCULUM_ALWAYS_INLINE bool may_have_nan(Floats x, Floats y) {
    return _mm256_movemask_ps(_mm256_cmp_ps(x, y, _CMP_UNORD_Q)) != 0;
}
VINCULUM_ALWAYS_INLINE Floats with_one_nan(Floats value) {
    return _mm256_blendv_ps(value, all(NOT_A_NUMBER), _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
}
template <class Format>
VINCULUM_ALWAYS_INLINE unsigned irregular(Floats value, Format) {
    const __m256 size = _mm256_andnot_ps(all(-0.0f), value);
    const __m256 not_normal = _mm256_cmp_ps(size, all(Format::smallest_normal()), _CMP_NGE_UQ);
    const __m256 nonzero = _mm256_cmp_ps(size, _mm256_setzero_ps(), _CMP_NEQ_UQ);
    return _mm256_movemask_ps(_mm256_and_ps(not_normal, nonzero));
}

#else

using Floats = float32x4_t;
using Encodings = uint16x8_t;

VINCULUM_ALWAYS_INLINE Floats all(float value) { return vdupq_n_f32(value); }
VINCULUM_ALWAYS_INLINE Encodings load(const std::uint16_t* p) { return vld1q_u16(p); }
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Encodings x) { vst1q_u16(p, x); }

VINCULUM_ALWAYS_INLINE Floats lower_half(Encodings x) { return vcvt_f32_f16(vreinterpret_f16_u16(vget_low_u16(x))); }
VINCULUM_ALWAYS_INLINE Floats upper_half(Encodings x) { return vcvt_f32_f16(vreinterpret_f16_u16(vget_high_u16(x))); }
VINCULUM_ALWAYS_INLINE Encodings from_halves(Floats lower, Floats upper) {
    return vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(lower), upper));
}

VINCULUM_ALWAYS_INLINE Floats even_lanes(Encodings x) {
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_u16(x), 16));
}
VINCULUM_ALWAYS_INLINE Floats odd_lanes(Encodings x) {
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_u16(x), vdupq_n_u32(0xFFFF0000)));
}
VINCULUM_ALWAYS_INLINE uint32x4_t rounded(Floats value) {
    const uint32x4_t bits = vreinterpretq_u32_f32(value);
    const uint32x4_t lowest_kept = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    return vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7FFF)), lowest_kept);
}
VINCULUM_ALWAYS_INLINE Encodings from_lanes(Floats even, Floats odd) {
    return vreinterpretq_u16_u32(vsriq_n_u32(rounded(odd), rounded(even), 16));
}

VINCULUM_ALWAYS_INLINE bool may_have_nan(Floats x, Floats y) {
    return vminvq_u32(vandq_u32(vceqq_f32(x, x), vceqq_f32(y, y))) == 0;
}
VINCULUM_ALWAYS_INLINE Floats with_one_nan(Floats value) {
    return vbslq_f32(vceqq_f32(value, value), value, all(NOT_A_NUMBER));
}
template <class Format>
VINCULUM_ALWAYS_INLINE unsigned irregular(Floats value, Format) {
    const uint32x4_t normal = vcgeq_f32(vabsq_f32(value), all(Format::smallest_normal()));
    return vminvq_u32(vorrq_u32(normal, vceqzq_f32(value))) == 0;
}

#endif

constexpr std::int64_t LANES = sizeof(Encodings) / sizeof(std::uint16_t);

#if defined(__AVX512BW__) && defined(__AVX512DQ__)
constexpr bool HAS_MASKS = true;
#else
constexpr bool HAS_MASKS = false;
VINCULUM_ALWAYS_INLINE Encodings load(const std::uint16_t* p, std::int64_t n) {
    std::uint16_t whole[LANES] = {};
    std::memcpy(whole, p, n * sizeof *p);
    return load(whole);
}
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Encodings x, std::int64_t n) {
    std::uint16_t whole[LANES];
    store(whole, x);
    std::memcpy(p, whole, n * sizeof *p);
}
#endif

// A vector of encodings, widened: its halves of binary16, its even and odd lanes of bfloat16, whichever is less work.
struct Widened {
    Floats x, y;

    friend VINCULUM_ALWAYS_INLINE Widened operator/(Widened a, Widened b) { return {a.x / b.x, a.y / b.y}; }
    friend VINCULUM_ALWAYS_INLINE Widened operator*(Widened a, Widened b) { return {a.x * b.x, a.y * b.y}; }
};

VINCULUM_ALWAYS_INLINE Widened repeated(float value) { return {all(value), all(value)}; }
VINCULUM_ALWAYS_INLINE Widened widen(Encodings x, Binary16) { return {lower_half(x), upper_half(x)}; }
VINCULUM_ALWAYS_INLINE Widened widen(Encodings x, BFloat16) { return {even_lanes(x), odd_lanes(x)}; }
// Of values of which none is NaN.
VINCULUM_ALWAYS_INLINE Encodings narrow_numbers(Widened value, Binary16) { return from_halves(value.x, value.y); }
VINCULUM_ALWAYS_INLINE Encodings narrow_numbers(Widened value, BFloat16) { return from_lanes(value.x, value.y); }
template <class Format>
VINCULUM_ALWAYS_INLINE Encodings narrow(Widened value, Format format) {
    if (!may_have_nan(value.x, value.y)) return narrow_numbers(value, format);
    return narrow_numbers({with_one_nan(value.x), with_one_nan(value.y)}, format);
}

// Whether what is left behind whole vectors is divided as the last whole vector, where there are no masks. Its
// quotients are computed first, before others take the place of its operands.
VINCULUM_ALWAYS_INLINE bool overlaps(std::int64_t n) { return !HAS_MASKS && n > LANES && n % LANES > 0; }

template <class Format>
struct SixteenBits {
    template <bool OneA, bool OneB>
    static Found divide(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c, std::int64_t n) {
        const Format format;
        const Widened only_a = repeated(Format::widen(*a)), only_b = repeated(Format::widen(*b));
        Encodings last;
        if (overlaps(n)) {
            const Widened x = OneA ? only_a : widen(load(a + n - LANES), format);
            const Widened y = OneB ? only_b : widen(load(b + n - LANES), format);
            last = narrow(x / y, format);
        }
        std::int64_t i = 0;
        for (; i + LANES <= n; i += LANES) {
            const Widened x = OneA ? only_a : widen(load(a + i), format),
                          y = OneB ? only_b : widen(load(b + i), format);
            store(c + i, narrow(x / y, format));
        }
        if (overlaps(n)) {
            store(c + n - LANES, last);
        } else if (i < n) {
            const Widened x = OneA ? only_a : widen(load(a + i, n - i), format);
            const Widened y = OneB ? only_b : widen(load(b + i, n - i), format);
            store(c + i, narrow(x / y, format), n - i);
        }
        return NOTHING;
    }

    // Divides by a reciprocal, and where a quotient is subnormal or NaN, by the divisor.
    static void divide_by_reciprocal(const std::uint16_t* a, float divisor, float reciprocal, std::uint16_t* c,
                                     std::int64_t n) {
        const auto quotients = [=](Encodings dividends) {
            const Format format;
            const Widened x = widen(dividends, format), products = x * repeated(reciprocal);
            if ((irregular(products.x, format) | irregular(products.y, format)) == 0)
                return narrow_numbers(products, format);
            return narrow(x / repeated(divisor), format);
        };
        Encodings last;
        if (overlaps(n)) last = quotients(load(a + n - LANES));
        std::int64_t i = 0;
        for (; i + LANES <= n; i += LANES) store(c + i, quotients(load(a + i)));
        if (overlaps(n)) store(c + n - LANES, last);
        else if (i < n) store(c + i, quotients(load(a + i, n - i)), n - i);
    }
};

} // namespace sixteen_bits
} // namespace
} // namespace vinculum
#endif
