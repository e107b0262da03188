/* Where no instruction but a routine of GCC's divides doubles, the macro by which contract.h knows
   -fsingle-precision-constant is 0 anyway, for want of exceptions and other rounding directions: included before it.
   So it is without floats at all, and with floats of single precision only, as in a Cortex-M4. */

#if defined(__GNUC__)
#if defined(__SOFTFP__) || (defined(__ARM_FP) && !(__ARM_FP & 8)) || \
    (defined(__riscv) && !(defined(__riscv_flen) && __riscv_flen >= 64))
#undef __GCC_IEC_559
#endif
#endif

/* An array of no negative length, which nobody defines: what the macro would have told. */
extern char constants_are_not_single_precision[sizeof 1.0 == sizeof(double) ? 1 : -1];
