// The targets that the core was compiled for; the newest that the processor supports divides.

#include "compiler.hpp"
#include "task.hpp"

namespace vinculum {

#if defined(VINCULUM_X86) && defined(__GNUC__)

#define VINCULUM_DECLARE(target) Kernel kernels_##target(Element, Operation);
VINCULUM_DECLARE(v4_vbmi)
VINCULUM_DECLARE(v4)
VINCULUM_DECLARE(v3)
VINCULUM_DECLARE(v2)

static bool has_v2() { return __builtin_cpu_supports("sse4.2"); }
static bool has_v3() { return __builtin_cpu_supports("x86-64-v3"); }
static bool has_v4() { return __builtin_cpu_supports("x86-64-v4"); }
static bool has_v4_vbmi() { return has_v4() && __builtin_cpu_supports("avx512vbmi"); }

const Target* targets(int& count) {
    static const Target all[] = {
        {"x86-64-v4+vbmi", has_v4_vbmi, kernels_v4_vbmi},
        {"x86-64-v4", has_v4, kernels_v4},
        {"x86-64-v3", has_v3, kernels_v3},
        {"x86-64-v2", has_v2, kernels_v2},
    };
    count = 4;
    return all;
}

#else

Kernel kernels_baseline(Element, Operation);

static bool always() { return true; }

const Target* targets(int& count) {
    static const Target all[] = {{"baseline", always, kernels_baseline}};
    count = 1;
    return all;
}

#endif

} // namespace vinculum
