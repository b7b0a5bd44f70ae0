#pragma once

#include <pybind11/pybind11.h>

// The JPEG functions of the module, in builds that found libjpeg-turbo.
void add_jpeg(pybind11::module_& module, int (*threads)());
