"""`api.hpp` declares ONNX Runtime's C interface as ONNX Runtime's own header does.

On Debian: apt install libonnxruntime-dev, of a newer suite. CPATH names folders above `onnxruntime/` elsewhere.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.optional import program_or_skip, skip_or_fail
from tests.processes import run

LIBRARY = Path(__file__).parents[3] / "src" / "vinculum" / "onnxruntime" / "library"
HEADER = "onnxruntime/onnxruntime_c_api.h"
COMPARISON = """
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <@HEADER@>
#include "api.hpp"
namespace ours = vinculum::onnxruntime;

// The name of a type, without the namespace and the prefix Ort.
template <class T> constexpr std::string_view name_of() {
    std::string_view name = __PRETTY_FUNCTION__;
    name = name.substr(name.find("T = ") + 4);
    name = name.substr(0, name.find_first_of(";]"));
    if (const auto colons = name.rfind("::"); colons != name.npos) name.remove_prefix(colons + 2);
    if (name.starts_with("Ort")) name.remove_prefix(3);
    return name;
}
template <class A, class B> struct Calls;
template <class A, class B> constexpr bool same() {
    if constexpr (std::is_class_v<A> || std::is_class_v<B>) return name_of<A>() == name_of<B>();
    else if constexpr (std::is_function_v<A> && std::is_function_v<B>) return Calls<A, B>::same;
    else if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
        using To = std::remove_pointer_t<A>;
        using Ours = std::remove_pointer_t<B>;
        if (std::is_const_v<To> != std::is_const_v<Ours>) return false;
        return same<std::remove_const_t<To>, std::remove_const_t<Ours>>();
    } else if constexpr (std::is_enum_v<A>) return std::is_same_v<B, int> && sizeof(A) == sizeof(B);
    else return std::is_same_v<A, B>;
}
template <class R, class... A, class S, class... B> struct Calls<R(A...), S(B...)> {
    static constexpr bool same = [] {
        if constexpr (sizeof...(A) == sizeof...(B)) return ::same<R, S>() && (::same<A, B>() && ...);
        else return false;
    }();
};
template <class R, class... A, class B> struct Calls<R(A...) noexcept, B> : Calls<R(A...), B> {};

#define FUNCTION(name) \\
    static_assert(offsetof(OrtApi, name) == ours::name::PLACE * sizeof(void*), #name); \\
    static_assert(same<decltype(OrtApi::name), ours::name::Pointer>(), #name);
#define FIELD(name) \\
    static_assert(offsetof(OrtCustomOp, name) == offsetof(ours::CustomOp, name), #name); \\
    static_assert(same<decltype(OrtCustomOp::name), decltype(ours::CustomOp::name)>(), #name);
static_assert(same<decltype(OrtApiBase::GetApi), decltype(ours::ApiBase::GetApi)>());
static_assert(offsetof(OrtApiBase, GetVersionString) == offsetof(ours::ApiBase, GetVersionString));
static_assert(sizeof(OrtCustomOp) <= sizeof(ours::CustomOp));
static_assert(ORT_FAIL == ours::FAIL && ORT_INVALID_ARGUMENT == ours::INVALID_ARGUMENT);
static_assert(INPUT_OUTPUT_REQUIRED == 0 && OrtMemTypeDefault == 0);
"""


def comparison() -> str:
    """Return a source that compiles only if both agree."""
    text = (LIBRARY / "api.hpp").read_text("utf-8")
    functions = re.findall(r"^using (\w+) = Function<(\d+),", text, re.MULTILINE)
    fields = re.findall(r"^    \S.*?\(\*(\w+)\)\(.*= nullptr;$", text, re.MULTILINE)
    types = re.findall(r'\{(\d+),\s+Element::\w+,\s+\d,\s+"(\w+)"', (LIBRARY / "operator.hpp").read_text("utf-8"))
    assert (len(functions), len(fields), len(types)) == (23, 25, 12)
    newer = [f"FUNCTION({name})" for name, place in functions if int(place) >= 390]
    lines = [f"FUNCTION({name})" for name, place in functions if int(place) < 390]
    lines += ["#if ORT_API_VERSION >= 24", *newer, "#endif", "FIELD(version)", *(f"FIELD({name})" for name in fields)]
    lines += [f"static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_{name.upper()} == {number});" for number, name in types]
    return "\n".join([COMPARISON.replace("@HEADER@", HEADER), *lines, ""])


@pytest.fixture
def compiler(request: pytest.FixtureRequest) -> list[str]:
    """Return the command that compiles a source; skip without a compiler or the header."""
    found = program_or_skip(request, "g++", "clang++")
    command = [found, "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", f"-I{LIBRARY}", "-x", "c++", "-"]
    if run(command, input=f"#include <{HEADER}>\n").returncode != 0:
        skip_or_fail(request, f"{HEADER}: apt install libonnxruntime-dev, or name its folder in CPATH")
    return command


def test_everything_is_as_the_header_says(compiler: list[str]) -> None:
    told = run(compiler, input=comparison())
    assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Function<91,", "Function<90,"),
        ("Function<65, Status*(const Value*,", "Function<65, Status*(const KernelInfo*,"),
        ("Function<93, void(Status*)", "Function<93, void(const Status*)"),
        ("Status* (*KernelComputeV2)", "void (*KernelComputeV2)"),
        ("    int (*GetStartVersion)(const CustomOp*) = nullptr;\n", ""),
    ],
)
def test_a_mistake_is_found(compiler: list[str], right: str, wrong: str, tmp_path: Path) -> None:
    text = (LIBRARY / "api.hpp").read_text("utf-8")
    assert text.count(right) == 1
    (tmp_path / "api.hpp").write_text(text.replace(right, wrong), "utf-8")
    told = run([f"-I{tmp_path}" if word == f"-I{LIBRARY}" else word for word in compiler], input=comparison())
    assert told.returncode != 0
    assert "error: " in told.stderr
