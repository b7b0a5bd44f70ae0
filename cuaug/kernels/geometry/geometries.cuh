#pragma once

#include "geometry/affine.cuh"
#include "geometry/coordinate_map.cuh"
#include "geometry/perspective.cuh"
#include "type_list.cuh"

namespace cuaug {

using Geometries = TypeList<Affine, Perspective, CoordinateMap, CoordinateMap64>;

}  // namespace cuaug
