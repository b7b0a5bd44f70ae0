#pragma once

#include "ops/mixes/cutmix.cuh"
#include "ops/mixes/mixup.cuh"
#include "type_list.cuh"

namespace cuaug {

using Mixes = FunctorList<Cutmix, Mixup>;

}  // namespace cuaug
