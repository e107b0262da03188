// Remainders: what the kernels' quotients leave of integers, and those of floating-point numbers by C's fmod.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "../../kernels/core/formats.hpp"
#include "../../kernels/core/task.hpp"

namespace vinculum {
namespace {

// Claims the blocks of a task, and calls a function for each part of a line in them. Operands and result are
// contiguous: along a line an operand's elements are neighbours, or one is repeated.
template <class T, class Each>
void for_each_line(Task& task, Each each) {
    const Loop& line_loop = task.nest[task.depth - 1];
    const std::int64_t across = (line_loop.size + task.block_columns - 1) / task.block_columns;
    task.claims.claim([&](std::int64_t block) {
        const std::int64_t column = block % across * task.block_columns, left = line_loop.size - column;
        const std::int64_t n = left < task.block_columns ? left : task.block_columns;
        const std::int64_t first = block / across * task.block_lines;
        for (std::int64_t line = first; line < first + task.block_lines && line < task.lines; line++) {
            const char *a = task.a + column * line_loop.a, *b = task.b + column * line_loop.b;
            char* c = task.c + column * line_loop.c;
            std::int64_t rest = line;
            for (int d = task.depth - 2; d >= 0; d--) {
                const Loop& loop = task.nest[d];
                const std::int64_t index = rest % loop.size;
                rest /= loop.size;
                a += index * loop.a, b += index * loop.b, c += index * loop.c;
            }
            each((const T*)a, line_loop.a != 0, (const T*)b, line_loop.b != 0, (T*)c, n);
        }
    });
}

// Writes remainders where the quotients are; by zero it is 0.
template <class T>
void remainders(Task& task) {
    for_each_line<T>(task, [](const T* a, bool a_steps, const T* b, bool b_steps, T* c, std::int64_t n) {
        using Wide = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>; // which wraps
        const auto loop = [=](auto one_a, auto one_b) {
            for (std::int64_t i = 0; i < n; i++) {
                const T x = a[one_a ? 0 : i], y = b[one_b ? 0 : i];
                c[i] = y == 0 ? T(0) : T(Wide(x) - Wide(c[i]) * Wide(y));
            }
        };
        if (!a_steps) loop(std::true_type(), std::false_type());
        else if (!b_steps) loop(std::false_type(), std::true_type());
        else loop(std::false_type(), std::false_type());
    });
}

// binary32 and binary64.
template <class T>
struct Whole {
    using Element = T;
    static T widen(T value) { return value; }
    static T narrow(T value) { return value; }
};

inline double fmod_of(double a, double b) { return std::fmod(a, b); }

// A quotient that is no integer lies at least 2^-24 away from one. Below 2^27, rounding to 53 bits moves it by 2^-27 at
// most, so that the integer part is right; its product with the divisor has 51 bits, and what is left is a number of
// binary32: nothing is rounded.
inline float fmod_of(float a, float b) {
    const double quotient = double(a) / double(b);
    if (!(std::fabs(quotient) < 0x1p27) || std::isinf(b)) return std::fmod(a, b);
    return std::copysign(float(double(a) - std::trunc(quotient) * double(b)), a);
}

// Of what fmod leaves, the remainder with the divisor's sign, rounded once.
template <class T>
T floored(T remainder, T divisor) {
    if (remainder == 0) return std::copysign(remainder, divisor);
    return (remainder < 0) != (divisor < 0) ? remainder + divisor : remainder;
}

// fmod is exact, of narrower formats by way of binary32, too: the remainder of two of their numbers is one of theirs.
template <class Format, bool Floor>
void float_remainders(Task& task) {
    using T = typename Format::Element;
    for_each_line<T>(task, [](const T* a, bool a_steps, const T* b, bool b_steps, T* c, std::int64_t n) {
        for (std::int64_t i = 0; i < n; i++) {
            const auto y = Format::widen(b[b_steps ? i : 0]);
            const auto left = fmod_of(Format::widen(a[a_steps ? i : 0]), y);
            c[i] = Format::narrow(Floor ? floored(left, y) : left);
        }
    });
}

} // namespace
} // namespace vinculum
