// 8 bits by a table of 16-bit reciprocals in registers, on processors with AVX-512 VBMI. Every pair is enumerated.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../compiler.hpp"
#include "../task.hpp"

#if defined(__AVX512VBMI__)

namespace vinculum {
namespace {
namespace avx512_vbmi {

// ceil(2^16 / divisor) of divisors from 2 to 127, its low and its high bytes.
struct Reciprocals {
    alignas(64) std::uint8_t low[128], high[128];
    constexpr Reciprocals() : low(), high() {
        for (unsigned d = 2; d < 128; d++) {
            const unsigned reciprocal = (0x10000u + d - 1) / d;
            low[d] = std::uint8_t(reciprocal & 0xFF), high[d] = std::uint8_t(reciprocal >> 8);
        }
    }
};
inline constexpr Reciprocals RECIPROCALS;

class Divider {
  public:
    // Of magnitudes; a divisor of zero gives the dividend.
    VINCULUM_ALWAYS_INLINE __m512i quotient(__m512i x, __m512i y) const {
        const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi8(1);
        const __m512i low = _mm512_permutex2var_epi8(low_[0], y, low_[1]);
        const __m512i high = _mm512_permutex2var_epi8(high_[0], y, high_[1]);
        const __m512i even = _mm512_mulhi_epu16(_mm512_unpacklo_epi8(x, zero), _mm512_unpacklo_epi8(low, high));
        const __m512i odd = _mm512_mulhi_epu16(_mm512_unpackhi_epi8(x, zero), _mm512_unpackhi_epi8(low, high));
        __m512i q = _mm512_packus_epi16(even, odd);
        // The quotient by 128 and more is 1 or 0.
        q = _mm512_mask_mov_epi8(q, _mm512_movepi8_mask(y), _mm512_maskz_mov_epi8(_mm512_cmpge_epu8_mask(x, y), one));
        return _mm512_mask_mov_epi8(q, _mm512_cmple_epu8_mask(y, one), x);
    }

  private:
    __m512i low_[2] = {_mm512_load_si512(RECIPROCALS.low), _mm512_load_si512(RECIPROCALS.low + 64)};
    __m512i high_[2] = {_mm512_load_si512(RECIPROCALS.high), _mm512_load_si512(RECIPROCALS.high + 64)};
};

// Whole vectors are loaded and stored without masks: with them memory is several times as slow on some processors.
template <class T, bool Floor>
struct EightBits {
    static Found divide(const T* a, bool one_a, const T* b, bool one_b, T* c, std::int64_t n) {
        constexpr std::int64_t LANES = 64;
        const Divider divider;
        const __m512i all_a = _mm512_set1_epi8(char(*a)), all_b = _mm512_set1_epi8(char(*b));
        __mmask64 zero_divisors = 0, overflowing = 0;
        const auto step = [&](__m512i x, __m512i y) {
            zero_divisors |= _mm512_testn_epi8_mask(y, y);
            if constexpr (std::is_signed_v<T>) {
                const __mmask64 dividends_min = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(-128));
                overflowing |= _mm512_mask_cmpeq_epi8_mask(dividends_min, y, _mm512_set1_epi8(-1));
            }
            return quotients(divider, x, y);
        };
        std::int64_t i = 0;
        for (; i + LANES <= n; i += LANES) {
            const __m512i x = one_a ? all_a : _mm512_loadu_si512(a + i);
            const __m512i y = one_b ? all_b : _mm512_loadu_si512(b + i);
            _mm512_storeu_si512(c + i, step(x, y));
        }
        if (i < n) {
            const __mmask64 kept = (__mmask64(1) << (n - i)) - 1;
            const __m512i x = one_a ? all_a : _mm512_maskz_loadu_epi8(kept, a + i);
            const __m512i y = one_b ? all_b : _mm512_mask_loadu_epi8(_mm512_set1_epi8(1), kept, b + i);
            _mm512_mask_storeu_epi8(c + i, kept, step(x, y));
        }
        return Found((zero_divisors ? ZERO_DIVISORS : NOTHING) | (overflowing ? OVERFLOWS : NOTHING));
    }

  private:
    static VINCULUM_ALWAYS_INLINE __m512i quotients(const Divider& divider, __m512i x, __m512i y) {
        if constexpr (std::is_unsigned_v<T>) return divider.quotient(x, y);
        const __mmask64 negative = _mm512_movepi8_mask(_mm512_xor_si512(x, y));
        const __m512i size = _mm512_abs_epi8(x);
        if constexpr (!Floor) {
            const __m512i q = divider.quotient(size, _mm512_abs_epi8(y));
            return _mm512_mask_sub_epi8(q, negative, _mm512_setzero_si512(), q);
        }
        // A negative quotient's floor is -1 - floor((|x| - 1) / |y|).
        const __mmask64 below = negative & _mm512_test_epi8_mask(x, x);
        const __m512i less = _mm512_mask_sub_epi8(size, below, size, _mm512_set1_epi8(1));
        const __m512i q = divider.quotient(less, _mm512_abs_epi8(y));
        return _mm512_mask_sub_epi8(q, below, _mm512_set1_epi8(-1), q);
    }
};

} // namespace avx512_vbmi
} // namespace
} // namespace vinculum
#endif
