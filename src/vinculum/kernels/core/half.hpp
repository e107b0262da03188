// binary16 by the processor's conversions, which compilers do not vectorise by themselves.
#pragma once

#include <cstdint>

#include "compiler.hpp"
#include "formats.hpp"
#include "task.hpp"

#if defined(__F16C__) && defined(__AVX2__)
#define VINCULUM_HALF

namespace vinculum {
namespace {
namespace half {

#if defined(__AVX512F__)
struct Lanes {
    static constexpr std::int64_t COUNT = 16;
    __m512 values;
    static Lanes load(const std::uint16_t* p) { return {_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p))}; }
    static Lanes all(float value) { return {_mm512_set1_ps(value)}; }
    void store(std::uint16_t* p) const {
        const __m256i rounded = _mm512_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT);
        const __mmask16 is_nan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
        const __m512i wide = _mm512_mask_mov_epi32(_mm512_cvtepu16_epi32(rounded), is_nan, _mm512_set1_epi32(0x7E00));
        _mm256_storeu_si256((__m256i*)p, _mm512_cvtepi32_epi16(wide));
    }
    Lanes operator/(Lanes divisor) const { return {_mm512_div_ps(values, divisor.values)}; }
    Lanes operator*(Lanes factor) const { return {_mm512_mul_ps(values, factor.values)}; }
    bool has_subnormal() const {
        const __m512 size = _mm512_abs_ps(values);
        const __mmask16 small = _mm512_cmp_ps_mask(size, _mm512_set1_ps(Binary16::smallest_normal()), _CMP_LT_OQ);
        return _mm512_mask_cmp_ps_mask(small, size, _mm512_setzero_ps(), _CMP_NEQ_OQ) != 0;
    }
};
#else
struct Lanes {
    static constexpr std::int64_t COUNT = 8;
    __m256 values;
    static Lanes load(const std::uint16_t* p) { return {_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p))}; }
    static Lanes all(float value) { return {_mm256_set1_ps(value)}; }
    void store(std::uint16_t* p) const {
        const __m128i rounded = _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT);
        const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
        const __m128i narrow = _mm_packs_epi32(_mm256_castsi256_si128(is_nan), _mm256_extracti128_si256(is_nan, 1));
        _mm_storeu_si128((__m128i*)p, _mm_blendv_epi8(rounded, _mm_set1_epi16(0x7E00), narrow));
    }
    Lanes operator/(Lanes divisor) const { return {_mm256_div_ps(values, divisor.values)}; }
    Lanes operator*(Lanes factor) const { return {_mm256_mul_ps(values, factor.values)}; }
    bool has_subnormal() const {
        const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), values);
        const __m256 small = _mm256_cmp_ps(size, _mm256_set1_ps(Binary16::smallest_normal()), _CMP_LT_OQ);
        return _mm256_movemask_ps(_mm256_and_ps(small, _mm256_cmp_ps(size, _mm256_setzero_ps(), _CMP_NEQ_OQ))) != 0;
    }
};
#endif

// Calls a step for each vector of a chunk. The last elements are copied to vectors of their own, filled up with ones.
template <class Step>
VINCULUM_ALWAYS_INLINE void each(const std::uint16_t* a, bool one_a, const std::uint16_t* b, bool one_b,
                                 std::uint16_t* c, std::int64_t n, Step step) {
    std::int64_t i = 0;
    for (; i + Lanes::COUNT <= n; i += Lanes::COUNT) step(one_a ? a : a + i, one_b ? b : b + i, c + i);
    if (i == n) return;
    std::uint16_t last_a[Lanes::COUNT], last_b[Lanes::COUNT], last_c[Lanes::COUNT];
    for (std::int64_t j = 0; j < Lanes::COUNT; j++) {
        last_a[j] = one_a ? *a : i + j < n ? a[i + j] : 0x3C00;
        last_b[j] = one_b ? *b : i + j < n ? b[i + j] : 0x3C00;
    }
    step(last_a, last_b, last_c);
    for (std::int64_t j = 0; i + j < n; j++) c[i + j] = last_c[j];
}

template <bool OneA, bool OneB>
Found divide_by(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c, std::int64_t n) {
    const Lanes all_a = Lanes::all(Binary16::widen(*a)), all_b = Lanes::all(Binary16::widen(*b));
    each(a, OneA, b, OneB, c, n, [=](const std::uint16_t* x, const std::uint16_t* y, std::uint16_t* z) {
        ((OneA ? all_a : Lanes::load(x)) / (OneB ? all_b : Lanes::load(y))).store(z);
    });
    return NOTHING;
}

inline Found divide(const std::uint16_t* a, bool one_a, const std::uint16_t* b, bool one_b, std::uint16_t* c,
                    std::int64_t n) {
    if (one_a) return one_b ? divide_by<true, true>(a, b, c, n) : divide_by<true, false>(a, b, c, n);
    return one_b ? divide_by<false, true>(a, b, c, n) : divide_by<false, false>(a, b, c, n);
}

// Multiplies, and returns whether no product is subnormal.
inline bool multiply(const std::uint16_t* a, float factor, std::uint16_t* c, std::int64_t n) {
    const Lanes factors = Lanes::all(factor);
    bool subnormal = false;
    each(a, false, a, true, c, n, [&](const std::uint16_t* x, const std::uint16_t*, std::uint16_t* z) {
        const Lanes products = Lanes::load(x) * factors;
        subnormal |= products.has_subnormal();
        products.store(z);
    });
    return !subnormal;
}

} // namespace half
} // namespace
} // namespace vinculum
#endif
