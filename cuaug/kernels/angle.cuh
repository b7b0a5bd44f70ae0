#pragma once

namespace cuaug {

constexpr double radians_per_degree = 0.017453292519943295;

}  // namespace cuaug
