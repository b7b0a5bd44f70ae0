#pragma once

#include "detection/roi_by_point.cuh"

// Which bins contribute to which pixels, for a backward pass: for one tile of the map, and one window of a region's
// bins at a time.

namespace cuaug {

constexpr int tile_rows = 8, tile_columns = 32;  // one warp per row
constexpr int window_side = 8, window_bins = window_side * window_side;

struct MapTile {
    int level, n, channel_group, top, left;
};

struct BinWindow {
    int y, x;  // its first bin
};

// The rectangle in which a sampling point may touch the tile.
template <class R>
inline MapRect<R> rect_of(const MapTile& tile) {
    return {R(tile.top - 1), R(tile.left - 1), R(tile.top + tile_rows), R(tile.left + tile_columns)};
}

// Averages of unrotated regions: the weights of rows and of columns, which are multiplied.
template <class R>
struct SeparableGather {
    using Bins = RoiAlignBins<R>;
    static constexpr bool is_max = false;

    struct Shared {
        R y[window_side][tile_rows], x[window_side][tile_columns];
        unsigned int row_bins[tile_rows], column_bins[tile_columns];  // bit i: bin row or column i contributes
    };

    // One thread: the weights of one bin along one axis.
    template <int pixels>
    static void compute_weights(const RoiAxis<R>& axis, int bin, int bin_in_window, int first, int extent,
                                R (&weights)[pixels], unsigned int* pixel_bins) {
        for (int i = 0; i < pixels; ++i) weights[i] = 0;
        const IndexRange range = points_between(axis, bin, R(first - 1), R(first + pixels));
        auto add = [&](int pixel, R weight) {
            if (weight == R(0) || pixel < first || pixel >= first + pixels) return;
            weights[pixel - first] += weight;
            atomicOr(pixel_bins + pixel - first, 1u << bin_in_window);
        };
        for (long long i = range.first; i < range.end; ++i) {
            const Tap<R> tap = make_tap(point_coordinate(axis, bin, i), extent);
            if (!tap.is_inside) continue;
            add(tap.low, (R(1) - tap.high_weight) / axis.points);
            add(tap.high, tap.high_weight / axis.points);
        }
    }

    static void clear(Shared& shared) {
        if (threadIdx.x < tile_rows) shared.row_bins[threadIdx.x] = 0;
        if (threadIdx.x >= 32 && threadIdx.x < 32 + tile_columns) shared.column_bins[threadIdx.x - 32] = 0;
    }

    // rows, columns: of the bins in the window.
    static void prepare(const Bins& bins, const MapTile& tile, const BinWindow& window, int rows, int columns,
                        Shared& shared) {
        const int warp = threadIdx.x / 32, bin_in_window = threadIdx.x % 32;
        if (warp == 0 && bin_in_window < rows)
            compute_weights(bins.roi.y, window.y + bin_in_window, bin_in_window, tile.top, bins.level->height,
                            shared.y[bin_in_window], shared.row_bins);
        if (warp == 1 && bin_in_window < columns)
            compute_weights(bins.roi.x, window.x + bin_in_window, bin_in_window, tile.left, bins.level->width,
                            shared.x[bin_in_window], shared.column_bins);
    }

    // Calls `visit(bin of the window, weight, 0)` for each bin that contributes to a pixel.
    template <class Visitor>
    static void for_each_bin(const RoiRecord&, const Bins&, const MapTile&, const BinWindow&, const Shared& shared,
                             int row, int column, const Visitor& visit) {
        for (unsigned int rows = shared.row_bins[row]; rows != 0; rows &= rows - 1) {
            const int y = __ffs(rows) - 1;
            for (unsigned int columns = shared.column_bins[column]; columns != 0; columns &= columns - 1) {
                const int x = __ffs(columns) - 1;
                visit(y * window_side + x, shared.y[y][row] * shared.x[x][column], 0);
            }
        }
    }
};

// Maxima, and averages of rotated regions: each pixel searches for the sampling points next to it.
template <class BinsType, bool with_max>
struct PointGather {
    using Bins = BinsType;
    static constexpr bool is_max = with_max;

    struct Shared {};

    static void clear(Shared&) {}
    static void prepare(const Bins&, const MapTile&, const BinWindow&, int, int, Shared&) {}

    // Calls `visit(bin of the window, weight, pack_point of the sampling point)` for each sampling point that
    // contributes to a pixel.
    template <class Visitor>
    static void for_each_bin(const RoiRecord& args, const Bins& bins, const MapTile& tile, const BinWindow& window,
                             const Shared&, int row, int column, const Visitor& visit) {
        using R = decltype(bins.point_count(args, 0, 0));
        const int y = tile.top + row, x = tile.left + column;
        const MapRect<R> near = {R(y - 1), R(x - 1), R(y + 1), R(x + 1)};
        const IndexRect range = bins.bins_in(args, near);
        const int end_y = static_cast<int>(min(range.rows.end, static_cast<long long>(window.y) + window_side));
        const int end_x = static_cast<int>(min(range.columns.end, static_cast<long long>(window.x) + window_side));
        for (int bin_y = max(static_cast<int>(range.rows.first), window.y); bin_y < end_y; ++bin_y)
            for (int bin_x = max(static_cast<int>(range.columns.first), window.x); bin_x < end_x; ++bin_x) {
                const IndexRect points = bins.points_in(args, bin_y, bin_x, near);
                for (long long i = points.rows.first; i < points.rows.end; ++i)
                    for (long long j = points.columns.first; j < points.columns.end; ++j) {
                        const PointTaps<R> taps = bins.point_taps(args, bin_y, bin_x, i, j);
                        if (!taps.y.is_inside || !taps.x.is_inside) continue;
                        const R weight = tap_weight(taps.y, y) * tap_weight(taps.x, x);
                        if (weight != R(0))
                            visit((bin_y - window.y) * window_side + bin_x - window.x,
                                  is_max ? weight : weight / bins.point_count(args, bin_y, bin_x), pack_point(i, j));
                    }
            }
    }
};

}  // namespace cuaug
