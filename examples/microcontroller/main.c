/*
 * Division on a microcontroller: no heap, no operating system, every size known when it is compiled.
 *
 *     make sonnx-c CC="arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb" AR=arm-none-eabi-ar
 *     arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -Os -ffreestanding -I build/sonnx-c main.c build/sonnx-c/libsonnx_div.a ...
 *
 * Readings of two sensors are scaled, each by a divisor of its own, and a reading that cannot be scaled is reported.
 */
#include "sonnx_div.h"

enum { SENSORS = 2, READINGS = 4, RANK = 2, ALL = SENSORS * READINGS };

static const int32_t readings[ALL] = {-35, 36, 37, 38, 100, 101, -102, 103};
static int32_t scaled[ALL];

/* Each element by an element of its own. Returns the first position that has no quotient, or ALL. */
int64_t scale_each(const int32_t divisors[ALL]) {
  return sonnx_div_checked_int32(readings, divisors, scaled, ALL);
}

/* Each sensor's readings by that sensor's divisor: the divisors are stretched along the readings. Returns whether a
   divisor is zero; then nothing is divided. */
int scale_by_sensor(const int32_t divisors[SENSORS]) {
  static const int64_t shape[RANK] = {SENSORS, READINGS}, of_readings[RANK] = {READINGS, 1}, of_divisors[RANK] = {1, 0};
  int64_t coordinates[RANK - 1];
  if (vinculum_first_zero_int32(divisors, SENSORS) < SENSORS) return 1;
  vinculum_div_broadcast_int32(readings, divisors, scaled, RANK, ALL, shape, of_readings, of_divisors, coordinates);
  return 0;
}

int main(void) {
  static const int32_t by_sensor[SENSORS] = {3, -10}, each[ALL] = {3, 3, 0, 3, 3, 3, 3, 3}, none[SENSORS] = {3, 0};
  if (scale_by_sensor(by_sensor) || scaled[0] != -11 || scaled[7] != -10) return 1;
  if (scale_each(each) != 2 || scaled[1] != 12) return 2; /* the third has no quotient */
  if (!scale_by_sensor(none)) return 3;
  return 0;
}
