#pragma once

#include <pybind11/pybind11.h>

// Adds to the module what engine.cpp defines.
void bind_engine(pybind11::module_& module);
