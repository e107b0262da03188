// From the shapes and strides of three arrays to the nest of loops over them, cut into blocks.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "task.hpp"

namespace vinculum {

// An array as NumPy lays it out; of a broadcast operand, with the strides that it has in the result's shape.
struct Layout {
    char* data;
    int rank;
    const std::intptr_t* shape;
    const std::intptr_t* strides;
};

// The result's shape, and how the operands lie under it.
struct Joined {
    int rank;
    std::intptr_t shape[MOST_DIMENSIONS], a[MOST_DIMENSIONS], b[MOST_DIMENSIONS];

    // Joins shapes, NumPy's way if they may be broadcast; returns whether they fit.
    bool join(const Layout& x, const Layout& y, bool broadcasts) {
        if (!broadcasts && x.rank != y.rank) return false;
        rank = x.rank > y.rank ? x.rank : y.rank;
        for (int d = 0; d < rank; d++) {
            const int i = d - rank + x.rank, j = d - rank + y.rank;
            const std::intptr_t size_x = i >= 0 ? x.shape[i] : 1, size_y = j >= 0 ? y.shape[j] : 1;
            if (size_x != size_y && !(broadcasts && (size_x == 1 || size_y == 1))) return false;
            shape[d] = size_x == 1 ? size_y : size_x;
            a[d] = i >= 0 && size_x == shape[d] ? x.strides[i] : 0;
            b[d] = j >= 0 && size_y == shape[d] ? y.strides[j] : 0;
        }
        return true;
    }

    // Returns how many elements the result has; -1 if memory cannot address them.
    std::int64_t elements(std::int64_t item_size) const {
        std::int64_t elements = 1, addressed = item_size;
        for (int d = 0; d < rank; d++) {
            if (shape[d] > 0 && addressed > INT64_MAX / shape[d]) return -1;
            if (shape[d] > 0) addressed *= shape[d];
            elements *= shape[d];
        }
        return elements;
    }
};

// The dimensions of a result by falling stride; those of size 1, whose strides mean nothing, keep their places.
struct Order {
    int dimensions[MOST_DIMENSIONS];
    bool row_major;

    void by_strides(int rank, const std::intptr_t* shape, const std::intptr_t* strides) {
        int sized[MOST_DIMENSIONS], count = 0;
        for (int d = 0; d < rank; d++) {
            if (shape[d] == 1) continue;
            int place = count++;
            for (; place > 0 && std::abs(strides[sized[place - 1]]) < std::abs(strides[d]); place--)
                sized[place] = sized[place - 1];
            sized[place] = d;
        }
        row_major = true;
        for (int d = 0, next = 0; d < rank; d++) {
            dimensions[d] = shape[d] == 1 ? d : sized[next++];
            row_major &= dimensions[d] == d;
        }
    }

    // Follows the first operand that is repeated along no dimension.
    void by_operands(const Joined& joined) {
        for (const std::intptr_t* strides : {joined.a, joined.b}) {
            bool leads = true;
            for (int d = 0; d < joined.rank; d++) leads &= strides[d] != 0 || joined.shape[d] == 1;
            if (leads) return by_strides(joined.rank, joined.shape, strides);
        }
        row_major = true;
        for (int d = 0; d < joined.rank; d++) dimensions[d] = d;
    }

    // The strides of a new array whose dimensions lie in memory in this order.
    void new_strides(const Joined& joined, std::intptr_t item_size, std::intptr_t* strides) const {
        std::intptr_t step = item_size;
        for (int place = joined.rank - 1; place >= 0; place--) {
            strides[dimensions[place]] = step;
            step *= joined.shape[dimensions[place]];
        }
    }
};

// Where the memory of an array begins and ends.
struct Extent {
    std::uintptr_t first, last;

