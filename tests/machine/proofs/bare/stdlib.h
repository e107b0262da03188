#pragma once
#include <stddef.h>
void *malloc(size_t);
void free(void *);
void exit(int) __attribute__((noreturn));
int atoi(const char *);
