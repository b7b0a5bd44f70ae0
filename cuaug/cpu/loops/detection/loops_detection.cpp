// The loops of detection (cuaug.ops), compiled once per instruction set, each time in another namespace
// (instruction_set.hpp).

#include "../instruction_set.hpp"

namespace ISA_NAMESPACE {
#include "../maths.hpp"
#include "box_pairs.hpp"
#include "nms.hpp"
#include "roi_tasks.hpp"
#include "soft_nms.hpp"
}  // namespace ISA_NAMESPACE
