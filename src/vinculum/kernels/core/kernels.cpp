// The kernels, compiled once for each target: the loop over the blocks of a task, and over the lines and chunks of a
// block.

#include <limits>

#include "loops.hpp"
#include "strided.hpp"
#include "task.hpp"

namespace vinculum {
namespace {

// Elements of a chunk that nothing is copied of: they and their quotients stay in the first-level cache.
constexpr std::int64_t CHUNK = 4096;
// Bytes of a chunk in scratch: so short that a processor divides one while it already packs the next.
constexpr std::int64_t SCRATCH = 4096;
// Bytes of a chunk for which memory is asked ahead, and how far: no more lines of the cache at once than a processor
// waits for, which else has them come only while it does not divide.
constexpr std::int64_t FETCHED = 1024, AHEAD = 4096;
// Shorter lines are not worth the computation for an invariant divisor, nor fewer lines that for a line of divisors.
constexpr std::int64_t INVARIANT = 64;
constexpr std::int64_t INVARIANT_LINES = 8;

template <class T>
struct Scratch {
    alignas(CACHE_LINE) T dividends[SCRATCH / sizeof(T)], divisors[SCRATCH / sizeof(T)], quotients[SCRATCH / sizeof(T)];
    alignas(CACHE_LINE) T tile_a[SQUARE<T> * TILE_COLUMNS], tile_b[SQUARE<T> * TILE_COLUMNS];
};

std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

void fetch_min(std::atomic<std::int64_t>& least, std::int64_t value) {
    std::int64_t found = least.load(std::memory_order_relaxed);
    while (value < found && !least.compare_exchange_weak(found, value, std::memory_order_relaxed)) {
    }
}

std::int64_t row_major(const Task& task, std::int64_t position) {
    if (task.reordered == 0) return position;
    std::int64_t found = 0;
    for (int d = task.reordered - 1; d >= 0; d--) {
        found += position % task.order_size[d] * task.order_step[d];
        position /= task.order_size[d];
    }
    return found;
}

// A chunk of a line, at a position in the order of the loops.
template <class T>
struct Chunk {
    const T *a, *b;
    bool a_repeats, b_repeats;
    T* c;
    std::int64_t n, position;
};

// Counts the exceptions of a chunk, and gives them the quotients that the policies ask for.
template <class Rule, class T = typename Rule::Element>
VINCULUM_NOINLINE void settle(Task& task, const Chunk<T>& chunk) {
    std::int64_t zero_divisors = 0, overflows = 0;
    for (std::int64_t i = 0; i < chunk.n; i++) {
        const T a = Rule::value(chunk.a[chunk.a_repeats ? 0 : i]), b = Rule::value(chunk.b[chunk.b_repeats ? 0 : i]);
        if (b == 0) {
            if (zero_divisors++ == 0 || task.reordered)
                fetch_min(task.exceptions.first_zero_divisor, row_major(task, chunk.position + i));
            chunk.c[i] = task.saturate_zero_divisors ? Rule::saturated(a) : T(0);
        } else if (task.settled & OVERFLOWS && Rule::overflows(a, b)) {
            if (overflows++ == 0 || task.reordered)
                fetch_min(task.exceptions.first_overflow, row_major(task, chunk.position + i));
            if (task.saturate_overflows) chunk.c[i] = Rule::MAX;
        }
    }
    task.exceptions.zero_divisors.fetch_add(zero_divisors, std::memory_order_relaxed);
    task.exceptions.overflows.fetch_add(overflows, std::memory_order_relaxed);
}

template <class T>
bool is_direct(const char* operand, std::int64_t stride, bool swapped) {
    return (stride == std::int64_t(sizeof(T)) || stride == 0) && (std::uintptr_t)operand % alignof(T) == 0 && !swapped;
}

template <class Rule>
class Block {
    using T = typename Rule::Element;
    static constexpr std::int64_t SIZE = sizeof(T);
    // Whether division takes no longer than memory does.
    static constexpr bool FETCHES = SIZE >= 4;
    // Whether it is so quick that to write past the caches pays: the processor's division of words leaves memory time.
    static constexpr bool STREAMS = !Rule::HAS_EXCEPTIONS || SIZE < 8 || TWO_STEPS;

  public:
    Block(Task& task, Scratch<T>& scratch)
        : task_(task), scratch_(scratch), swap_a_(task.swapped & DIVIDENDS), swap_b_(task.swapped & DIVISORS) {}

