#pragma once

#include <pybind11/pybind11.h>

// Adds to the module what loading.cpp defines.
void bind_loading(pybind11::module_& module);
