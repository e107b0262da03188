// What compilers spell differently.
#pragma once

#include <cstdint>

#if defined(__clang__)
// The result of a loop is its dividend's or its divisor's memory, element by element, or memory of its own.
#define VINCULUM_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define VINCULUM_NOINLINE __attribute__((noinline))
#define VINCULUM_ALWAYS_INLINE inline __attribute__((always_inline))
#elif defined(__GNUC__)
#define VINCULUM_INDEPENDENT _Pragma("GCC ivdep")
#define VINCULUM_NOINLINE __attribute__((noinline))
#define VINCULUM_ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define VINCULUM_INDEPENDENT __pragma(loop(ivdep))
#define VINCULUM_NOINLINE __declspec(noinline)
#define VINCULUM_ALWAYS_INLINE __forceinline
#endif

#if defined(__x86_64__) || defined(_M_X64)
#define VINCULUM_X86 1
#include <immintrin.h>
#endif

namespace vinculum {

// Asks for the line of the cache that an address lies in, which need not be memory of ours.
VINCULUM_ALWAYS_INLINE void prefetch(const char* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#elif defined(VINCULUM_X86)
    _mm_prefetch(address, _MM_HINT_T0);
#else
    (void)address;
#endif
}

// An element that need not be aligned, as NumPy's strides and offsets allow.
#if defined(__GNUC__)
template <class T>
struct Unaligned {
    typedef T type __attribute__((aligned(1), may_alias));
};
template <class T>
using unaligned = typename Unaligned<T>::type;
#else
template <class T>
using unaligned = __unaligned T;
#endif

} // namespace vinculum