    void divide(std::int64_t block) {
        const int inner = task_.depth - 1;
        const Loop& line_loop = task_.nest[inner];
        const std::int64_t across = (line_loop.size + task_.block_columns - 1) / task_.block_columns;
        const std::int64_t column = block % across * task_.block_columns;
        const std::int64_t count = smaller(task_.block_columns, line_loop.size - column);
        const std::int64_t first = block / across * task_.block_lines;
        const std::int64_t end = smaller(first + task_.block_lines, task_.lines);
        go_to(first, column);
        const bool transpose_a = task_.transposed & DIVIDENDS, transpose_b = task_.transposed & DIVISORS;
        std::int64_t tiled = 0; // lines of the tiles that are left
        for (std::int64_t line = first; line < end; line++) {
            const char *a = a_, *b = b_;
            std::int64_t a_stride = line_loop.a, b_stride = line_loop.b;
            if (task_.transposed) {
                if (tiled == 0 && smaller(end - line, task_.nest[inner - 1].size - index_[inner - 1]) >= SQUARE<T>) {
                    if (transpose_a) transpose(a, a_stride, scratch_.tile_a, count);
                    if (transpose_b) transpose(b, b_stride, scratch_.tile_b, count);
                    tiled = SQUARE<T>;
                }
                if (tiled > 0) {
                    const std::int64_t offset = (SQUARE<T> - tiled) * TILE_COLUMNS;
                    if (transpose_a) a = (const char*)(scratch_.tile_a + offset), a_stride = SIZE;
                    if (transpose_b) b = (const char*)(scratch_.tile_b + offset), b_stride = SIZE;
                    tiled--;
                }
            }
            divide_line(a, a_stride, b, b_stride, count, line * line_loop.size + column);
            go_on();
        }
    }

  private:
    void go_to(std::int64_t line, std::int64_t column) {
        const Loop& line_loop = task_.nest[task_.depth - 1];
        a_ = task_.a + column * line_loop.a;
        b_ = task_.b + column * line_loop.b;
        c_ = task_.c + column * line_loop.c;
        for (int d = task_.depth - 2; d >= 0; d--) {
            const Loop& loop = task_.nest[d];
            index_[d] = line % loop.size;
            line /= loop.size;
            a_ += index_[d] * loop.a;
            b_ += index_[d] * loop.b;
            c_ += index_[d] * loop.c;
        }
    }

    // To the next line; behind the last one, back to the first.
    void go_on() {
        for (int d = task_.depth - 2; d >= 0; d--) {
            const Loop& loop = task_.nest[d];
            a_ += loop.a;
            b_ += loop.b;
            c_ += loop.c;
            if (++index_[d] < loop.size) return;
            a_ -= loop.a * loop.size;
            b_ -= loop.b * loop.size;
            c_ -= loop.c * loop.size;
            index_[d] = 0;
        }
    }

    void divide_line(const char* a, std::int64_t a_stride, const char* b, std::int64_t b_stride, std::int64_t count,
                     std::int64_t position) {
        const bool b_repeats = b_stride == 0 && is_direct<T>(b, b_stride, swap_b_);
        if (b_repeats && a_stride != 0 && count >= INVARIANT && Rule::Invariant::applies(*(const T*)b)) {
            const typename Rule::Invariant divisor(*(const T*)b);
            divide_chunks<true>(a, a_stride, b, b_stride, count, position,
                                [&](const Chunk<T>& chunk) { divisor.divide(chunk.a, chunk.c, chunk.n); });
        } else if (Rule::TAKES_RECIPROCALS && is_invariant(b, b_stride, count)) {
            if constexpr (Rule::TAKES_RECIPROCALS) {
                if (reciprocals_of_ != b) Rule::Vectors::take_reciprocals((const T*)b, reciprocals_, count);
                reciprocals_of_ = b;
                divide_chunks<true>(a, a_stride, b, b_stride, count, position, [&](const Chunk<T>& chunk) {
                    const float* reciprocals = reciprocals_ + (chunk.b - (const T*)b);
                    Rule::Vectors::divide_by_reciprocals(chunk.a, chunk.a_repeats, chunk.b, reciprocals, chunk.c,
                                                         chunk.n);
                });
            }
        } else {
            divide_chunks<STREAMS>(a, a_stride, b, b_stride, count, position, [&](const Chunk<T>& chunk) {
                const Found found = Rule::divide(chunk.a, chunk.a_repeats, chunk.b, chunk.b_repeats, chunk.c, chunk.n);
                if constexpr (Rule::HAS_EXCEPTIONS) {
                    if (found & task_.settled) settle<Rule>(task_, chunk);
                }
            });
        }
    }

    // Whether a line of divisors is contiguous, and enough lines of dividends are divided by it.
    bool is_invariant(const char* b, std::int64_t stride, std::int64_t count) const {
        if (task_.depth < 2 || stride != SIZE || count < INVARIANT || count > CHUNK) return false;
        const Loop& lines = task_.nest[task_.depth - 2];
        return lines.b == 0 && lines.size >= INVARIANT_LINES && is_direct<T>(b, stride, swap_b_);
    }

