// Placeholder: compiled once for each target.

extern "C" int VINCULUM_KERNELS(int x) { return x + 1; }
