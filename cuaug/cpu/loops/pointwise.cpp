#include "instruction_set.hpp"

namespace ISA_NAMESPACE {
#include "maths.hpp"
#include "luma_mean.hpp"
#include "pointwise.hpp"
}  // namespace ISA_NAMESPACE
