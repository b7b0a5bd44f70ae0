#include "instruction_set.hpp"

namespace ISA_NAMESPACE {
#include "maths.hpp"
#include "resample.hpp"
}  // namespace ISA_NAMESPACE
