// A node of a graph: its operands as ONNX Runtime hands them over, its quotients, and what is wrong with them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "../../kernels/core/environment.hpp"
#include "../../kernels/core/nest.hpp"
#include "operator.hpp"

namespace vinculum::onnxruntime {
namespace {

// Between instructions of 128 and 256 bits, which ONNX Runtime runs elsewhere in a model, those of 512 bits delay a
// processor by some 150 ns, which so many elements do not make up for.
constexpr std::int64_t FEW = 4096;

// Returns the newest target of this processor; of those without instructions of 512 bits, if so told.
const Target& target(bool narrow) {
    int count;
    const Target* all = targets(count);
    for (; count > 1; all++, count--)
        if (all->is_supported() && !(narrow && std::string_view(all->name).starts_with("x86-64-v4"))) break;
    return *all;
}

constexpr std::int64_t NO_AXIS = -1;

// How the second operand comes to the first one's shape: both ways, as from version 7 on; or, in versions 1 and 6,
// as a run of its dimensions where that is asked for, and else not at all.
enum class Broadcasting { both_ways, run, none };

// A node of a graph.
struct Node {
    const Operator& op;
    vinculum::Kernel divide_few, divide_many;
    bool of_c = false; // whether a remainder is C's
    Broadcasting broadcasting = Broadcasting::both_ways;
    std::int64_t axis = NO_AXIS; // where a run begins
    std::int64_t number = -1;    // for the divider
    std::string title;           // for messages

    Node(const Operator& op, const KernelInfo* info) : op(op), title(NAMES[int(op.name)]) {
        const Api& api = op.set->api;
        std::size_t size = 0;
        check(api.call<KernelInfo_GetNodeName>(info, (char*)nullptr, &size));
        std::string name(size, '\0');
        check(api.call<KernelInfo_GetNodeName>(info, name.data(), &size));
        title += " '" + std::string(name.c_str()) + "' of " + op.type->name;
        if (op.name == Name::Div) read_broadcasting(info);
        std::int64_t fmod = 0;
        if (op.name == Name::Mod) read_choice(info, "fmod", fmod);
        of_c = fmod != 0;
        if (op.set->settings.divider != nullptr) read(info, "vinculum_number", number);
        const bool floor = op.name == Name::Mod && !of_c;
        const Operation operation = floor ? Operation::floor : Operation::truncating;
        divide_few = target(true).kernel(op.type->element, operation);
        divide_many = target(false).kernel(op.type->element, operation);
    }

  private:
    // Our schema stands for every version from the first on, so that whoever has these attributes is of version 1 or 6.
    void read_broadcasting(const KernelInfo* info) {
        std::int64_t broadcast = 0;
        const bool told = read_choice(info, "broadcast", broadcast), placed = read(info, "axis", axis);
        if ((told || placed) && op.set->settings.fusions)
            refuse(std::string(told ? "broadcast" : "axis") + " is an attribute of versions 1 and 6 only");
        if (placed && axis < 0) refuse("axis is " + std::to_string(axis) + "; allowed: 0 and more");
        if (told || placed) broadcasting = broadcast ? Broadcasting::run : Broadcasting::none;
    }

    bool read_choice(const KernelInfo* info, const char* attribute, std::int64_t& value) const {
        const bool told = read(info, attribute, value);
        if (value != 0 && value != 1) refuse(attribute + (" is " + std::to_string(value)) + "; allowed: 0, 1");
        return told;
    }

    // Returns whether the node has an attribute, which must be an integer.
    bool read(const KernelInfo* info, const char* attribute, std::int64_t& value) const {
        const Api& api = op.set->api;
        if (succeeds(api.call<KernelInfoGetAttribute_int64>(info, attribute, &value))) return true;
        std::size_t size = 0;
        if (succeeds(api.call<KernelInfoGetAttribute_string>(info, attribute, (char*)nullptr, &size)))
            refuse(attribute + std::string(" is text; allowed: an integer"));
        return false;
    }

    bool succeeds(Status* status) const {
        if (status != nullptr) op.set->api.call<ReleaseStatus>(status);
        return status == nullptr;
    }

    [[noreturn]] void refuse(const std::string& reason) const {
        fail(op.set->api, INVALID_ARGUMENT, "vinculum: " + title + ": " + reason);
    }
};

struct Tensor {
    int rank = 0;
    std::intptr_t shape[MOST_DIMENSIONS], strides[MOST_DIMENSIONS];
    char* data = nullptr;

