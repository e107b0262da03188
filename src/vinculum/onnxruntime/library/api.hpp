// What is used of ONNX Runtime's C interface, whose functions and structures keep their places for ever.
//
// A function is known by its place in the table that ONNX Runtime hands out, a structure by its fields. The names are
// ONNX Runtime's, without their `Ort`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vinculum::onnxruntime {

struct Status;
struct SessionOptions;
struct CustomOpDomain;
struct KernelInfo;
struct KernelContext;
struct ShapeInferContext;
struct TensorTypeAndShapeInfo;
struct Value;
struct CustomOp;

template <int Place, class Signature>
struct Function;
template <int Place, class Result, class... Arguments>
struct Function<Place, Result(Arguments...)> {
    static constexpr int PLACE = Place;
    using Pointer = Result (*)(Arguments...);
};

class Api {
  public:
    // Calls a function of the table, which stands where this object does.
    template <class Function, class... Arguments>
    auto call(Arguments... arguments) const {
        const auto* table = reinterpret_cast<void (*const*)()>(this);
        return reinterpret_cast<typename Function::Pointer>(table[Function::PLACE])(arguments...);
    }
};

struct ApiBase {
    const Api* (*GetApi)(std::uint32_t version); // null if it is older than that
    const char* (*GetVersionString)();
};

// The least version that has everything here but what is of version 24.
constexpr std::uint32_t VERSION = 17;
constexpr int VERSION_24 = 24;

// clang-format off
using CreateStatus = Function<0, Status*(int, const char*)>;
using CreateCustomOpDomain = Function<26, Status*(const char*, CustomOpDomain**)>;
using CustomOpDomain_Add = Function<27, Status*(CustomOpDomain*, const CustomOp*)>;
using AddCustomOpDomain = Function<28, Status*(SessionOptions*, CustomOpDomain*)>;
using GetTensorMutableData = Function<51, Status*(Value*, void**)>;
using GetDimensionsCount = Function<61, Status*(const TensorTypeAndShapeInfo*, std::size_t*)>;
using GetDimensions = Function<62, Status*(const TensorTypeAndShapeInfo*, std::int64_t*, std::size_t)>;
using GetSymbolicDimensions = Function<63, Status*(const TensorTypeAndShapeInfo*, const char**, std::size_t)>;
using GetTensorTypeAndShape = Function<65, Status*(const Value*, TensorTypeAndShapeInfo**)>;
using KernelInfoGetAttribute_int64 = Function<86, Status*(const KernelInfo*, const char*, std::int64_t*)>;
using KernelInfoGetAttribute_string = Function<87, Status*(const KernelInfo*, const char*, char*, std::size_t*)>;
using KernelContext_GetInput = Function<90, Status*(const KernelContext*, std::size_t, const Value**)>;
using KernelContext_GetOutput = Function<91, Status*(KernelContext*, std::size_t, const std::int64_t*, std::size_t, Value**)>;
using ReleaseStatus = Function<93, void(Status*)>;
using ReleaseTensorTypeAndShapeInfo = Function<99, void(TensorTypeAndShapeInfo*)>;
using AddSessionConfigEntry = Function<130, Status*(SessionOptions*, const char*, const char*)>;
using HasSessionConfigEntry = Function<237, Status*(const SessionOptions*, const char*, int*)>;
using GetSessionConfigEntry = Function<238, Status*(const SessionOptions*, const char*, char*, std::size_t*)>;
using KernelInfo_GetNodeName = Function<244, Status*(const KernelInfo*, char*, std::size_t*)>;
using ShapeInferContext_GetInputTypeShape = Function<268, Status*(const ShapeInferContext*, std::size_t, TensorTypeAndShapeInfo**)>;
using ShapeInferContext_SetOutputTypeShape = Function<270, Status*(const ShapeInferContext*, std::size_t, const TensorTypeAndShapeInfo*)>;
using KernelContext_ParallelFor = Function<274, Status*(const KernelContext*, void (*)(void*, std::size_t), std::size_t, std::size_t, void*)>;
// Of version 24.
using GetTensorElementTypeAndShapeDataReference = Function<414, Status*(const Value*, int*, const std::int64_t**, std::size_t*)>;
// clang-format on

// Codes of a status.
constexpr int FAIL = 1, INVALID_ARGUMENT = 2;

// An operator of ours. ONNX Runtime reads fields beyond those of the stated version: all are here, and zero.
struct CustomOp {
    std::uint32_t version = VERSION;
    void* (*CreateKernel)(const CustomOp*, const Api*, const KernelInfo*) = nullptr;
    const char* (*GetName)(const CustomOp*) = nullptr;
    const char* (*GetExecutionProviderType)(const CustomOp*) = nullptr;
    int (*GetInputType)(const CustomOp*, std::size_t) = nullptr;
    std::size_t (*GetInputTypeCount)(const CustomOp*) = nullptr;
    int (*GetOutputType)(const CustomOp*, std::size_t) = nullptr;
    std::size_t (*GetOutputTypeCount)(const CustomOp*) = nullptr;
    void (*KernelCompute)(void*, KernelContext*) = nullptr;
    void (*KernelDestroy)(void*) = nullptr;
    int (*GetInputCharacteristic)(const CustomOp*, std::size_t) = nullptr;
    int (*GetOutputCharacteristic)(const CustomOp*, std::size_t) = nullptr;
    int (*GetInputMemoryType)(const CustomOp*, std::size_t) = nullptr;
    int (*GetVariadicInputMinArity)(const CustomOp*) = nullptr;
    int (*GetVariadicInputHomogeneity)(const CustomOp*) = nullptr;
    int (*GetVariadicOutputMinArity)(const CustomOp*) = nullptr;
    int (*GetVariadicOutputHomogeneity)(const CustomOp*) = nullptr;
    Status* (*CreateKernelV2)(const CustomOp*, const Api*, const KernelInfo*, void**) = nullptr;
    Status* (*KernelComputeV2)(void*, KernelContext*) = nullptr;
    Status* (*InferOutputShapeFn)(const CustomOp*, ShapeInferContext*) = nullptr;
    int (*GetStartVersion)(const CustomOp*) = nullptr;
    int (*GetEndVersion)(const CustomOp*) = nullptr;
    std::size_t (*GetMayInplace)(int**, int**) = nullptr;
    void (*ReleaseMayInplace)(int*, int*) = nullptr;
    std::size_t (*GetAliasMap)(int**, int**) = nullptr;
    void (*ReleaseAliasMap)(int*, int*) = nullptr;
    void* later[16] = {}; // of versions to come
};

} // namespace vinculum::onnxruntime
