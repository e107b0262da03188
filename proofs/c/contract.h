/* What the proofs assume of the compiler, checked where it compiles: every extracted file includes this first. */

#include <float.h>
#include <stdint.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: the proofs are about IEEE 754 division"
#endif

#if defined(__GCC_IEC_559) && __GCC_IEC_559 == 0
#error "compile without -freciprocal-math, -fno-signed-zeros, -funsafe-math-optimizations: not IEEE 754 division"
#endif

_Static_assert(FLT_EVAL_METHOD == 0, "no excess precision; on x86: -msse2 -mfpmath=sse");
_Static_assert(FLT_RADIX == 2 && FLT_MANT_DIG == 24 && FLT_MIN_EXP == -125 && FLT_MAX_EXP == 128, "float is binary32");
_Static_assert(DBL_MANT_DIG == 53 && DBL_MIN_EXP == -1021 && DBL_MAX_EXP == 1024, "double is binary64");
_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "float and double have no padding");

#include "sonnx_div.h"
