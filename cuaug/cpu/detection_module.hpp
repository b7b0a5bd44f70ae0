#pragma once

#include <pybind11/pybind11.h>

#include "loops/loops.hpp"

// The functions of cuaug.ops but for nms, which module.cpp has.
void add_detection(pybind11::module_& module, const native::Loops& (*loops)(), int (*threads)());
