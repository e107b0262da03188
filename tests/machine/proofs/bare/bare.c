/* What the program needs of a system that has none: memory, and an end. */
#include <stdlib.h>
#include <string.h>

int raise(int);

static unsigned char memory[1 << 22] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t size) {
  unsigned char *block = memory + used;
  used += (size + 15) / 16 * 16;
  return used > sizeof memory ? NULL : block;
}
void free(void *block) { (void)block; }
int atoi(const char *text) { return *text - '0'; }
int strcmp(const char *a, const char *b) {
  while (*a != 0 && *a == *b) a++, b++;
  return *a - *b;
}
void *memcpy(void *to, const void *from, size_t size) {
  for (size_t i = 0; i < size; i++) ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
  return to;
}
int memcmp(const void *a, const void *b, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (((const unsigned char *)a)[i] != ((const unsigned char *)b)[i]) return 1;
  return 0;
}
int raise(int signal) { exit(signal); }
void *memset(void *to, int byte, size_t size) {
  for (size_t i = 0; i < size; i++) ((unsigned char *)to)[i] = (unsigned char)byte;
  return to;
}

/* Linux's exit, of the processors that are emulated. */
void exit(int code) {
#if defined(__riscv)
  register long a0 __asm__("a0") = code, a7 __asm__("a7") = 93;
  __asm__ volatile("ecall" : : "r"(a0), "r"(a7));
#elif defined(__arm__)
  register long r0 __asm__("r0") = code, r7 __asm__("r7") = 1;
  __asm__ volatile("svc 0" : : "r"(r0), "r"(r7));
#endif
  for (;;) {
  }
}
int main(int count, char **arguments);
void _start(void) { exit(main(0, NULL)); }
