#pragma once
#include <stddef.h>
void *memcpy(void *, const void *, size_t);
int memcmp(const void *, const void *, size_t);
int strcmp(const char *, const char *);
void *memset(void *, int, size_t);
