// A library of ONNX Runtime's custom operators: Div, Reciprocal and Mod of ONNX's own domain, which take the place of
// ONNX Runtime's in the sessions that are made of the options that it is registered with.

#include <array>
#include <bit>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "../../kernels/core/environment.hpp"
#include "../../kernels/core/nest.hpp"
#include "api.hpp"
#include "remainders.hpp"

namespace vinculum::onnxruntime {
namespace {

// An element type, by ONNX's number; its kernels of remainders with the divisor's sign, and with the dividend's as in
// C; and the bits of its one, where it is of floating point.
struct Type {
    int number;
    Element element;
    std::int64_t size;
    const char* name;
    vinculum::Kernel remainders[2];
    std::uint64_t one = 0;

    bool is_float() const { return one != 0; }
};

constexpr int TYPES = 12, FLOATS = 4; // the floats come first
constexpr Type ALL_TYPES[TYPES] = {
    {1,
     Element::float32,
     4,
     "float",
     {float_remainders<Whole<float>, true>, float_remainders<Whole<float>, false>},
     0x3F800000},
    {11,
     Element::float64,
     8,
     "double",
     {float_remainders<Whole<double>, true>, float_remainders<Whole<double>, false>},
     0x3FF0000000000000},
    {10, Element::float16, 2, "float16", {float_remainders<Binary16, true>, float_remainders<Binary16, false>}, 0x3C00},
    {16,
     Element::bfloat16,
     2,
     "bfloat16",
     {float_remainders<BFloat16, true>, float_remainders<BFloat16, false>},
     0x3F80},
    {3, Element::int8, 1, "int8", {remainders<std::int8_t>, remainders<std::int8_t>}},
    {2, Element::uint8, 1, "uint8", {remainders<std::uint8_t>, remainders<std::uint8_t>}},
    {5, Element::int16, 2, "int16", {remainders<std::int16_t>, remainders<std::int16_t>}},
    {4, Element::uint16, 2, "uint16", {remainders<std::uint16_t>, remainders<std::uint16_t>}},
    {6, Element::int32, 4, "int32", {remainders<std::int32_t>, remainders<std::int32_t>}},
    {12, Element::uint32, 4, "uint32", {remainders<std::uint32_t>, remainders<std::uint32_t>}},
    {7, Element::int64, 8, "int64", {remainders<std::int64_t>, remainders<std::int64_t>}},
    {13, Element::uint64, 8, "uint64", {remainders<std::uint64_t>, remainders<std::uint64_t>}},
};

enum class Name { Div, Reciprocal, Mod };
constexpr const char* NAMES[] = {"Div", "Reciprocal", "Mod"};
// The versions of which ONNX Runtime knows how to fuse a node with others.
constexpr int FUSED_FROM[] = {7, 6, 10};

enum class Policy { raise, zero, wrap, saturate };

// A division as a callback of the process is asked for it.
struct Operand {
    char* data;
    std::intptr_t rank;
    const std::intptr_t* shape;
};
struct Asked {
    std::int64_t number, type; // the node's attribute, and ONNX's number of the element type
    Operand dividend, divisor, quotient;
};
using Divider = int (*)(const Asked*); // returns whether it failed

// What session options say, as entries of their configuration, before the library is registered with them.
struct Settings {
    Policy zero_divisor, overflow;
    bool fusions;
    Divider divider; // divides what has a number, if there is one
    bool operator==(const Settings&) const = default;
};

struct Set;

struct Operator : CustomOp {
    const Set* set;
    const Type* type;
    Name name;
};

// The operators of one ONNX Runtime in the process, with the same settings. Sessions look at them as long as they live.
struct Set {
    Set(const Api& api, bool has_24, const Settings& settings);

