#pragma once

#include <pybind11/pybind11.h>

// Adds to the module what launches.cpp defines.
void bind_launches(pybind11::module_& module);
