// Copies between memory of any stride and scratch: pack, unpack, transpose, byte swap. Only the size of elements
// matters.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "compiler.hpp"
#include "task.hpp"

namespace vinculum {
namespace {

#if !defined(__GNUC__)
inline std::uint16_t __builtin_bswap16(std::uint16_t value) { return _byteswap_ushort(value); }
inline std::uint32_t __builtin_bswap32(std::uint32_t value) { return _byteswap_ulong(value); }
inline std::uint64_t __builtin_bswap64(std::uint64_t value) { return _byteswap_uint64(value); }
#endif

template <class T>
VINCULUM_ALWAYS_INLINE T swapped(T value) {
    if constexpr (sizeof(T) == 1) return value;
    else if constexpr (sizeof(T) == 2) return std::bit_cast<T>(__builtin_bswap16(std::bit_cast<std::uint16_t>(value)));
    else if constexpr (sizeof(T) == 4) return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
    else return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
}

// Copies elements that lie a constant number of elements apart; compilers vectorise that by shuffles.
template <class T, int Step>
void copy_every(const char* source, T* target, std::int64_t n) {
    const unaligned<T>* from = (const unaligned<T>*)source;
    for (std::int64_t i = 0; i < n; i++) target[i] = from[i * Step];
}

template <class T>
void pack(const char* source, std::int64_t stride, T* target, std::int64_t n, bool swap) {
    constexpr std::int64_t SIZE = sizeof(T);
    if (stride == SIZE && swap) {
        const unaligned<T>* from = (const unaligned<T>*)source;
        for (std::int64_t i = 0; i < n; i++) target[i] = swapped(T(from[i]));
        return;
    }
    if (stride == SIZE) std::memcpy(target, source, n * SIZE);
    else if (stride == -SIZE) copy_every<T, -1>(source, target, n);
    else if (stride == 2 * SIZE) copy_every<T, 2>(source, target, n);
    else if (stride == 3 * SIZE) copy_every<T, 3>(source, target, n);
    else if (stride == 4 * SIZE) copy_every<T, 4>(source, target, n);
    else
        for (std::int64_t i = 0; i < n; i++) target[i] = *(const unaligned<T>*)(source + i * stride);
    if (swap)
        for (std::int64_t i = 0; i < n; i++) target[i] = swapped(target[i]);
}

#if defined(VINCULUM_X86)
VINCULUM_ALWAYS_INLINE void stream_line(const char* source, char* target) {
#if defined(__AVX512F__)
    _mm512_stream_si512((__m512i*)target, _mm512_loadu_si512(source));
#elif defined(__AVX__)
    for (int i = 0; i < CACHE_LINE; i += 32)
        _mm256_stream_si256((__m256i*)(target + i), _mm256_loadu_si256((const __m256i*)(source + i)));
#else
    for (int i = 0; i < CACHE_LINE; i += 16)
        _mm_stream_si128((__m128i*)(target + i), _mm_loadu_si128((const __m128i*)(source + i)));
#endif
}
VINCULUM_ALWAYS_INLINE void fence() { _mm_sfence(); }
#else
VINCULUM_ALWAYS_INLINE void stream_line(const char* source, char* target) { std::memcpy(target, source, CACHE_LINE); }
VINCULUM_ALWAYS_INLINE void fence() {}
#endif

// Copies scratch to contiguous memory, whole lines of the cache past the caches.
inline void stream(const char* source, char* target, std::int64_t bytes) {
    std::int64_t i = std::int64_t(-(std::uintptr_t)target % CACHE_LINE);
    if (i > bytes) i = bytes;
    std::memcpy(target, source, i);
    for (; i + CACHE_LINE <= bytes; i += CACHE_LINE) stream_line(source + i, target + i);
    std::memcpy(target + i, source + i, bytes - i);
}

template <class T>
void unpack(const T* source, char* target, std::int64_t stride, std::int64_t n) {
    constexpr std::int64_t SIZE = sizeof(T);
    if (stride == SIZE) {
        std::memcpy(target, source, n * SIZE);
    } else if (stride == -SIZE) {
        unaligned<T>* last = (unaligned<T>*)(target - (n - 1) * SIZE);
        for (std::int64_t i = 0; i < n; i++) last[i] = source[n - 1 - i];
    } else {
        for (std::int64_t i = 0; i < n; i++) *(unaligned<T>*)(target + i * stride) = source[i];
    }
}

// GCC from 12 on, and clang.
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define VINCULUM_SHUFFLES
#endif
#endif

#if defined(__AVX512F__)
constexpr int VECTOR_BYTES = 64;
#elif defined(__AVX2__)
constexpr int VECTOR_BYTES = 32;
#else
constexpr int VECTOR_BYTES = 16;
#endif

// How many lines and columns are transposed at once: a vector of them, but no more than there are registers.
template <class T>
constexpr int SQUARE = VECTOR_BYTES / sizeof(T) < 16 ? VECTOR_BYTES / sizeof(T) : 16;

#if defined(VINCULUM_SHUFFLES)
template <class T, int Side>
struct Square {
    typedef T Vector __attribute__((vector_size(Side * sizeof(T))));
    typedef T Unaligned __attribute__((vector_size(Side * sizeof(T)), aligned(1), may_alias));

    template <int Half, int... I>
    static VINCULUM_ALWAYS_INLINE Vector interleaved(Vector x, Vector y, std::integer_sequence<int, I...>) {
        return __builtin_shufflevector(x, y, (Half * Side / 2 + I / 2 + I % 2 * Side)...);
    }

    // Copies a square of elements: columns, a pitch apart, become lines.
    static VINCULUM_ALWAYS_INLINE void transpose(const char* source, std::int64_t pitch, T* target,
                                                 std::int64_t width) {
        constexpr auto LANES = std::make_integer_sequence<int, Side>();
        Vector vectors[Side], next[Side];
        for (int i = 0; i < Side; i++) vectors[i] = *(const Unaligned*)(source + i * pitch);
        // Each round doubles how far neighbours lie apart.
        for (int round = 1; round < Side; round *= 2) {
            for (int i = 0; i < Side / 2; i++) {
                next[2 * i] = interleaved<0>(vectors[i], vectors[i + Side / 2], LANES);
                next[2 * i + 1] = interleaved<1>(vectors[i], vectors[i + Side / 2], LANES);
            }
            for (int i = 0; i < Side; i++) vectors[i] = next[i];
        }
        for (int i = 0; i < Side; i++) *(Unaligned*)(target + i * width) = vectors[i];
    }
};
#endif

// Copies columns to the lines of a tile, as many elements of each as a square has.
template <class T>
void transpose(const char* source, std::int64_t pitch, T* tile, std::int64_t columns) {
    constexpr int SIDE = SQUARE<T>;
    std::int64_t column = 0;
#if defined(VINCULUM_SHUFFLES)
    for (; column + SIDE <= columns; column += SIDE)
        Square<T, SIDE>::transpose(source + column * pitch, pitch, tile + column, TILE_COLUMNS);
#endif
    for (; column < columns; column++)
        for (int line = 0; line < SIDE; line++)
            tile[line * TILE_COLUMNS + column] = *(const unaligned<T>*)(source + column * pitch + line * sizeof(T));
}

} // namespace
} // namespace vinculum
