#pragma once

#include "borders/border.cuh"
#include "dispatch.hpp"
#include "geometry/geometries.cuh"
#include "loops.hpp"
#include "samplers/filter.cuh"
#include "samplers/samplers.cuh"

namespace cuaug {

template <class Geometry>
constexpr native::Geometry geometry_of = static_cast<native::Geometry>(IndexIn<Geometry, Geometries>::value);
template <class Sampler>
constexpr native::Sampler sampler_of = static_cast<native::Sampler>(IndexIn<Sampler, Samplers>::value);
template <class Border>
constexpr native::Border border_of = static_cast<native::Border>(IndexIn<Border, Borders>::value);
template <class Filter>
constexpr native::Filter filter_of = static_cast<native::Filter>(IndexIn<Filter, Filters>::value);

template <class Visitor>
inline auto dispatch_geometry(native::Geometry geometry, const Visitor& visit) {
    return dispatch(Geometries(), static_cast<int>(geometry), visit);
}

template <class Visitor>
inline auto dispatch_sampler(native::Sampler sampler, const Visitor& visit) {
    return dispatch(Samplers(), static_cast<int>(sampler), visit);
}

template <class Visitor>
inline auto dispatch_border(native::Border border, const Visitor& visit) {
    return dispatch(Borders(), static_cast<int>(border), visit);
}

template <class Visitor>
inline auto dispatch_filter(native::Filter filter, const Visitor& visit) {
    return dispatch(Filters(), static_cast<int>(filter), visit);
}

}  // namespace cuaug
