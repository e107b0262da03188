// binary16 and bfloat16 by vectors of binary32, on processors with AVX2 and F16C, or AVX-512: compilers do not find the
// conversions of binary16 by themselves, and make more of those of bfloat16 than they are.
#pragma once

#include <cstdint>
#include <cstring>

#include "compiler.hpp"
#include "formats.hpp"
#include "task.hpp"

#if defined(__F16C__) && defined(__AVX2__)
#define VINCULUM_SIXTEEN_BITS

namespace vinculum {
namespace {
namespace sixteen_bits {

#if defined(__AVX512BW__) && defined(__AVX512VL__)

using Floats = __m512;
using Encodings = __m256i;
constexpr std::int64_t LANES = 16;

VINCULUM_ALWAYS_INLINE Floats all(float value) { return _mm512_set1_ps(value); }
VINCULUM_ALWAYS_INLINE Encodings load(const std::uint16_t* p) { return _mm256_loadu_si256((const __m256i*)p); }
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Encodings x) { _mm256_storeu_si256((__m256i*)p, x); }
VINCULUM_ALWAYS_INLINE __mmask16 first(std::int64_t n) { return __mmask16((1u << n) - 1); }
VINCULUM_ALWAYS_INLINE Encodings load(const std::uint16_t* p, std::int64_t n) {
    return _mm256_maskz_loadu_epi16(first(n), p);
}
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Encodings x, std::int64_t n) {
    _mm256_mask_storeu_epi16(p, first(n), x);
}

VINCULUM_ALWAYS_INLINE Floats widen(Encodings x, Binary16) { return _mm512_cvtph_ps(x); }
VINCULUM_ALWAYS_INLINE Floats widen(Encodings x, BFloat16) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}
VINCULUM_ALWAYS_INLINE Encodings or_nan(Encodings x, Floats value, short nan) {
    return _mm256_mask_mov_epi16(x, _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q), _mm256_set1_epi16(nan));
}
VINCULUM_ALWAYS_INLINE Encodings narrow(Floats value, Binary16) {
    return or_nan(_mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT), value, 0x7E00);
}
VINCULUM_ALWAYS_INLINE Encodings narrow(Floats value, BFloat16) {
    const __m512i bits = _mm512_castps_si512(value), one = _mm512_set1_epi32(1);
    const __m512i lowest_kept = _mm512_and_si512(_mm512_srli_epi32(bits, 16), one);
    const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), lowest_kept);
    return or_nan(_mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)), value, 0x7FC0);
}
VINCULUM_ALWAYS_INLINE bool has_subnormal(Floats value, float smallest_normal) {
    const __m512 size = _mm512_abs_ps(value);
    const __mmask16 small = _mm512_cmp_ps_mask(size, all(smallest_normal), _CMP_LT_OQ);
    return _mm512_mask_cmp_ps_mask(small, size, _mm512_setzero_ps(), _CMP_NEQ_OQ) != 0;
}

#else

using Floats = __m256;
using Encodings = __m128i;
constexpr std::int64_t LANES = 8;

VINCULUM_ALWAYS_INLINE Floats all(float value) { return _mm256_set1_ps(value); }
VINCULUM_ALWAYS_INLINE Encodings load(const std::uint16_t* p) { return _mm_loadu_si128((const __m128i*)p); }
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Encodings x) { _mm_storeu_si128((__m128i*)p, x); }
VINCULUM_ALWAYS_INLINE Encodings load(const std::uint16_t* p, std::int64_t n) {
    alignas(16) std::uint16_t whole[LANES] = {};
    std::memcpy(whole, p, n * sizeof *p);
    return _mm_load_si128((const __m128i*)whole);
}
VINCULUM_ALWAYS_INLINE void store(std::uint16_t* p, Encodings x, std::int64_t n) {
    alignas(16) std::uint16_t whole[LANES];
    _mm_store_si128((__m128i*)whole, x);
    std::memcpy(p, whole, n * sizeof *p);
}

VINCULUM_ALWAYS_INLINE Floats widen(Encodings x, Binary16) { return _mm256_cvtph_ps(x); }
VINCULUM_ALWAYS_INLINE Floats widen(Encodings x, BFloat16) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
}
VINCULUM_ALWAYS_INLINE Encodings or_nan(Encodings x, Floats value, short nan) {
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    const __m128i lanes = _mm_packs_epi32(_mm256_castsi256_si128(is_nan), _mm256_extracti128_si256(is_nan, 1));
    return _mm_blendv_epi8(x, _mm_set1_epi16(nan), lanes);
}
VINCULUM_ALWAYS_INLINE Encodings narrow(Floats value, Binary16) {
    return or_nan(_mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT), value, 0x7E00);
}
VINCULUM_ALWAYS_INLINE Encodings narrow(Floats value, BFloat16) {
    const __m256i bits = _mm256_castps_si256(value), one = _mm256_set1_epi32(1);
    const __m256i lowest_kept = _mm256_and_si256(_mm256_srli_epi32(bits, 16), one);
    const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), lowest_kept);
    const __m256i rounded = _mm256_srli_epi32(sum, 16);
    return or_nan(_mm_packus_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1)), value,
                  0x7FC0);
}
VINCULUM_ALWAYS_INLINE bool has_subnormal(Floats value, float smallest_normal) {
    const __m256 size = _mm256_andnot_ps(all(-0.0f), value);
    const __m256 small = _mm256_cmp_ps(size, all(smallest_normal), _CMP_LT_OQ);
    return _mm256_movemask_ps(_mm256_and_ps(small, _mm256_cmp_ps(size, _mm256_setzero_ps(), _CMP_NEQ_OQ))) != 0;
}

#endif

template <class Format, bool OneA, bool OneB>
Found divide(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c, std::int64_t n) {
    const Format format;
    const Floats only_a = all(Format::widen(*a)), only_b = all(Format::widen(*b));
    std::int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const Floats x = OneA ? only_a : widen(load(a + i), format), y = OneB ? only_b : widen(load(b + i), format);
        store(c + i, narrow(x / y, format));
    }
    if (i < n) {
        const Floats x = OneA ? only_a : widen(load(a + i, n - i), format);
        const Floats y = OneB ? only_b : widen(load(b + i, n - i), format);
        store(c + i, narrow(x / y, format), n - i);
    }
    return NOTHING;
}

// Divides by a reciprocal, and where a quotient is subnormal, by the divisor.
template <class Format>
void divide_by_reciprocal(const std::uint16_t* a, float divisor, float reciprocal, std::uint16_t* c, std::int64_t n) {
    const auto quotients = [=](Encodings dividends) {
        const Format format;
        const Floats x = widen(dividends, format);
        const Floats products = x * all(reciprocal);
        const bool exact = !has_subnormal(products, Format::smallest_normal());
        return narrow(exact ? products : x / all(divisor), format);
    };
    std::int64_t i = 0;
    for (; i + LANES <= n; i += LANES) store(c + i, quotients(load(a + i)));
    if (i < n) store(c + i, quotients(load(a + i, n - i)), n - i);
}

} // namespace sixteen_bits
} // namespace
} // namespace vinculum
#endif
