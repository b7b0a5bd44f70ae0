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

constexpr int sign_bit = -0x7fffffff - 1;

constexpr int copy_strip_width = 4096;

struct NearestStripWorkspace {
    int columns[copy_strip_width];  // the source column of each output column; -1: the fill
    int rows[tile_height];          // the source row of each output row
    long long offset[copy_strip_width];
    CopyRun runs[copy_strip_width];
};
static_assert(sizeof(NearestStripWorkspace) <= native::workspace_bytes);

// One axis of the input, as the image that Nearest samples: the value of a pixel is its index.
template <class Border>
struct AxisResolver {
    int base, size;

    int raw_pixel(int i, int) const { return Border::resolve(base + i, size); }

    // The indices at the coordinates slope * i + offset. These are monotone: if the first and the last one are in
    // range, all are, and the loop has no branches.
    template <class R>
    void resolve(R slope, R offset, int count, int* __restrict__ index) const {
        auto sample = [&](int i) { return Nearest::sample(*this, Point<R>{slope * static_cast<R>(i) + offset, R(0)}); };
        if (in_range(offset, base) && in_range(slope * static_cast<R>(count - 1) + offset, base)) {
#pragma omp simd
            for (int i = 0; i < count; ++i) index[i] = sample(i);
        } else {
            for (int i = 0; i < count; ++i)
                index[i] = in_range(slope * static_cast<R>(i) + offset, base) ? sample(i) : -1;
        }
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
        AxisResolver<Border>{map.base_x, args.in_width}.resolve(map.a, map.c, min(width - first, tile_width),
                                                                workspace.columns + first);
    }
    const auto map = Affine::tile_map<R>(m, left, top);
    AxisResolver<Border>{map.base_y, args.in_height}.resolve(map.e, map.f, height, workspace.rows);
}

// Whether 16 columns continue a run: each is `step` from the one before it, and has its sign.
inline bool continue_run(const int* columns, int step) {
    int differences = 0;
#pragma omp simd reduction(| : differences)
    for (int i = 0; i < 16; ++i)
        differences |= (columns[i] - columns[i - 1] - step) | ((columns[i] ^ columns[i - 1]) & sign_bit);
    return differences == 0;
}

// Divides source columns into runs; returns the number of runs. Most are long: 16 columns are compared at once.
inline int find_runs(const int* columns, int count, CopyRun* runs) {
    int run_count = 0;
    for (int i = 0, end; i < count; i = end) {
        const int step = i + 1 < count && (columns[i] < 0) == (columns[i + 1] < 0) ? columns[i + 1] - columns[i] : 0;
        end = i + 1;
        while (end + 16 <= count && continue_run(columns + end, step)) end += 16;
        while (end < count && columns[end] == columns[end - 1] + step && (columns[end] < 0) == (columns[i] < 0)) ++end;
        runs[run_count++] = {i, end - i, columns[i], step};
    }
    return run_count;
}

// Whether the runs are so short that copying run by run takes longer than copying pixel by pixel.
inline bool runs_are_short(int run_count, int width) { return run_count * 8 > width; }

// Whether the strip gets the fill as a whole before pixels are copied to it. Filling one run of a row takes as long as
// filling about 1 KiB of the whole strip.
inline bool fills_strip_first(const PixelCopy& copy, const NearestStripWorkspace& workspace, int run_count, int width) {
    int fill_runs = 0, copied_pixels = 0;
    for (const CopyRun* run = workspace.runs; run < workspace.runs + run_count; ++run)
        run->source_column < 0 ? ++fill_runs : copied_pixels += run->count;
    const bool is_contiguous =
        copy.out.column_stride == copy.unit_bytes && copy.out.row_stride == width * copy.out.column_stride;
    return is_contiguous && copied_pixels * copy.unit_bytes <= fill_runs * 1024;
}

template <int Bytes>
inline void copy_strip(const PixelCopy& copy, const NearestStripWorkspace& workspace, int run_count, int left,
                       int width, int top, int height) {
    const long long in_step = copy.in.column_stride, out_step = copy.out.column_stride;
    const bool gathers = runs_are_short(run_count, width),
               is_filled = !gathers && fills_strip_first(copy, workspace, run_count, width);
    for (int k = 0; k < copy.units_per_pixel; ++k) {
        const char* fill = copy.fill + k * Bytes;
        char* out = copy.out.data + k * copy.out.unit_stride + top * copy.out.row_stride + left * out_step;
        if (is_filled) repeat_unit<Bytes>(fill, height * width, out);
        for (int dy = 0; dy < height; ++dy, out += copy.out.row_stride) {
            const char* in = copy.in.data + k * copy.in.unit_stride + workspace.rows[dy] * copy.in.row_stride;
            if (workspace.rows[dy] < 0) {
                if (!is_filled) copy_run<Bytes>(fill, 0, width, out, out_step);
            } else if (gathers) {
                gather_units<Bytes>(in, workspace.offset, width, out, out_step, fill);
            } else {
                for (const CopyRun* run = workspace.runs; run < workspace.runs + run_count; ++run)
                    if (run->source_column >= 0)
                        copy_run<Bytes>(in + run->source_column * in_step, run->source_step * in_step, run->count,
                                        out + run->first * out_step, out_step);
                    else if (!is_filled)
                        copy_run<Bytes>(fill, 0, run->count, out + run->first * out_step, out_step);
            }
        }
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
        const PixelCopy copy = pixel_copy(call.in_dtype, args, n, t, c);
        if (runs_are_short(run_count, width))
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
