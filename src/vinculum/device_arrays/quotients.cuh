// The quotient of two elements. A GPU's compiler takes this text, and so does any C++17 compiler, with which it is tested.
#if !defined(__CUDACC__)
#define __device__
#endif

namespace vinculum {

// What a policy gives for x/0 or MIN/-1. WRAP is MIN, for MIN/-1; ZERO is for x/0. RAISE tells, and writes anything.
enum Policy { RAISE, WRAP, ZERO, SATURATE };

template <class T, bool Floor, Policy ZeroDivisor, Policy Overflow>
__device__ T integer_quotient(T a, T b, bool& exceptional) {
    constexpr bool SIGNED = T(-1) < T(0);
    constexpr T SMALLEST = SIGNED ? T(1ull << (8 * sizeof(T) - 1)) : T(0);
    constexpr T LARGEST = T(~SMALLEST);
    exceptional = false;
    if (b == 0) {
        exceptional = ZeroDivisor == RAISE;
        if (ZeroDivisor != SATURATE || a == 0) return 0;
        return a > 0 ? LARGEST : SMALLEST;
    }
    if (SIGNED && b == T(-1)) {
        if (a != SMALLEST) return T(-a);
        exceptional = Overflow == RAISE;
        return Overflow == SATURATE ? LARGEST : SMALLEST;
    }
    const T truncated = T(a / b);
    const bool below = Floor && SIGNED && (a < 0) != (b < 0) && T(truncated * b) != a;
    return T(truncated - below);
}

// Rounded to nearest, ties to even, and each NaN is the same one, whatever the compiler's options are. CuPy compiles with
// -ftz=true, by which instructions for binary32 take subnormal numbers for zeros, those of __fdiv_rn too. Assembly stays as
// it is; elsewhere binary32 numbers are only moved, converted, or taken as integers.
#if defined(__CUDACC__)
__device__ inline unsigned encoding_of(float value) { return __float_as_uint(value); }
__device__ inline float encoded(unsigned bits) { return __uint_as_float(bits); }
__device__ inline float divide(float a, float b) {
    float quotient;
    asm("div.rn.f32 %0, %1, %2;" : "=f"(quotient) : "f"(a), "f"(b));
    return quotient;
}
__device__ inline double divide(double a, double b) { return __ddiv_rn(a, b); }
__device__ inline double quiet_nan() { return __longlong_as_double(0x7FF8000000000000ll); }
#else
inline unsigned encoding_of(float value) { return __builtin_bit_cast(unsigned, value); }
inline float encoded(unsigned bits) { return __builtin_bit_cast(float, bits); }
inline float divide(float a, float b) { return a / b; }
inline double divide(double a, double b) { return a / b; }
inline double quiet_nan() { return __builtin_bit_cast(double, 0x7FF8000000000000ll); }
#endif

__device__ inline float float_quotient(float a, float b) {
    const unsigned quotient = encoding_of(divide(a, b));
    return encoded((quotient & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u : quotient);
}

__device__ inline double float_quotient(double a, double b) {
    const double quotient = divide(a, b);
    return quotient != quotient ? quiet_nan() : quotient;
}

// A format narrower than binary32, by the bits of its exponent and of its fraction. One without infinities has a NaN in
// their place, and numbers where others have NaN: OCP's E4M3.
template <int Exponent, int Fraction, bool Infinities>
struct Format {
    static constexpr int BIAS = (1 << (Exponent - 1)) - 1;
    static constexpr int DROPPED = 23 - Fraction;
    static constexpr unsigned SIGN = 1u << (Exponent + Fraction);
    static constexpr unsigned INFINITY_OR_NAN = Infinities ? SIGN - (1u << Fraction) : SIGN - 1;
    static constexpr unsigned NOT_A_NUMBER = Infinities ? INFINITY_OR_NAN | 1u << (Fraction - 1) : INFINITY_OR_NAN;

    static __device__ float widen(unsigned encoding) {
        const unsigned magnitude = encoding & (SIGN - 1);
        const unsigned sign = (encoding & SIGN) << (31 - Exponent - Fraction);
        if (magnitude > INFINITY_OR_NAN || (!Infinities && magnitude == INFINITY_OR_NAN)) return encoded(0x7FC00000u);
        if (magnitude == INFINITY_OR_NAN) return encoded(sign | 0x7F800000u);
        if (BIAS == 127) return encoded(sign | magnitude << DROPPED); // bfloat16, the upper half of binary32
        if (magnitude >> Fraction) return encoded(sign | ((magnitude << DROPPED) + (unsigned(127 - BIAS) << 23)));
        if (magnitude == 0) return encoded(sign);
        const unsigned multiple = encoding_of(float(magnitude)); // of the smallest subnormal number
        return encoded(sign | (multiple - (unsigned(BIAS + Fraction - 1) << 23)));
    }

    static __device__ unsigned narrow(float value) {
        const unsigned magnitude = encoding_of(value) & 0x7FFFFFFFu;
        const unsigned sign = (encoding_of(value) >> (31 - Exponent - Fraction)) & SIGN;
        if (magnitude > 0x7F800000u) return NOT_A_NUMBER;
        const int field = int(magnitude >> 23);
        const int exponent = (field ? field : 1) - 127;
        const unsigned significand = (magnitude & 0x7FFFFFu) | (field ? 0x800000u : 0u);
        // Below the smallest normal number the spacing of the numbers stays the same.
        const int above = exponent - (1 - BIAS);
        const int shift = DROPPED + (above < 0 ? -above : 0);
        if (shift > 24) return sign;
        const unsigned rest = significand & ((1u << shift) - 1), half = 1u << (shift - 1);
        unsigned kept = significand >> shift;
        kept += rest > half || (rest == half && (kept & 1));
        // The leading bit of a normal number adds one to the exponent's field.
        const unsigned rounded = (above > 0 ? unsigned(above) << Fraction : 0u) + kept;
        if (rounded < INFINITY_OR_NAN) return sign | rounded;
        return Infinities ? sign | INFINITY_OR_NAN : NOT_A_NUMBER;
    }
};

using Binary16 = Format<5, 10, true>;
using BFloat16 = Format<8, 7, true>;
using Float8E4M3FN = Format<4, 3, false>;
using Float8E5M2 = Format<5, 2, true>;

// binary32 has so many bits more that a quotient rounded to it, and then once more, is the quotient rounded once.
template <class Narrow>
__device__ unsigned narrow_quotient(unsigned a, unsigned b) {
    return Narrow::narrow(divide(Narrow::widen(a), Narrow::widen(b)));
}

} // namespace vinculum
