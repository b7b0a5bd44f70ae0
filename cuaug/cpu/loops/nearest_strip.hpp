#pragma once

#include "bilinear_separable.hpp"
#include "copy_pixels.hpp"

// Nearest sampling to the same dtype, where x depends only on the column and y only on the row: flips, crops, padding,
// shifts by whole pixels, scaling. Source indices are computed first, and pixels are then copied without conversion.

namespace cuaug {

// Adjacent output pixels of a row whose source columns are a constant step apart.
struct CopyRun {
    int first, count;
    int source_column;  // of the first pixel; -1: all pixels get the fill
    int source_step;
};

struct NearestStripWorkspace {
    int columns[strip_width];  // the source column of each output column; -1: the fill
    int rows[tile_height];     // the source row of each output row
    long long offset[strip_width];
    CopyRun runs[strip_width];
};
static_assert(sizeof(NearestStripWorkspace) <= native::workspace_bytes);

// One axis of the input, as the image that Nearest samples: the value of a pixel is its index.
template <class Border>
struct AxisResolver {
    int base, size;

    int raw_pixel(int i, int) const { return Border::resolve(base + i, size); }

    template <class R>
    int index(R coordinate) const {
        return in_range(coordinate, base) ? Nearest::sample(*this, Point<R>{coordinate, R(0)}) : -1;
    }
};

// Computes the source indices of columns left .. left + width - 1 and rows top .. top + height - 1 of the output.
// Coordinates count from the base of each tile of tile_width columns, as in nearest_tile.hpp, so that both round to the
// same pixels.
template <class Border, class R>
inline void resolve_indices(const WarpRecordBase& args, const Affine::Matrix& m, int left, int width, int top,
                            int height, NearestStripWorkspace& workspace) {
    for (int first = 0; first < width; first += tile_width) {
        const auto map = Affine::tile_map<R>(m, left + first, top);
        const AxisResolver<Border> axis = {map.base_x, args.in_width};
        const int count = min(width - first, tile_width);
        for (int dx = 0; dx < count; ++dx)
            workspace.columns[first + dx] = axis.index(map.at(static_cast<R>(dx), R(0)).x);
    }
    const auto map = Affine::tile_map<R>(m, left, top);
    const AxisResolver<Border> axis = {map.base_y, args.in_height};
    for (int dy = 0; dy < height; ++dy) workspace.rows[dy] = axis.index(map.at(R(0), static_cast<R>(dy)).y);
}

// Divides source columns into runs; returns the number of runs.
inline int find_runs(const int* columns, int count, CopyRun* runs) {
    int run_count = 0;
    for (int i = 0, end; i < count; i = end) {
        const int step = i + 1 < count && (columns[i] < 0) == (columns[i + 1] < 0) ? columns[i + 1] - columns[i] : 0;
        for (end = i + 1;
             end < count && columns[end] == columns[end - 1] + step && (columns[end] < 0) == (columns[i] < 0);)
            ++end;
        runs[run_count++] = {i, end - i, columns[i], step};
    }
    return run_count;
}

template <int Bytes>
inline void copy_strip(const PixelCopy& copy, const NearestStripWorkspace& workspace, int run_count, int left,
                       int width, int top, int height) {
    const long long in_step = copy.in.column_stride, out_step = copy.out.column_stride;
    const bool runs_are_short = run_count * 8 > width;
    for (int dy = 0; dy < height; ++dy)
        for (int k = 0; k < copy.units_per_pixel; ++k) {
            char* out = copy.out.data + k * copy.out.unit_stride + (top + dy) * copy.out.row_stride + left * out_step;
            const char *in = copy.in.data + k * copy.in.unit_stride + workspace.rows[dy] * copy.in.row_stride,
                       *fill = copy.fill + k * Bytes;
            if (workspace.rows[dy] < 0)
                copy_run<Bytes>(fill, 0, width, out, out_step);
            else if (runs_are_short)
                gather_units<Bytes>(in, workspace.offset, width, out, out_step, fill);
            else
                for (const CopyRun* run = workspace.runs; run < workspace.runs + run_count; ++run)
                    copy_run<Bytes>(run->source_column < 0 ? fill : in + run->source_column * in_step,
                                    run->source_step * in_step, run->count, out + run->first * out_step, out_step);
        }
}

// Returns false unless the geometry is affine, x depends on the column alone, and y on the row alone.
template <class R>
inline bool copy_strip(const native::WarpCall& call, const WarpRecordBase& args, long long n, long long t, int left,
                       int width, int top, int height, NearestStripWorkspace& workspace) {
    if (call.geometry != geometry_of<Affine>) return false;
    const Affine::Matrix m = static_cast<const WarpRecord<Affine>*>(call.record)->geometry.sample(n);
    if (!(m.b == 0.0 && m.d == 0.0)) return false;
    dispatch_border(call.border, [&](auto kind) {
        resolve_indices<decltype(kind), R>(args, m, left, width, top, height, workspace);
    });
    const int run_count = find_runs(workspace.columns, width, workspace.runs);
    for (int c = 0; c < args.channels; c += max_copy_channels) {
        const PixelCopy copy = pixel_copy(call.source, args, n, t, c);
        for (int x = 0; x < width; ++x)
            workspace.offset[x] =
                workspace.columns[x] < 0 ? fill_offset<long long> : workspace.columns[x] * copy.in.column_stride;
        dispatch_unit_bytes(copy.unit_bytes, [&](auto size) {
            copy_strip<decltype(size)::value>(copy, workspace, run_count, left, width, top, height);
        });
    }
    return true;
}

}  // namespace cuaug
