#pragma once

#include "../kernels/resample_record.cuh"
#include "bilinear.hpp"

// Plain bilinear resize, two taps each way, is a bilinear warp of the box with its edge repeated.

namespace cuaug {

// Output positions along one axis in the input, held inside [low, high - 1].
struct Positions {
    double start, scale;
    int low, high;

    double at(int i) const {
        const double centre = start + (i + 0.5) * scale - 0.5;
        return fmin(fmax(centre, static_cast<double>(low)), static_cast<double>(high - 1));
    }
};

// Bytes of rows `top` to `bottom` of a frame; false if they have to be resized by weights instead: where the box leaves the image,
// and where a tile would need too much of it. Of other dtypes, a tap of weight 0 beyond the box could be a NaN.
inline bool warp_plainly(const native::ResampleCall& call, const Resample& record, long long n, long long t, int top, int bottom,
                         const Positions& across, const Positions& down, Memory<float>& memory) {
    const AnyWarp args = common(&record);
    if (!(across.low >= 0 && across.high <= args.in_width && down.low >= 0 && down.high <= args.in_height)) return false;
    const native::WarpCall warp = {&record, call.source, call.target, native::Geometry::Affine, native::Sampler::Bilinear, native::Border::Edge};
    auto least = [](int a, int b) { return a < b ? a : b; };
    for (int y = top; y < bottom; y += tile_height)
        for (int x = 0; x < args.out_width; x += tile_width) {
            Tile<float> tile = {n, t, x, y, least(tile_width, args.out_width - x), least(tile_height, bottom - y), args.out_width,
                                static_cast<int>(across.at(x)), static_cast<int>(down.at(y)), true, {}, memory.x, memory.y};
            float columns[tile_width], rows[tile_height];
            for (int dx = 0; dx < tile.width; ++dx) columns[dx] = static_cast<float>(across.at(x + dx) - tile.base_x);
            for (int dy = 0; dy < tile.height; ++dy) rows[dy] = static_cast<float>(down.at(y + dy) - tile.base_y);
            points(tile, [&](int dx, int dy) { return Point<float>{columns[dx], rows[dy]}; });
            tile.bounds = {columns[0], columns[tile.width - 1], rows[0], rows[tile.height - 1]};
            const Box box = box_of(tile, 0, 1, 4);
            if (box.width == 0) return false;
            for (int c = 0; c < args.channels; c += 4) warp_bytes(warp, args, tile, box, c, memory);
        }
    return true;
}

}  // namespace cuaug
