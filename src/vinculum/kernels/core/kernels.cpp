// Placeholder: compiled once for each target.
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)

extern "C" int JOIN(kernels_, VINCULUM_TARGET)(int x) { return x + 1; }