    Extent(const char* data, int rank, const std::intptr_t* shape, const std::intptr_t* strides, std::int64_t item_size)
        : first(std::uintptr_t(data)), last(first) {
        for (int d = 0; d < rank; d++) {
            const std::intptr_t reach = (shape[d] - 1) * strides[d];
            (reach < 0 ? first : last) += reach;
        }
        last += item_size;
    }
    bool overlaps(const Extent& other) const { return first < other.last && other.first < last; }
    std::int64_t bytes() const { return std::int64_t(last - first); }
};

// Whether each dimension of an array steps over all that the shorter strides reach, so that no two elements have bytes
// in common. Others may be disjoint too, which is not looked into.
inline bool is_nested(int rank, const std::intptr_t* shape, const std::intptr_t* strides, std::int64_t item_size) {
    Order order;
    order.by_strides(rank, shape, strides);
    for (int d = 0; d < rank; d++)
        if (shape[d] == 0) return true;
    std::int64_t reach = item_size;
    for (int place = rank - 1; place >= 0; place--) {
        const int d = order.dimensions[place];
        if (shape[d] == 1) continue;
        if (std::abs(strides[d]) < reach) return false;
        reach += (shape[d] - 1) * std::abs(strides[d]);
    }
    return true;
}

// Bytes of quotients in a block: some microseconds of work, and small enough for a processor's own cache.
constexpr std::int64_t BLOCK = 1 << 15;
// The memory that quotients are written to: just allocated, a caller's, or an operand's.
enum class Memory { fresh, given, operand };

// Quotients that take more bytes than this, with their operands, are written past the caches, if lines are long;
// binary32 and binary64, whose division costs less than memory does, if they are not short. Not to fresh memory: its
// pages are in the caches already, since the system has just cleared them.
constexpr std::int64_t STREAMED_FROM = 3 << 25;
constexpr std::int64_t LONG_LINE = 1 << 15, SHORT_LINE = 1 << 12;

// Writes the nest of a task: loops in the order of the result's memory, those that are stepped through as one made one.
inline void write_nest(Task& task, const Joined& joined, const std::intptr_t* c, const Order& order,
                       std::int64_t item_size) {
    int depth = 0;
    for (int place = 0; place < joined.rank; place++) {
        const int d = order.dimensions[place];
        Loop loop{joined.shape[d], joined.a[d], joined.b[d], c[d]};
        if (loop.size == 1) continue;
        if (depth > 0) {
            const Loop& outer = task.nest[depth - 1];
            if (outer.a == loop.a * loop.size && outer.b == loop.b * loop.size && outer.c == loop.c * loop.size)
                loop.size *= task.nest[--depth].size;
        }
        task.nest[depth++] = loop;
    }
    if (depth == 0) task.nest[depth++] = {1, item_size, item_size, item_size};
    task.depth = depth;

    task.reordered = order.row_major ? 0 : joined.rank;
    if (!order.row_major) {
        std::int64_t steps[MOST_DIMENSIONS], step = 1;
        for (int d = joined.rank - 1; d >= 0; d--) steps[d] = step, step *= joined.shape[d];
        for (int place = 0; place < joined.rank; place++) {
            task.order_size[place] = joined.shape[order.dimensions[place]];
            task.order_step[place] = steps[order.dimensions[place]];
        }
    }
}

// Returns how many elements the operands and the quotients have in memory.
inline std::int64_t elements_of(const Task& task) {
    std::int64_t a = 1, b = 1, c = 1;
    for (int d = 0; d < task.depth; d++) {
        const Loop& loop = task.nest[d];
        if (loop.a != 0) a *= loop.size;
        if (loop.b != 0) b *= loop.size;
        c *= loop.size;
    }
    return a + b + c;
}

// Cuts a task into blocks, and finds out which ways fit its memory.
inline void cut_into_blocks(Task& task, std::int64_t item_size, Memory memory, bool is_integer) {
    const Loop& line = task.nest[task.depth - 1];
    task.lines = 1;
    // Every line of the quotients has to be aligned as the first is: records may lie an odd number of bytes apart.
    bool contiguous = line.c == item_size && std::uintptr_t(task.c) % item_size == 0;
    bool by_columns = false; // whether an array's elements lie closer along another loop than along a line
    for (int d = 0; d < task.depth - 1; d++) {
        const Loop& loop = task.nest[d];
        task.lines *= loop.size;
        contiguous &= loop.c % item_size == 0;
        by_columns |= loop.a != 0 && std::abs(loop.a) < std::abs(line.a);
        by_columns |= loop.b != 0 && std::abs(loop.b) < std::abs(line.b);
        by_columns |= loop.c != 0 && std::abs(loop.c) < std::abs(line.c);
    }
    task.transposed = NONE;
    if (task.depth > 1) {
        const Loop& next = task.nest[task.depth - 2];
        if (next.a == item_size && std::abs(line.a) > item_size && !(task.swapped & DIVIDENDS))
            task.transposed |= DIVIDENDS;
        if (next.b == item_size && std::abs(line.b) > item_size && !(task.swapped & DIVISORS))
            task.transposed |= DIVISORS;
    }
    const std::int64_t elements = BLOCK / item_size;
    const std::int64_t most = by_columns ? TILE_COLUMNS : elements;
    task.block_columns = line.size < most ? line.size : most;
    task.block_lines = elements / task.block_columns > 0 ? elements / task.block_columns : 1;
    const std::int64_t across = (line.size + task.block_columns - 1) / task.block_columns;
    task.blocks = (task.lines + task.block_lines - 1) / task.block_lines * across;
    const bool is_wide_float = !is_integer && item_size >= 4;
    task.stream = contiguous && memory == Memory::given && elements_of(task) * item_size > STREAMED_FROM &&
                  task.block_columns * item_size >= (is_wide_float ? SHORT_LINE : LONG_LINE);
    // Exceptions are settled by the operands, and narrow floats may be divided again: they have to be there still.
    task.direct = contiguous && !task.stream && (memory != Memory::operand || is_wide_float);
}

} // namespace vinculum