    const Api& api;
    const bool has_24; // the functions of version 24
    const Settings settings;
    CustomOpDomain* domain = nullptr;
    std::array<Operator, TYPES + FLOATS + TYPES> operators;
};

struct Failure {
    Status* status;
};

void check(Status* status) {
    if (status != nullptr) throw Failure{status};
}

[[noreturn]] void fail(const Api& api, int code, const std::string& message) {
    throw Failure{api.call<CreateStatus>(code, message.c_str())};
}

// Calls a function, and returns what goes wrong as a status.
template <class Do>
Status* caught(const Api& api, Do&& action) noexcept {
    try {
        action();
        return nullptr;
    } catch (const Failure& failure) {
        return failure.status;
    } catch (const std::bad_alloc&) {
        return api.call<CreateStatus>(FAIL, "vinculum: out of memory");
    }
}

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

constexpr std::int64_t NO_AXIS = INT64_MIN;

// A node of a graph.
struct Node {
    const Operator& op;
    vinculum::Kernel divide_few, divide_many;
    bool of_c = false;           // whether a remainder is C's
    std::int64_t axis = NO_AXIS; // of versions 1 and 6, where the second operand's dimensions begin
    std::int64_t number = -1;    // for the divider
    std::string title;           // for messages

    Node(const Operator& op, const KernelInfo* info) : op(op), title(NAMES[int(op.name)]) {
        const Api& api = op.set->api;
        std::int64_t fmod = 0;
        if (op.name == Name::Mod) read(info, "fmod", fmod);
        if (op.name == Name::Div) read(info, "axis", axis);
        if (op.set->settings.divider != nullptr) read(info, "vinculum_number", number);
        of_c = fmod != 0;
        std::size_t size = 0;
        check(api.call<KernelInfo_GetNodeName>(info, (char*)nullptr, &size));
        std::string name(size, '\0');
        check(api.call<KernelInfo_GetNodeName>(info, name.data(), &size));
        title += " '" + std::string(name.c_str()) + "' of " + op.type->name;
        const bool floor = op.name == Name::Mod && !of_c;
        const Operation operation = floor ? Operation::floor : Operation::truncating;
        divide_few = target(true).kernel(op.type->element, operation);
        divide_many = target(false).kernel(op.type->element, operation);
    }

