// What an operator of the library is: its element types, its policies, and its errors.
#pragma once

#include <cstdint>
#include <deque>
#include <new>
#include <string>
#include <string_view>

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

constexpr Type ALL_TYPES[] = {
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
// The versions of which ONNX Runtime knows how to fuse a node with others; the attributes of older ones are gone there.
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
    const Set* set = nullptr;
    Name name = Name::Div;
    const Type* type = nullptr;
};

// The operators of one ONNX Runtime in the process, with the same settings. Sessions look at them as long as they live.
struct Set {
    Set(const Api& api, bool has_24, const Settings& settings);

    const Api& api;
    const bool has_24; // the functions of version 24
    const Settings settings;
    CustomOpDomain* domain = nullptr;
    std::deque<Operator> operators;
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

} // namespace
} // namespace vinculum::onnxruntime
