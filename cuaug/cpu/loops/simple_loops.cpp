// The loops with few template instances. Compiled once per instruction set, each time in another namespace
// (instruction_set.hpp).

#include "instruction_set.hpp"

namespace ISA_NAMESPACE {
#include "maths.hpp"
#include "adjust_sharpness.hpp"
#include "blend.hpp"
#include "channel_min_max.hpp"
#include "gaussian_blur.hpp"
#include "histogram_lut.hpp"
#include "jpeg.hpp"
#include "lut.hpp"
#include "mix.hpp"
}  // namespace ISA_NAMESPACE
