#pragma once

#include <pybind11/pybind11.h>

#include "../loops/loops.hpp"

// Each function adds the Python functions and classes of the file that is named for it.

namespace native {

const LoopTable& loops();  // of the instruction set in use
int threads();         // that a call may use

void bind_detection(pybind11::module_& module);
void bind_encoded_files(pybind11::module_& module);
void bind_jpeg(pybind11::module_& module);
void bind_launch_plan(pybind11::module_& module);
void bind_nvjpeg(pybind11::module_& module);

}  // namespace native
