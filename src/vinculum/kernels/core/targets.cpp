// Placeholder: which targets there are, and which one this processor gets.
#include "targets.hpp"

#define DECLARED(target) extern "C" int kernels_##target(int);
#ifdef VINCULUM_HAS_baseline
DECLARED(baseline)
#endif
#ifdef VINCULUM_HAS_v2
DECLARED(v2)
#endif
#ifdef VINCULUM_HAS_v3
DECLARED(v3)
#endif
#ifdef VINCULUM_HAS_v4
DECLARED(v4)
#endif
#ifdef VINCULUM_HAS_v4_vbmi
DECLARED(v4_vbmi)
#endif

Target choose() {
#ifdef VINCULUM_HAS_v4_vbmi
    if (__builtin_cpu_supports("avx512vbmi")) return {"x86-64-v4+vbmi", kernels_v4_vbmi};
#endif
#ifdef VINCULUM_HAS_v4
    if (__builtin_cpu_supports("avx512dq")) return {"x86-64-v4", kernels_v4};
#endif
#ifdef VINCULUM_HAS_v3
    if (__builtin_cpu_supports("avx2")) return {"x86-64-v3", kernels_v3};
#endif
#ifdef VINCULUM_HAS_v2
    return {"x86-64-v2", kernels_v2};
#endif
#ifdef VINCULUM_HAS_baseline
    return {"baseline", kernels_baseline};
#endif
}
