#pragma once

#include "gpu/coordinate_map_reader.cuh"
#include "gpu/warp_config.cuh"
#include "samplers/bilinear_fixed.cuh"
#include "samplers/bilinear_global.cuh"
#include "samplers/bilinear_raw.cuh"
#include "samplers/bilinear_u8.cuh"
#include "samplers/samplers.cuh"

// The sampling phase of warp_image. A thread makes four pixels of each of its rows. The samplers of this file return
// `count` of the four, from pixel `first` on. `x` is the column of the thread's pixel 0 and `y` the row, both counted
// from the tile's first pixel. A band is four rows; `row(band)` returns the data that the pixels of the thread's row of
// a band share, and the caller passes it back as `row`.

namespace cuaug {

template <class T, int N>
struct Array {
    T items[N];
};

// function(0) .. function(N - 1).
template <int N, class Function>
inline auto make_array(const Function& function) {
    Array<decltype(function(0)), N> out;
#pragma unroll
    for (int i = 0; i < N; ++i) out.items[i] = function(i);
    return out;
}

// An interpolated pixel, rounded to dtype T. BiasedU8 (samplers/bilinear_u8.cuh) is rounded already.
template <class T, class Interpolated>
inline auto to_sampled_pixel(const Interpolated& pixel) {
    return to_raw_pixel<T>(pixel);
}
template <class T, int K>
inline BiasedU8<K> to_sampled_pixel(const BiasedU8<K>& pixel) {
    return pixel;
}

// A pixel from global memory, at any point.
template <class C>
inline auto sample_from_global(const Image<typename C::In, C::K, typename C::Border>& image,
                               const Point<typename C::R>& p) {
    using SampledDtype = typename C::SampledDtype;
    using Sampler = typename C::Sampler;
    if constexpr (samples_from_global<typename C::Geometry, Sampler, typename C::In>)
        return to_sampled_pixel<SampledDtype>(
            sample_global<C::uses_integer_weights, conditional_t<C::Geometry::is_64bit, long long, Word>>(image, p));
    else
        return image.is_in_range(p) ? to_raw_pixel<SampledDtype>(base_sampler_t<Sampler>::sample(image, p))
                                    : to_raw_pixel<SampledDtype>(image.fill);
}

// Samples through a coordinate map, from global memory.
template <class C>
struct MapSampler {
    using R = typename C::R;
    using Reader = CoordinateMapReader<R, C::Geometry::is_64bit || sizeof(R) == 8, C::column_offset(1)>;

    const Image<typename C::In, C::K, typename C::Border>& image;
    const Reader& maps;
    int lane_row;

    auto row(int band) const { return maps.row(4 * band + lane_row); }

    template <class Row, int count>
    auto operator()(int, int first, int y, const Row& row, Int<count>) const {
        return make_array<count>([&](int i) { return sample_from_global<C>(image, maps.point(row, first + i, y)); });
    }
};

// Samples from global memory, for a tile whose source box does not fit into shared memory.
template <class C>
struct GlobalSampler {
    using R = typename C::R;

    const Image<typename C::In, C::K, typename C::Border>& image;
    const typename C::TileMap& map;

    Int<0> row(int) const { return {}; }

    // With antialiasing every source box fits in shared memory: a tile has none only if its coordinates are not finite
    // or too far away.
    auto operator()(int x, int first, int y, Int<0>, Int<1>) const {
        return make_array<1>([&](int) {
            return C::is_antialiased ? to_raw_pixel<typename C::SampledDtype>(image.fill)
                                     : sample_from_global<C>(image, map.at(static_cast<R>(x + C::column_offset(first)),
                                                                           static_cast<R>(y)));
        });
    }
};

// Applies the override to pixels of the staged box, for a sample whose geometry is the identity.
template <class C>
struct OverrideSampler {
    const WarpBlock<C>& block;
    const typename C::WarpTile& tile;  // in shared memory, to save registers

    Int<0> row(int) const { return {}; }

