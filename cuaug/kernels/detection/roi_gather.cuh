#pragma once

#include "detection/roi_bins.cuh"

// Which bins have a part in a pixel, for a pass back: of a tile of the map, and of a window of a region's bins at a
// time.

namespace cuaug {

constexpr int tile_rows = 8, tile_columns = 32;  // a warp has a row
constexpr int window_side = 8, window_bins = window_side * window_side;

struct Tile {
    int level, n, group, top, left;
};

struct Window {
    int y, x;  // its first bin
};

template <class R>
inline Extent<R> extent_of(const Tile& tile) {
    return {R(tile.top - 1), R(tile.left - 1), R(tile.top + tile_rows), R(tile.left + tile_columns)};
}

// Upright averages: the weights of rows and of columns, which are multiplied.
template <class R>
struct Upright {
    using Shape = SampledBins<R>;
    static constexpr bool greatest = false;

    struct Shared {
        R y[window_side][tile_rows], x[window_side][tile_columns];
        unsigned int in_row[tile_rows], in_column[tile_columns];  // a bit for each bin of the window
    };

    // Of one axis and one bin, by a thread.
    template <int pixels>
    static void weigh(const RoiAxis<R>& axis, int bin, int bit, int first, int extent, R (&weights)[pixels],
                      unsigned int* touched) {
        for (int i = 0; i < pixels; ++i) weights[i] = 0;
        const Span range = samples_between(axis, bin, R(first - 1), R(first + pixels));
        auto add = [&](int at, R weight) {
            if (weight == R(0) || at < first || at >= first + pixels) return;
            weights[at - first] += weight;
            atomicOr(touched + at - first, 1u << bit);
        };
        for (long long i = range.first; i < range.last; ++i) {
            const Tap<R> found = tap(sample_at(axis, bin, i), extent);
            if (!found.inside) continue;
            add(found.low, (R(1) - found.share) / axis.samples);
            add(found.high, found.share / axis.samples);
        }
    }

    static void clear(Shared& shared) {
        if (threadIdx.x < tile_rows) shared.in_row[threadIdx.x] = 0;
        if (threadIdx.x >= 32 && threadIdx.x < 32 + tile_columns) shared.in_column[threadIdx.x - 32] = 0;
    }

    static void prepare(const Pooling& args, const Shape& shape, const Tile& tile, const Window& window,
                        Shared& shared) {
        const int warp = threadIdx.x / 32, bit = threadIdx.x % 32, y = window.y + bit, x = window.x + bit;
        if (warp == 0 && bit < window_side && y < args.out_height)
            weigh(shape.roi.y, y, bit, tile.top, shape.level->height, shared.y[bit], shared.in_row);
        if (warp == 1 && bit < window_side && x < args.out_width)
            weigh(shape.roi.x, x, bit, tile.left, shape.level->width, shared.x[bit], shared.in_column);
    }

    // Calls `visit(bin of the window, weight, number of the sample)`.
    template <class Visit>
    static void each(const Pooling&, const Shape&, const Tile&, const Window&, const Shared& shared, int row,
                     int column, const Visit& visit) {
        for (unsigned int rows = shared.in_row[row]; rows != 0; rows &= rows - 1) {
            const int y = __ffs(rows) - 1;
            for (unsigned int columns = shared.in_column[column]; columns != 0; columns &= columns - 1) {
                const int x = __ffs(columns) - 1;
                visit(y * window_side + x, shared.y[y][row] * shared.x[x][column], 0);
            }
        }
    }
};

// Any others: each pixel looks for the samples next to it.
template <class Bins, bool of_greatest>
struct Nearby {
    using Shape = Bins;
    static constexpr bool greatest = of_greatest;

    struct Shared {};

    static void clear(Shared&) {}
    static void prepare(const Pooling&, const Shape&, const Tile&, const Window&, Shared&) {}

    template <class Visit>
    static void each(const Pooling& args, const Shape& shape, const Tile& tile, const Window& window, const Shared&,
                     int row, int column, const Visit& visit) {
        using R = decltype(shape.count);
        const int y = tile.top + row, x = tile.left + column;
        const Extent<R> near = {R(y - 1), R(x - 1), R(y + 1), R(x + 1)};
        const Spans bins = shape.bins_in(args, near);
        const int last_y = static_cast<int>(min(bins.rows.last, static_cast<long long>(window.y) + window_side));
        const int last_x = static_cast<int>(min(bins.columns.last, static_cast<long long>(window.x) + window_side));
        for (int bin_y = max(static_cast<int>(bins.rows.first), window.y); bin_y < last_y; ++bin_y)
            for (int bin_x = max(static_cast<int>(bins.columns.first), window.x); bin_x < last_x; ++bin_x) {
                const Spans samples = shape.samples_in(args, bin_y, bin_x, near);
                for (long long i = samples.rows.first; i < samples.rows.last; ++i)
                    for (long long j = samples.columns.first; j < samples.columns.last; ++j) {
                        const Place<R> place = shape.place(args, bin_y, bin_x, i, j);
                        if (!place.y.inside || !place.x.inside) continue;
                        const R weight = share_of(place.y, y) * share_of(place.x, x);
                        if (weight != R(0))
                            visit((bin_y - window.y) * window_side + bin_x - window.x,
                                  greatest ? weight : weight / shape.count, i << 32 | j);
                    }
            }
    }
};

}  // namespace cuaug
