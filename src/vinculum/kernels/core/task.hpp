// A task: what is to be divided, as a nest of loops, cut into blocks which threads claim one after the other.
//
// A line is what the innermost loop walks, a block some columns of some consecutive lines, a chunk as much of a line as
// is divided between two looks at the exceptions.
#pragma once

#include <atomic>
#include <cstdint>

namespace vinculum {

constexpr int MOST_DIMENSIONS = 64; // that NumPy knows

enum class Element : std::uint8_t {
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    uint64, // clang-format off
    float16, bfloat16, float32, float64,
    int4, uint4, float8e4m3fn, float8e5m2, // clang-format on
};
constexpr int ELEMENTS = 16;

// Exclusive or is what division does to memory without division, to compare it with.
enum class Operation : std::uint8_t { truncating, floor, exclusive_or };
constexpr int OPERATIONS = 3;

// The elements that no integer is the quotient of, and where the first is in row-major order.
struct Exceptions {
    std::atomic<std::int64_t> zero_divisors{0}, first_zero_divisor{INT64_MAX};
    std::atomic<std::int64_t> overflows{0}, first_overflow{INT64_MAX};
};

// What the elements of a chunk may be, bit by bit.
using Found = std::uint8_t;
constexpr Found NOTHING = 0, ZERO_DIVISORS = 1, OVERFLOWS = 2;

enum Operands : std::uint8_t { NONE = 0, DIVIDENDS = 1, DIVISORS = 2 };

// One loop of the nest; strides are in bytes.
struct Loop {
    std::int64_t size, a, b, c;
};

struct Task {
    void (*kernel)(Task&); // divides block after block, until all are claimed
    const char *a, *b;     // the first elements
    char* c;

    int depth;
    Loop nest[MOST_DIMENSIONS]; // outermost first
    std::int64_t lines, block_lines, block_columns, blocks;

    std::uint8_t swapped;    // operands in the other byte order
    std::uint8_t transposed; // operands whose elements are neighbours along the last loop but one, not along a line
    bool direct;             // quotients are written where they belong at once; else to scratch first
    bool stream;             // quotients are written past the caches
    Found settled;           // what is counted, and gets the quotients that the policies ask for
    bool saturate_zero_divisors, saturate_overflows;

    // Where loops run in another order than row-major: the dimensions in that order, outermost first, and how far a
    // step along each moves in row-major order.
    int reordered;
    std::int64_t order_size[MOST_DIMENSIONS], order_step[MOST_DIMENSIONS];

    Exceptions exceptions;
    alignas(64) std::atomic<std::int64_t> next_block{0};
};

using Kernel = void (*)(Task&);

// What is compiled for one kind of processor.
struct Target {
    const char* name;
    bool (*is_supported)();
    Kernel (*kernel)(Element, Operation);
};

// Returns the targets that were compiled, the newest processor first, and how many there are.
const Target* targets(int& count);

// The line of a cache, which is also what one non-temporal store writes.
constexpr int CACHE_LINE = 64;
// Columns of a block of which an operand is transposed: the lines of the cache that a tile of it has read are still
// there when the next tile wants the rest of them.
constexpr std::int64_t TILE_COLUMNS = 256;

} // namespace vinculum