    auto operator()(int x, int first, int y, Int<0>, Int<1>) const {
        using In = typename C::In;
        const auto& args = block.args;
        const int column = block.region().left + x + C::column_offset(first),
                  row = block.region().top + tile.first_row + y;
        const bool is_interior = column > 0 && column < args.out_width - 1 && row > 0 && row < args.out_height - 1;
        const WordPixel<In, C::K> pixel =
            override_pixel(block.block_override(), StagedBox<In, C::K>{block.pixels(), tile.box.pitch},
                           column - tile.map.base_x, row - tile.map.base_y, is_interior);
        return make_array<1>([&](int) {
            if constexpr (is_same_v<typename C::SampledDtype, In>)
                return pixel;
            else
                return to_raw_pixel<typename C::SampledDtype>(to_raw_pixel(pixel));
        });
    }
};

// Source coordinates of a tile's pixels: fixed-point if `is_fixed_point`, else from the tile's map.
template <class C>
struct TilePoints {
    using R = typename C::R;
    using Stepper = conditional_t<C::is_fixed_point, FixedStepper, Int<0>>;

    const typename C::TileMap& map;
    Stepper stepper;

    TilePoints(const WarpBlock<C>& block, const typename C::WarpTile& tile)
        : map(tile.map), stepper([&] {
              if constexpr (C::is_fixed_point) {
                  const int left = block.region().left;
                  return block.row_starts().stepper(left - row_start_column(left), tile.first_row, block.lane >> 3,
                                                    tile.map.base_x, tile.map.base_y);
              } else {
                  return Int<0>();
              }
          }()) {}

    // With an override there are no registers to hold a row's start.
    auto row(int band) const {
        if constexpr (C::is_fixed_point && !C::has_override)
            return stepper.band_start(band);
        else
            return Int<0>();
    }

    Point<R> from_map(int x, int y) const { return map.at(static_cast<R>(x), static_cast<R>(y)); }

    template <class Row>
    auto at(int x, int y, const Row& row) const {
        if constexpr (!C::is_fixed_point)
            return from_map(x, y);
        else if constexpr (C::has_override)
            return stepper.at(x, stepper.band_start(y >> 2));
        else
            return stepper.at(x, row);
    }
};

// Samples from a raw box.
template <class C>
struct RawBoxSampler {
    TilePoints<C> points;
    int pitch;
    Word corner;  // address of the box's first pixel in shared memory

    auto row(int band) const { return points.row(band); }

    template <class Row, int count>
    auto operator()(int x, int first, int y, const Row& row, Int<count>) const {
        return make_array<count>([&](int i) {
            const RawBox<typename C::InLayout, typename C::In, C::K, C::box_plane_bytes> box = {corner, pitch};
            return to_sampled_pixel<typename C::SampledDtype>(
                bilinear(box, points.at(x + C::column_offset(first + i), y, row)));
        });
    }
};

// Samples from a box of staged pixels.
template <class C>
struct StagedBoxSampler {
    using In = typename C::In;
    using R = typename C::R;
    using SampledDtype = typename C::SampledDtype;

    TilePoints<C> points;
    StagedBox<In, C::K> box;
    bool is_downscaled;
    AxisFilters<R> filters;  // used if is_downscaled

    auto row(int band) const { return points.row(band); }

    template <class Row, int count>
    auto operator()(int x, int first, int y, const Row& row, Int<count>) const {
        if constexpr (C::is_antialiased)
            if (is_downscaled)
                return make_array<count>([&](int i) {
                    const Point<R> p = points.from_map(x + C::column_offset(first + i), y);
                    if constexpr (C::uses_integer_weights)
                        return antialiased(box.pixels, box.pitch, p, filters);
                    else
                        return to_raw_pixel<SampledDtype>(antialiased(box, p, filters));
                });
        return make_array<count>([&](int i) {
            const int column = x + C::column_offset(first + i);
            if constexpr (C::uses_integer_weights)
                return bilinear(box.pixels, box.pitch, points.at(column, y, row));
            else if constexpr (C::is_fixed_point)
                return to_sampled_pixel<SampledDtype>(bilinear(box, points.at(column, y, row)));
            else
                return to_sampled_pixel<SampledDtype>(
                    base_sampler_t<typename C::Sampler>::sample(box, points.from_map(column, y)));
        });
    }
};

}  // namespace cuaug
