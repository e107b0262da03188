/* Where no instruction but a routine of GCC's divides floats, the macro by which contract.h knows
   -fsingle-precision-constant is 0 anyway, for want of exceptions and other rounding directions: included before it. */

#if defined(__GNUC__) && (defined(__SOFTFP__) || (defined(__riscv) && !defined(__riscv_flen)))
#undef __GCC_IEC_559
#endif

/* An array of no negative length, which nobody defines: what the macro would have told. */
extern char constants_are_not_single_precision[sizeof 1.0 == sizeof(double) ? 1 : -1];
