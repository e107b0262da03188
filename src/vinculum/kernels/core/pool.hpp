// Threads that help with the blocks of a task.
#pragma once

#include "task.hpp"

namespace vinculum {

// Divides a task in IEEE 754's environment, with the help of so many other threads at most.
void divide(Task& task, int helpers);

} // namespace vinculum
