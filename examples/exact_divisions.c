/* Runs a model of one Div in ONNX Runtime's C interface, with Vinculum's library: ./exact_divisions LIBRARY MODEL */
#include <onnxruntime/onnxruntime_c_api.h>
#include <stdio.h>
#include <stdlib.h>

static const OrtApi *api;

static void check(OrtStatus *status) {
    if (status == NULL) return;
    fprintf(stderr, "%s\n", api->GetErrorMessage(status));
    exit(1);
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: %s LIBRARY MODEL\n", argv[0]), 2;
    api = OrtGetApiBase()->GetApi(17);
    OrtEnv *environment;
    OrtSessionOptions *options;
    OrtSession *session;
    OrtMemoryInfo *memory;
    check(api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "exact divisions", &environment));
    check(api->CreateSessionOptions(&options));
    check(api->AddSessionConfigEntry(options, "custom_op.vinculum.overflow", "saturate"));
    check(api->RegisterCustomOpsLibrary_V2(options, argv[1]));
    check(api->CreateSession(environment, argv[2], options, &session));
    check(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));

    int32_t numbers[2][3] = {{7, INT32_MIN, -7}, {2, -1, 2}}; /* plain ONNX Runtime dies of the second quotient */
    const int64_t shape[] = {3};
    const char *const inputs[] = {"a", "b"}, *const outputs[] = {"c"};
    OrtValue *operands[2], *quotients = NULL;
    for (int i = 0; i < 2; i++)
        check(api->CreateTensorWithDataAsOrtValue(memory, numbers[i], sizeof numbers[i], shape, 1,
                                                  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, &operands[i]));
    check(api->Run(session, NULL, inputs, (const OrtValue *const *)operands, 2, outputs, 1, &quotients));
    int32_t *c;
    check(api->GetTensorMutableData(quotients, (void **)&c));
    printf("%d %d %d\n", c[0], c[1], c[2]);

    api->ReleaseValue(quotients);
    for (int i = 0; i < 2; i++) api->ReleaseValue(operands[i]);
    api->ReleaseMemoryInfo(memory);
    api->ReleaseSession(session);
    api->ReleaseSessionOptions(options);
    api->ReleaseEnv(environment);
    return 0;
}
