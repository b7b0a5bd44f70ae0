#pragma once

#include <pybind11/pybind11.h>

#include "../loops/loops.hpp"

namespace native {

const LoopTable& loops();  // the loop table of the instruction set in use
int threads();             // the number of threads that a call may use

// Pooling, image loops and matrix builders with fewer values than this run in the calling thread: waking another one
// takes longer. BoundLoop::value_count has the values of an image loop; those of a matrix builder are its points.
constexpr double min_parallel_values = 1 << 15;

// Each function adds the Python functions and classes of one file: bind_jpeg adds those of jpeg.cpp, and so on.
void bind_detection(pybind11::module_& module);
void bind_encoded_files(pybind11::module_& module);
void bind_jpeg(pybind11::module_& module);
void bind_launch_sequence(pybind11::module_& module);
void bind_loops(pybind11::module_& module);
void bind_loop_sequence(pybind11::module_& module);
void bind_matrices(pybind11::module_& module);
void bind_nvjpeg(pybind11::module_& module);
void bind_record_layout(pybind11::module_& module);
void bind_tensor_rows(pybind11::module_& module);

}  // namespace native
