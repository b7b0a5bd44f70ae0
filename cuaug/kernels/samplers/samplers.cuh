#pragma once

#include "samplers/bilinear.cuh"
#include "samplers/nearest.cuh"
#include "samplers/separable.cuh"
#include "type_list.cuh"

namespace cuaug {

using Samplers = TypeList<Nearest, Bilinear, Bicubic, Lanczos>;

}  // namespace cuaug
