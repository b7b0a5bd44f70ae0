// Compiled once per instruction set, each time in another namespace (instruction_set.hpp).

#include "instruction_set.hpp"

namespace ISA_NAMESPACE {
#include "maths.hpp"
#include "luma_mean.hpp"
#include "pointwise.hpp"
}  // namespace ISA_NAMESPACE
