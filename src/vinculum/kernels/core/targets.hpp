// Placeholder: the target that was chosen.
#pragma once

struct Target {
    const char* name;
    int (*increment)(int);
};

Target choose();
