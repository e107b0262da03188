// The targets that the core was compiled for: `meson.build` says by a macro each which these are.

#include "compiler.hpp"
#include "task.hpp"

namespace vinculum {

#define VINCULUM_DECLARE(target) Kernel kernels_##target(Element, Operation);

#ifdef VINCULUM_HAS_baseline
VINCULUM_DECLARE(baseline)
static bool has_baseline() { return true; }
#endif
#ifdef VINCULUM_HAS_v2
VINCULUM_DECLARE(v2)
static bool has_v2() { return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"); }
#endif
#ifdef VINCULUM_HAS_v3
VINCULUM_DECLARE(v3)
static bool has_v3() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
#endif
#ifdef VINCULUM_HAS_v4
VINCULUM_DECLARE(v4)
static bool has_v4() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
}
#endif
#ifdef VINCULUM_HAS_v4_vbmi
VINCULUM_DECLARE(v4_vbmi)
static bool has_v4_vbmi() { return __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi"); }
#endif

static const Target TARGETS[] = {
#ifdef VINCULUM_HAS_v4_vbmi
    {"x86-64-v4+vbmi", has_v4_vbmi, kernels_v4_vbmi},
#endif
#ifdef VINCULUM_HAS_v4
    {"x86-64-v4", has_v4, kernels_v4},
#endif
#ifdef VINCULUM_HAS_v3
    {"x86-64-v3", has_v3, kernels_v3},
#endif
#ifdef VINCULUM_HAS_v2
    {"x86-64-v2", has_v2, kernels_v2},
#endif
#ifdef VINCULUM_HAS_baseline
    {"baseline", has_baseline, kernels_baseline},
#endif
};

const Target* targets(int& count) {
    count = int(sizeof TARGETS / sizeof *TARGETS);
    return TARGETS;
}

} // namespace vinculum