    void set_shape(const Set& set, const std::int64_t* dimensions, std::size_t count, std::int64_t item_size) {
        if (count > MOST_DIMENSIONS) fail(set.api, FAIL, "vinculum: a tensor has more than 64 dimensions");
        rank = int(count);
        std::intptr_t step = item_size;
        for (int d = rank - 1; d >= 0; d--) shape[d] = dimensions[d], strides[d] = step, step *= shape[d];
    }

    void read(const Set& set, const Value* value, std::int64_t item_size) {
        const Api& api = set.api;
        std::size_t count;
        if (set.has_24) {
            int type;
            const std::int64_t* dimensions;
            check(api.call<GetTensorElementTypeAndShapeDataReference>(value, &type, &dimensions, &count));
            set_shape(set, dimensions, count, item_size);
        } else {
            TensorTypeAndShapeInfo* info;
            check(api.call<GetTensorTypeAndShape>(value, &info));
            std::int64_t dimensions[MOST_DIMENSIONS];
            Status* status = api.call<GetDimensionsCount>(info, &count);
            if (status == nullptr && count <= MOST_DIMENSIONS)
                status = api.call<GetDimensions>(info, dimensions, count);
            api.call<ReleaseTensorTypeAndShapeInfo>(info);
            check(status);
            set_shape(set, dimensions, count, item_size);
        }
        check(api.call<GetTensorMutableData>(const_cast<Value*>(value), (void**)&data));
    }

    // Lays the dimensions over a run of another tensor's, from an axis on or at the end; a single element over all of
    // them. Returns whether they fit there.
    bool lay_over(const Tensor& other, std::int64_t axis) {
        if (rank > other.rank) return false;
        if (std::all_of(shape, shape + rank, [](std::intptr_t size) { return size == 1; })) {
            rank = 0;
            return true;
        }
        const std::int64_t first = axis == NO_AXIS ? other.rank - rank : axis;
        if (first > other.rank - rank || !std::equal(shape, shape + rank, other.shape + first)) return false;
        for (; rank < other.rank - first; rank++) shape[rank] = 1, strides[rank] = 0;
        return true;
    }

