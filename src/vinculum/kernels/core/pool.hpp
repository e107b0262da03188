// Placeholder: a helper thread.
#pragma once

int on_another_thread(int (*function)(int), int x);
