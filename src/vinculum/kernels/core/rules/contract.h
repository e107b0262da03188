/* Copied from Vinculum's proofs/c: change it there. */
/* What the proofs assume of the compiler, checked where it compiles, in C11 and in C++: every extracted file includes
   this first. */

#include <float.h>
#include <stdint.h>

/* GCC tells of each of these options by a macro, of -fsingle-precision-constant only by the last one; MSVC of /fp:fast. */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || defined(__RECIPROCAL_MATH__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__NO_SIGNED_ZEROS__) || defined(_M_FP_FAST) ||                               \
    (defined(__GCC_IEC_559) && __GCC_IEC_559 == 0)
#error "compile without -ffast-math and its parts (unsafe, finite, reciprocal, associative, no signed zeros): not IEEE 754"
#endif

/* clang tells of -ffast-math and -ffinite-math-only only: the other parts are switched off from here to the end of the
   file. Neither can be done about -fdenormal-fp-math and -ffp-contract=fast. */
#if defined(__clang__)
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
#pragma float_control(precise, on)
#endif
#pragma clang fp reassociate(off) contract(off)
#endif

/* 16: _Float16 has operations of its own, and float and double have theirs. GCC's dialects say so where a processor has
   both; its -std=c11 says 0. */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
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
