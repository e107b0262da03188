// A library of ONNX Runtime's custom operators: Div, Reciprocal and Mod of ONNX's own domain, which take the place of
// ONNX Runtime's in the sessions that are made of the options that it is registered with.

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "node.hpp"

namespace vinculum::onnxruntime {
namespace {

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

// ONNX Runtime allows one schema of a name, which stands for every version from where it begins. Where fusions are not
// allowed, that is a version of which ONNX Runtime fuses nothing; nor does it find a kernel of its own by our schema's
// names of types, with which it would divide constants.
Set::Set(const Api& api, bool has_24, const Settings& settings) : api(api), has_24(has_24), settings(settings) {
    for (const Name name : {Name::Div, Name::Reciprocal, Name::Mod}) {
        for (const Type& type : ALL_TYPES) {
            if (name == Name::Reciprocal && !type.is_float()) continue;
            Operator& op = operators.emplace_back();
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
