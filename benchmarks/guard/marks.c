/* What the measured program tells callgrind: where a cell begins and ends. */

#include <valgrind/callgrind.h>

void begin(void)
{
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

void end(const char *cell)
{
    CALLGRIND_DUMP_STATS_AT(cell);
    CALLGRIND_STOP_INSTRUMENTATION;
}
