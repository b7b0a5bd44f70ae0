#include "instruction_set.hpp"

namespace ISA_NAMESPACE {
#include "maths.hpp"
#include "warp_image.hpp"
}  // namespace ISA_NAMESPACE
