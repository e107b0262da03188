// A task: what is to be divided, as a nest of loops, cut into blocks which threads claim one after the other.
//
// A line is what the innermost loop walks, a block some columns of some consecutive lines, a chunk as much of a line as
// is divided between two looks at the exceptions.
#pragma once

#include <atomic>
#include <cstdint>

#include "compiler.hpp"

namespace vinculum {

constexpr int MOST_DIMENSIONS = 64; // that NumPy knows
// The line of a cache, which is also what one non-temporal store writes.
constexpr int CACHE_LINE = 64;

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

// The blocks that are not claimed yet, in as many shares as there are threads, each of consecutive blocks. A thread
// claims those of one share first, mostly the same as in an equal task before, whose memory may still be in the cache
// of its processor; then it helps with the others.
class Claims {
  public:
    // Before any thread claims: the blocks from one up to another, for so many threads.
    void offer(std::int64_t first, std::int64_t end, int threads) {
        shares_ = threads < MOST_SHARES ? threads : MOST_SHARES;
        for (int i = 0; i < shares_; i++) {
            share_[i].next.store(first + (end - first) * i / shares_, std::memory_order_relaxed);
            share_[i].end = first + (end - first) * (i + 1) / shares_;
        }
        arrived_.store(0, std::memory_order_relaxed);
    }

    // Calls a function for each block that this thread claims, until none is left.
    template <class Function>
    VINCULUM_ALWAYS_INLINE void claim(Function function) {
        const int own = arrived_.fetch_add(1, std::memory_order_relaxed) % shares_;
        for (int i = 0; i < shares_; i++) {
            Share& share = share_[(own + i) % shares_];
            for (;;) {
                const std::int64_t block = share.next.fetch_add(1, std::memory_order_relaxed);
                if (block >= share.end) break;
                function(block);
            }
        }
    }

  private:
    struct Share {
        alignas(CACHE_LINE) std::atomic<std::int64_t> next;
        std::int64_t end;
    };
    static constexpr int MOST_SHARES = 8; // more threads have some in common
    Share share_[MOST_SHARES];
    int shares_;
    alignas(CACHE_LINE) std::atomic<unsigned> arrived_;
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
    Claims claims;
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

// Columns of a block of which an operand is transposed: the lines of the cache that a tile of it has read are still
// there when the next tile wants the rest of them.
constexpr std::int64_t TILE_COLUMNS = 256;

} // namespace vinculum