    Layout layout() const { return {data, rank, shape, strides}; }
};

std::string text_of(const std::intptr_t* shape, int rank) {
    std::string text = "[";
    for (int d = 0; d < rank; d++) text += (d > 0 ? ", " : "") + std::to_string(shape[d]);
    return text + "]";
}

template <class T>
std::string number_at(const char* place) {
    T value;
    std::memcpy(&value, place, sizeof value);
    return std::to_string(value);
}

std::string number_at(const Type& type, const char* place) {
    switch (type.element) {
    case Element::int8: return number_at<std::int8_t>(place);
    case Element::uint8: return number_at<std::uint8_t>(place);
    case Element::int16: return number_at<std::int16_t>(place);
    case Element::uint16: return number_at<std::uint16_t>(place);
    case Element::int32: return number_at<std::int32_t>(place);
    case Element::uint32: return number_at<std::uint32_t>(place);
    case Element::int64: return number_at<std::int64_t>(place);
    default: return number_at<std::uint64_t>(place);
    }
}

// Says which elements a policy does not allow.
[[noreturn]] void raise(const Node& node, const Task& task, const Joined& joined, std::int64_t elements,
                        bool zero_divisors) {
    const Exceptions& found = task.exceptions;
    std::int64_t position = zero_divisors ? found.first_zero_divisor : found.first_overflow;
    std::intptr_t index[MOST_DIMENSIONS];
    const char *a = task.a, *b = task.b;
    for (int d = joined.rank - 1; d >= 0; d--) {
        index[d] = position % joined.shape[d];
        position /= joined.shape[d];
        a += index[d] * joined.a[d];
        b += index[d] * joined.b[d];
    }
    const Type& type = *node.op.type;
    const std::int64_t count = zero_divisors ? found.zero_divisors : found.overflows;
    const std::string of = std::to_string(count) + " of " + std::to_string(elements);
    const std::string at = ", the first at index " + text_of(index, joined.rank) + ": " + number_at(type, a) +
                           (node.op.name == Name::Mod ? " mod " : " / ") + number_at(type, b);
    fail(node.op.set->api, FAIL,
         "vinculum: " + node.title + ": " +
             (zero_divisors ? of + " divisors are zero" + at + "; allowed with zero_divisor='zero' or 'saturate'"
                            : of + " quotients are MIN/-1, which the type cannot hold" + at +
                                  "; allowed with overflow='wrap' or 'saturate'"));
}

// ONNX Runtime's pool, which ThreadSanitizer does not watch, hands a task over and back: what was written is seen
// there.
#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_release(void*);
extern "C" void __tsan_acquire(void*);
void hand_over(void* task) { __tsan_release(task); }
void take_over(void* task) { __tsan_acquire(task); }
#else
void hand_over(void*) {}
void take_over(void*) {}
#endif

// Divides in IEEE 754's environment, whatever ONNX Runtime's threads were switched to.
void take_part(void* task, std::size_t) {
    take_over(task);
    const std::uint64_t environment = enter_ieee_754();
    ((Task*)task)->kernel(*(Task*)task);
    restore(environment);
    hand_over(task);
}

// Calls a task's kernel on the session's own threads.
void run(const Api& api, KernelContext* context, Task& task, vinculum::Kernel kernel) {
    task.kernel = kernel;
    task.claims.offer(0, task.blocks, 1); // in the order in which the threads come
    if (task.blocks == 1) return take_part(&task, 0);
    hand_over(&task);
    Status* const status =
        api.call<KernelContext_ParallelFor>(context, take_part, std::size_t(task.blocks), std::size_t(0), (void*)&task);
    take_over(&task);
    check(status);
}

void compute(const Node& node, KernelContext* context) {
    const Operator& op = node.op;
    const Set& set = *op.set;
    const Api& api = set.api;
    const Type& type = *op.type;
    Tensor dividend, divisor;
    const int operands = op.name == Name::Reciprocal ? 1 : 2;
    for (int i = 0; i < operands; i++) {
        const Value* value;
        check(api.call<KernelContext_GetInput>(context, std::size_t(i), &value));
        (i == operands - 1 ? divisor : dividend).read(set, value, type.size);
    }
    if (op.name == Name::Reciprocal)
        dividend.data = (char*)&type.one + (std::endian::native == std::endian::big ? 8 - type.size : 0);
    Joined joined;
    const int divisor_rank = divisor.rank;
    const bool fits = node.broadcasting != Broadcasting::run || divisor.lay_over(dividend, node.axis);
    if (!fits || !joined.join(dividend.layout(), divisor.layout(), node.broadcasting != Broadcasting::none))
        fail(api, INVALID_ARGUMENT,
             "vinculum: " + node.title + ": the shapes " + text_of(dividend.shape, dividend.rank) + " and " +
                 text_of(divisor.shape, divisor.rank) + " do not fit together" +
                 (node.broadcasting == Broadcasting::none ? " without broadcast=1" : ""));
    const std::int64_t elements = joined.elements(type.size);
    if (elements < 0) fail(api, FAIL, "vinculum: " + node.title + ": the result has more elements than memory has");
    std::int64_t shape[MOST_DIMENSIONS];
    std::intptr_t strides[MOST_DIMENSIONS], step = type.size;
    Order order;
    order.row_major = true;
    for (int d = joined.rank - 1; d >= 0; d--) {
        shape[d] = joined.shape[d], strides[d] = step, step *= joined.shape[d];
        order.dimensions[d] = d;
    }
    Value* result;
    check(api.call<KernelContext_GetOutput>(context, std::size_t(0), (const std::int64_t*)shape,
                                            std::size_t(joined.rank), &result));
    Task task;
    task.a = dividend.data;
    task.b = divisor.data;
    check(api.call<GetTensorMutableData>(result, (void**)&task.c));
    if (node.number >= 0) {
        const Asked asked = {node.number,
                             type.number,
                             {dividend.data, dividend.rank, dividend.shape},
                             {divisor.data, divisor_rank, divisor.shape},
                             {task.c, joined.rank, joined.shape}};
        if (set.settings.divider(&asked) != 0) fail(api, FAIL, "vinculum: " + node.title + ": the divider failed");
        return;
    }
    if (elements == 0) return;

    const Settings& settings = set.settings;
    task.swapped = NONE;
    task.settled =
        settings.overflow == Policy::wrap || op.name == Name::Mod ? ZERO_DIVISORS : ZERO_DIVISORS | OVERFLOWS;
    task.saturate_zero_divisors = settings.zero_divisor == Policy::saturate;
    task.saturate_overflows = settings.overflow == Policy::saturate;
    write_nest(task, joined, strides, order, type.size);
    const bool in_place = task.c == task.a || task.c == task.b;
    cut_into_blocks(task, type.size, in_place ? Memory::operand : Memory::given, !type.is_float());

    if (op.name == Name::Mod && type.is_float()) return run(api, context, task, type.remainders[node.of_c]);
    run(api, context, task, elements > FEW ? node.divide_many : node.divide_few);
    if (settings.zero_divisor == Policy::raise && task.exceptions.zero_divisors > 0)
        raise(node, task, joined, elements, true);
    if (settings.overflow == Policy::raise && task.exceptions.overflows > 0) raise(node, task, joined, elements, false);
    if (op.name == Name::Mod) run(api, context, task, type.remainders[node.of_c]);
}

} // namespace
} // namespace vinculum::onnxruntime