  private:
    void read(const KernelInfo* info, const char* attribute, std::int64_t& value) const {
        const Api& api = op.set->api;
        Status* const missing = api.call<KernelInfoGetAttribute_int64>(info, attribute, &value);
        if (missing != nullptr) api.call<ReleaseStatus>(missing);
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

    // Moves the dimensions to where they begin in another tensor, as versions 1 and 6 of Div have it; returns whether
    // they fit there.
    bool move_to(std::int64_t axis, int other_rank) {
        if (axis < 0 || axis > other_rank - rank) return false;
        for (; rank < other_rank - axis; rank++) shape[rank] = 1, strides[rank] = 0;
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

// Divides in IEEE 754's environment, whatever ONNX Runtime's threads were switched to.
void take_part(void* task, std::size_t) {
    const std::uint64_t environment = enter_ieee_754();
    ((Task*)task)->kernel(*(Task*)task);
    restore(environment);
}

// Calls a task's kernel on the session's own threads.
void run(const Api& api, KernelContext* context, Task& task, vinculum::Kernel kernel) {
    task.kernel = kernel;
    task.next_block.store(0, std::memory_order_relaxed);
    if (task.blocks == 1) return take_part(&task, 0);
    check(api.call<KernelContext_ParallelFor>(context, take_part, std::size_t(task.blocks), std::size_t(0),
                                              (void*)&task));
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
    const bool fits = node.axis == NO_AXIS || divisor.move_to(node.axis, dividend.rank);
    if (!fits || !joined.join(dividend.layout(), divisor.layout(), true))
        fail(api, INVALID_ARGUMENT,
             "vinculum: " + node.title + ": the shapes " + text_of(dividend.shape, dividend.rank) + " and " +
                 text_of(divisor.shape, divisor.rank) + " do not fit together");
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
    cut_into_blocks(task, type.size, in_place, !type.is_float());

    if (op.name == Name::Mod && type.is_float()) return run(api, context, task, type.remainders[node.of_c]);
    run(api, context, task, elements > FEW ? node.divide_many : node.divide_few);
    if (settings.zero_divisor == Policy::raise && task.exceptions.zero_divisors > 0)
        raise(node, task, joined, elements, true);
    if (settings.overflow == Policy::raise && task.exceptions.overflows > 0) raise(node, task, joined, elements, false);
    if (op.name == Name::Mod) run(api, context, task, type.remainders[node.of_c]);
}

// The shape of an operand, as far as it is known while a model is loaded.
struct Known {
    TensorTypeAndShapeInfo* info = nullptr;
    std::size_t rank = 0;
    std::int64_t sizes[MOST_DIMENSIONS]; // -1 where it is not known
    const char* names[MOST_DIMENSIONS];

    // Returns whether anything is known. Of a scalar nothing is: that is what an unknown shape looks like.
    bool read(const Set& set, const ShapeInferContext* context, std::size_t input) {
        const Api& api = set.api;
        check(api.call<ShapeInferContext_GetInputTypeShape>(context, input, &info));
        check(api.call<GetDimensionsCount>(info, &rank));
        if (rank == 0 || rank > MOST_DIMENSIONS) return false;
        check(api.call<GetDimensions>(info, sizes, rank));
        check(api.call<GetSymbolicDimensions>(info, names, rank));
        return true;
    }

    // Whether the result of an operation with another operand has this one's shape for certain.
    bool prevails(const Known& other) const {
        for (std::size_t d = 0; d < rank; d++)
            if (sizes[d] < 0 && *names[d] == '\0') return false; // ONNX Runtime would take that for a size
        if (rank < other.rank) return false;
        for (std::size_t d = 1; d <= other.rank; d++) {
            const std::size_t i = rank - d, j = other.rank - d;
            if (other.sizes[j] == 1 || sizes[i] > 1 || (sizes[i] >= 0 && sizes[i] == other.sizes[j])) continue;
            if (sizes[i] >= 0 || other.sizes[j] >= 0 || std::strcmp(names[i], other.names[j]) != 0) return false;
        }
        return true;
    }
};

// Tells the shape of a result where it is an operand's.
void infer(const Operator& op, ShapeInferContext* context) {
    const Set& set = *op.set;
    Known first, second;
    if (!first.read(set, context, 0)) return;
    const bool alone = op.name == Name::Reciprocal;
    if (!alone && !second.read(set, context, 1)) return;
    const Known* result = first.prevails(second) ? &first : !alone && second.prevails(first) ? &second : nullptr;
    if (result != nullptr)
        check(set.api.call<ShapeInferContext_SetOutputTypeShape>(context, std::size_t(0), result->info));
}

const Operator& ours(const CustomOp* op) { return *static_cast<const Operator*>(op); }

Set::Set(const Api& api, bool has_24, const Settings& settings) : api(api), has_24(has_24), settings(settings) {
    std::size_t made = 0;
    for (const Name name : {Name::Div, Name::Reciprocal, Name::Mod}) {
        for (const Type& type : ALL_TYPES) {
            if (name == Name::Reciprocal && !type.is_float()) continue;
            Operator& op = operators[made++];
            op.set = this;
            op.type = &type;
            op.name = name;
            op.GetName = [](const CustomOp* op) { return NAMES[int(ours(op).name)]; };
            op.GetExecutionProviderType = [](const CustomOp*) { return (const char*)nullptr; }; // the CPU's
            op.GetInputTypeCount = [](const CustomOp* op) -> std::size_t {
                return ours(op).name == Name::Reciprocal ? 1 : 2;
            };
            op.GetOutputTypeCount = [](const CustomOp*) -> std::size_t { return 1; };
            op.GetInputType = op.GetOutputType = [](const CustomOp* op, std::size_t) { return ours(op).type->number; };
            op.GetInputCharacteristic = op.GetOutputCharacteristic = op.GetInputMemoryType =
                [](const CustomOp*, std::size_t) { return 0; }; // required, and in the CPU's memory
            op.GetStartVersion = [](const CustomOp* op) {
                return ours(op).set->settings.fusions ? FUSED_FROM[int(ours(op).name)] : 1;
            };
            op.GetEndVersion = [](const CustomOp*) { return INT_MAX; };
            op.InferOutputShapeFn = [](const CustomOp* op, ShapeInferContext* context) {
                return caught(ours(op).set->api, [&] { infer(ours(op), context); });
            };
            op.CreateKernelV2 = [](const CustomOp* op, const Api* api, const KernelInfo* info, void** made) {
                return caught(*api, [&] { *made = new Node(ours(op), info); });
            };
            op.KernelComputeV2 = [](void* node, KernelContext* context) {
                return caught(((Node*)node)->op.set->api, [&] { compute(*(Node*)node, context); });
            };
            op.KernelDestroy = [](void* node) { delete (Node*)node; };
        }
    }
    check(api.call<CreateCustomOpDomain>("", &domain));
    for (const Operator& op : operators) check(api.call<CustomOpDomain_Add>(domain, (const CustomOp*)&op));
}

// Returns an entry of the configuration of session options; nothing, if it is not there.
std::string entry(const Api& api, const SessionOptions* options, const std::string& key) {
    int there;
    check(api.call<HasSessionConfigEntry>(options, key.c_str(), &there));
    if (!there) return "";
    std::size_t size = 0;
    check(api.call<GetSessionConfigEntry>(options, key.c_str(), (char*)nullptr, &size));
    std::string value(size, '\0');
    check(api.call<GetSessionConfigEntry>(options, key.c_str(), value.data(), &size));
    value.resize(size - 1);
    return value;
}

// Returns what session options say of a setting; the first choice, if nothing.
template <class T>
T setting(const Api& api, const SessionOptions* options, const std::string& name,
          const std::vector<std::pair<std::string, T>>& allowed) {
    const std::string key = "custom_op.vinculum." + name, value = entry(api, options, key);
    if (value.empty()) return allowed[0].second;
    std::string choices;
    for (const auto& [choice, meaning] : allowed) {
        if (value == choice) return meaning;
        choices += (choices.empty() ? "'" : ", '") + choice + "'";
    }
    fail(api, INVALID_ARGUMENT, "vinculum: " + key + " is '" + value + "'; allowed: " + choices);
}

void register_with(SessionOptions* options, const Api& api, bool has_24) {
    constexpr const char* REGISTERED = "custom_op.vinculum.registered";
    int registered;
    check(api.call<HasSessionConfigEntry>((const SessionOptions*)options, REGISTERED, &registered));
    if (registered)
        fail(api, FAIL,
             "vinculum: these session options have the library already; register it once, with what it is to do");
    const Settings settings = {
        setting<Policy>(api, options, "zero_divisor",
                        {{"raise", Policy::raise}, {"zero", Policy::zero}, {"saturate", Policy::saturate}}),
        setting<Policy>(api, options, "overflow",
                        {{"wrap", Policy::wrap}, {"raise", Policy::raise}, {"saturate", Policy::saturate}}),
        setting<bool>(api, options, "fusions", {{"0", false}, {"1", true}}),
        // An address, which only this process's own engine writes there.
        (Divider)std::uintptr_t(std::strtoull(entry(api, options, "custom_op.vinculum.divider").c_str(), nullptr, 10)),
    };
    static std::mutex mutex;
    static std::vector<Set*> sets; // never freed
    const std::lock_guard lock(mutex);
    Set* set = nullptr;
    for (Set* const known : sets)
        if (&known->api == &api && known->settings == settings) set = known;
    if (set == nullptr) sets.push_back(set = new Set(api, has_24, settings));
    check(api.call<AddCustomOpDomain>(options, set->domain));
    check(api.call<AddSessionConfigEntry>(options, REGISTERED, "1"));
}

} // namespace
} // namespace vinculum::onnxruntime

#if defined(_WIN32)
#define VINCULUM_EXPORTED extern "C" __declspec(dllexport)
#else
#define VINCULUM_EXPORTED extern "C" __attribute__((visibility("default")))
#endif

// What ONNX Runtime looks for in a library of custom operators.
VINCULUM_EXPORTED vinculum::onnxruntime::Status* RegisterCustomOps(vinculum::onnxruntime::SessionOptions* options,
                                                                   const vinculum::onnxruntime::ApiBase* base) {
    using namespace vinculum::onnxruntime;
    const Api* api = base->GetApi(VERSION);
    if (api == nullptr)
        return base->GetApi(1)->call<CreateStatus>(FAIL,
                                                   "vinculum: this ONNX Runtime is older than 1.17; take a newer one");
    int minor = 0; // the table of a version that is not there cannot be asked for without a message on standard error
    std::sscanf(base->GetVersionString(), "1.%d", &minor);
    return caught(*api, [&] { register_with(options, *api, minor >= VERSION_24); });
}
