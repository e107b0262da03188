// IEEE 754's environment around a kernel, whatever other libraries left in the processor.
//
// A library built with -ffast-math, or a call such as PyTorch's set_flush_denormal, switches a thread to flush
// subnormal numbers to zero. Compilers do not know of the switch: kernels are called by pointers between these two, and
// are in files of their own.
#pragma once

#include <cstdint>

#include "compiler.hpp"

namespace vinculum {

#if defined(VINCULUM_X86)

// Every exception masked, rounding to nearest, no flushing of subnormal operands or results.
inline std::uint64_t enter_ieee_754() {
    const std::uint64_t before = _mm_getcsr();
    _mm_setcsr(0x1F80);
    return before;
}

inline void restore(std::uint64_t environment) { _mm_setcsr(unsigned(environment)); }

#elif defined(__aarch64__) && defined(__GNUC__)

// Rounding to nearest, no flushing, no trap, NaNs propagated: all bits of FPCR zero.
inline std::uint64_t enter_ieee_754() {
    std::uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(std::uint64_t(0)) : "memory");
    return before;
}

inline void restore(std::uint64_t environment) { __asm__ volatile("msr fpcr, %0" : : "r"(environment) : "memory"); }

#else

inline std::uint64_t enter_ieee_754() { return 0; }
inline void restore(std::uint64_t) {}

#endif

} // namespace vinculum
