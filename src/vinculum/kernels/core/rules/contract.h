/* Copied from Vinculum's proofs/c: change it there. */
/* What the proofs assume of the compiler, checked where it compiles, in C11 and in C++: every extracted file includes
   this first. */

#include <float.h>
#include <stdint.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: the proofs are about IEEE 754 division"
#endif

#if defined(__GCC_IEC_559) && __GCC_IEC_559 == 0
#error "compile without -freciprocal-math, -fno-signed-zeros, -funsafe-math-optimizations: not IEEE 754 division"
#endif

#if FLT_EVAL_METHOD != 0
#error "no excess precision; on x86: -msse2 -mfpmath=sse"
#endif

#if FLT_RADIX != 2 || FLT_MANT_DIG != 24 || FLT_MIN_EXP != -125 || FLT_MAX_EXP != 128
#error "float is not binary32"
#endif

#if DBL_MANT_DIG != 53 || DBL_MIN_EXP != -1021 || DBL_MAX_EXP != 1024
#error "double is not binary64"
#endif

/* An array of no negative length, which nobody defines. */
extern char float_and_double_have_no_padding[sizeof(float) == 4 && sizeof(double) == 8 ? 1 : -1];