    // Calls a function for each chunk of a line, whose operands are packed before and its quotients put in place after.
    template <bool Streams, class Divide>
    VINCULUM_ALWAYS_INLINE void divide_chunks(const char* a, std::int64_t a_stride, const char* b,
                                              std::int64_t b_stride, std::int64_t count, std::int64_t position,
                                              Divide divide) {
        const bool a_direct = is_direct<T>(a, a_stride, swap_a_), b_direct = is_direct<T>(b, b_stride, swap_b_);
        const std::int64_t c_stride = task_.nest[task_.depth - 1].c;
        const bool streams = Streams && task_.stream, direct = task_.direct || (task_.stream && !Streams);
        const bool fetch_a = FETCHES && streams && a_direct && a_stride != 0;
        const bool fetch_b = FETCHES && streams && b_direct && b_stride != 0;
        const std::int64_t bytes = fetch_a || fetch_b ? FETCHED : SCRATCH;
        const std::int64_t step = direct && a_direct && b_direct ? CHUNK : bytes / SIZE;
        for (std::int64_t start = 0; start < count; start += step) {
            Chunk<T> chunk;
            chunk.n = smaller(step, count - start);
            chunk.position = position + start;
            chunk.a = (const T*)(a + start * a_stride);
            chunk.b = (const T*)(b + start * b_stride);
            chunk.a_repeats = a_direct && a_stride == 0;
            chunk.b_repeats = b_direct && b_stride == 0;
            if (!a_direct) {
                pack((const char*)chunk.a, a_stride, scratch_.dividends, chunk.n, swap_a_);
                chunk.a = scratch_.dividends;
            }
            if (!b_direct) {
                pack((const char*)chunk.b, b_stride, scratch_.divisors, chunk.n, swap_b_);
                chunk.b = scratch_.divisors;
            }
            char* const place = c_ + start * c_stride;
            chunk.c = direct ? (T*)place : scratch_.quotients;
            if (fetch_a) fetch((const char*)chunk.a + AHEAD);
            if (fetch_b) fetch((const char*)chunk.b + AHEAD);
            divide(chunk);
            if (streams) stream((const char*)chunk.c, place, chunk.n * SIZE);
            else if (!direct) unpack(chunk.c, place, c_stride, chunk.n);
        }
    }

    static void fetch(const char* operands) {
        for (std::int64_t byte = 0; byte < FETCHED; byte += CACHE_LINE) prefetch(operands + byte);
    }

    Task& task_;
    Scratch<T>& scratch_;
    const bool swap_a_, swap_b_;
    const char *a_ = nullptr, *b_ = nullptr; // where the line begins
    char* c_ = nullptr;
    std::int64_t index_[MOST_DIMENSIONS];  // of the line, by loop
    const char* reciprocals_of_ = nullptr; // a line of divisors
    alignas(CACHE_LINE) float reciprocals_[Rule::TAKES_RECIPROCALS ? CHUNK : 1];
};

template <class Rule>
void kernel(Task& task) {
    Scratch<typename Rule::Element> scratch;
    Block<Rule> block(task, scratch);
    task.claims.claim([&](std::int64_t claimed) { block.divide(claimed); });
    if (task.stream) fence();
}

// An element's kernels, by operation.
struct Row {
    Kernel kernels[OPERATIONS];
};

template <class T, int Bits = 8 * sizeof(T)>
constexpr Row integers() {
    // Unsigned quotients are never negative: one kernel does for both roundings.
    constexpr bool SIGNED = std::is_signed_v<T>;
    return {{kernel<Integers<T, false, Bits>>, kernel<Integers<T, SIGNED, Bits>>,
             kernel<ExclusiveOr<std::make_unsigned_t<T>>>}};
}

template <class Rule, class Bits>
constexpr Row floats() {
    return {{kernel<Rule>, kernel<Rule>, kernel<ExclusiveOr<Bits>>}};
}

constexpr Row ROWS[ELEMENTS] = {
    integers<std::int8_t>(),
    integers<std::uint8_t>(),
    integers<std::int16_t>(),
    integers<std::uint16_t>(),
    integers<std::int32_t>(),
    integers<std::uint32_t>(),
    integers<std::int64_t>(),
    integers<std::uint64_t>(),
    floats<NarrowFloats<Binary16>, std::uint16_t>(),
    floats<NarrowFloats<BFloat16>, std::uint16_t>(),
    floats<Floats<float>, std::uint32_t>(),
    floats<Floats<double>, std::uint64_t>(),
    integers<std::int8_t, 4>(),
    integers<std::uint8_t, 4>(),
    floats<NarrowFloats<Float8E4M3FN>, std::uint8_t>(),
    floats<NarrowFloats<Float8E5M2>, std::uint8_t>(),
};

} // namespace

// Named after the target, so that no code of one is ever taken for another's.
Kernel VINCULUM_KERNELS(Element element, Operation operation) { return ROWS[int(element)].kernels[int(operation)]; }

} // namespace vinculum
