/* A divider for `vinculum conform command:./divider`: ONNX Div-14 of float and int32, equal shapes. Little-endian machines. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct operation { char standard[16], name[16]; uint32_t version, rounding, attributes, operands; };
struct tensor { uint32_t type, constant, rank, unused; int64_t dims[]; };
struct answer { uint64_t length; uint32_t status, type, rank, unused; };
enum { QUOTIENT, UNSUPPORTED, REFUSED, FLOAT = 1, INT32 = 6 };

static void say(uint32_t status, const char *why) {
    struct answer head = {16 + strlen(why), status, 0, 0, 0};
    fwrite(&head, sizeof head, 1, stdout);
    fputs(why, stdout);
}

static void divide(const struct operation *q) {
    if (strcmp(q->standard, "onnx") || strcmp(q->name, "Div") || q->version != 14 || q->attributes)
        return say(UNSUPPORTED, "only ONNX Div-14");
    const struct tensor *a = (const struct tensor *)(q + 1);
    if (a->type != FLOAT && a->type != INT32) return say(UNSUPPORTED, "only float and int32");
    uint64_t n = 1;
    for (uint32_t i = 0; i < a->rank; i++) n *= a->dims[i];
    const void *x = a->dims + a->rank;
    const struct tensor *b = (const struct tensor *)((const char *)x + (4 * n + 7) / 8 * 8);
    if (b->type != a->type) return say(REFUSED, "the element types differ");
    if (b->rank != a->rank || memcmp(a->dims, b->dims, 8 * a->rank)) return say(UNSUPPORTED, "only equal shapes");
    const void *y = b->dims + b->rank;
    int32_t *z = malloc(4 * n + 1);
    for (uint64_t i = 0; i < n; i++)
        if (a->type == FLOAT) ((float *)z)[i] = ((const float *)x)[i] / ((const float *)y)[i];
        else z[i] = ((const int32_t *)x)[i] / ((const int32_t *)y)[i]; /* x/0 and MIN/-1 kill an x86 process here */
    struct answer head = {16 + 8 * a->rank + 4 * n, QUOTIENT, a->type, a->rank, 0};
    fwrite(&head, sizeof head, 1, stdout);
    fwrite(a->dims, 8, a->rank, stdout);
    fwrite(z, 4, n, stdout);
    free(z);
}

int main(void) {
    for (uint64_t length; fread(&length, sizeof length, 1, stdin) == 1; fflush(stdout)) {
        struct operation *q = malloc(length);
        if (fread(q, 1, length, stdin) != length) return 1;
        divide(q);
        free(q);
    }
    return 0;
}
