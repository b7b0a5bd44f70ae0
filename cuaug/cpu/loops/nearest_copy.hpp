#pragma once

#include "source_box.hpp"
#include "copy_pixels.hpp"
#include "bilinear_separable.hpp"

// Nearest where the dtype stays: indices are worked out first, and values then moved as bits.

namespace cuaug {

// Where x depends on the column alone and y on the row: flips, crops, padding, whole-pixel shifts and plain scaling.

// Adjacent pixels of a row that come from pixels a constant step apart; column -1 is the fill.
struct CopyRun {
    int first, count, column, step;
};

struct NearestStripWorkspace {
    int columns[strip_width];
    int rows[tile_height];
    long long offset[strip_width];
    CopyRun runs[strip_width];
};
static_assert(sizeof(NearestStripWorkspace) <= native::workspace_bytes, "the workspace holds a task's memory");

// An axis of the input as an image that a sampler can ask.
template <class Border>
struct AxisResolver {
    int base, size;

    int raw_pixel(int i, int) const { return Border::resolve(base + i, size); }

    template <class R>
    int at(R coordinate) const {
        return in_range(Point<R>{coordinate, coordinate + static_cast<R>(base)})
                   ? Nearest::sample(*this, Point<R>{coordinate, R(0)})
                   : -1;
    }
};

// Columns left .. left + width and rows top .. top + height of the output in the input; coordinates count from the
// tiles that would otherwise be made.
template <class Border, class R>
inline void resolve_indices(const WarpCommon& args, const Affine::Matrix& m, int left, int width, int top, int height,
                            NearestStripWorkspace& workspace) {
    for (int first = 0; first < width; first += tile_width) {
        const auto local = Affine::tile_map<R>(m, left + first, top);
        const AxisResolver<Border> line = {local.base_x, args.in_width};
        const int count = width - first < tile_width ? width - first : tile_width;
        for (int dx = 0; dx < count; ++dx)
            workspace.columns[first + dx] = line.at(local.at(static_cast<R>(dx), R(0)).x);
    }
    const auto local = Affine::tile_map<R>(m, left, top);
    const AxisResolver<Border> line = {local.base_y, args.in_height};
    for (int dy = 0; dy < height; ++dy) workspace.rows[dy] = line.at(local.at(R(0), static_cast<R>(dy)).y);
}

inline int find_runs(const int* columns, int count, CopyRun* runs) {
    int made = 0;
    for (int i = 0, end; i < count; i = end) {
        const int step = i + 1 < count && (columns[i] < 0) == (columns[i + 1] < 0) ? columns[i + 1] - columns[i] : 0;
        for (end = i + 1;
             end < count && columns[end] == columns[end - 1] + step && (columns[end] < 0) == (columns[i] < 0);)
            ++end;
        runs[made++] = {i, end - i, columns[i], step};
    }
    return made;
}

template <int B>
inline void copy_strip(const PixelCopy& copy, const NearestStripWorkspace& workspace, int runs, int left, int width,
                       int top, int height) {
    const long long from_step = copy.in.column, to_step = copy.out.column;
    const bool short_runs = runs * 8 > width;
    for (int dy = 0; dy < height; ++dy)
        for (int k = 0; k < copy.pieces; ++k) {
            char* to = copy.out.data + k * copy.out.piece + (top + dy) * copy.out.row + left * to_step;
            const char *from = copy.in.data + k * copy.in.piece + workspace.rows[dy] * copy.in.row,
                       *fill = copy.fill + k * B;
            if (workspace.rows[dy] < 0)
                copy_run<B>(fill, 0, width, to, to_step);
            else if (short_runs)
                gather_units<B>(from, workspace.offset, width, to, to_step, fill);
            else
                for (const CopyRun* run = workspace.runs; run < workspace.runs + runs; ++run)
                    copy_run<B>(run->column < 0 ? fill : from + run->column * from_step, run->step * from_step,
                                run->count, to + run->first * to_step, to_step);
        }
}

// False where x and y depend on both row and column.
template <class R>
inline bool copy_strip(const native::WarpCall& call, const WarpCommon& args, long long n, long long t, int left,
                       int width, int top, int height, NearestStripWorkspace& workspace) {
    if (call.geometry != geometry_of<Affine>) return false;
    const Affine::Matrix m = static_cast<const WarpRecord<Affine>*>(call.record)->geometry.sample(n);
    if (!(m.b == 0.0 && m.d == 0.0)) return false;
    dispatch_border(call.border, [&](auto kind) {
        resolve_indices<decltype(kind), R>(args, m, left, width, top, height, workspace);
    });
    const int runs = find_runs(workspace.columns, width, workspace.runs);
    for (int c = 0; c < args.channels; c += max_copy_channels) {
        const PixelCopy copy = pixel_copy(call.source, args, n, t, c);
        for (int x = 0; x < width; ++x)
            workspace.offset[x] =
                workspace.columns[x] < 0 ? FILL_OFFSET<long long> : workspace.columns[x] * copy.in.column;
        dispatch_unit_bytes(copy.bytes, [&](auto size) {
            copy_strip<decltype(size)::count>(copy, workspace, runs, left, width, top, height);
        });
    }
    return true;
}

// All other geometries: where in the frame each pixel lies. Offsets of 32 bits where they suffice: twice as many at
// once.

template <class Border, class Offset>
struct OffsetImage {
    int base_x, base_y, width, height;
    Offset column_step, row_step;

    Offset raw_pixel(int x, int y) const {
        const int column = Border::resolve(base_x + x, width), row = Border::resolve(base_y + y, height);
        const Offset offset = column * column_step + row * row_step;
        return (column | row) < 0 ? FILL_OFFSET<Offset> : offset;
    }
};

// Where no pixel lies outside.
struct Inside {
    static int resolve(int i, int) { return i; }
};

template <class Kind, class R, class Offset>
inline void resolve_offsets(const WarpCommon& args, const PixelCopy& copy, const CoordinateTile<R>& tile,
                            Offset* __restrict__ offset) {
    const OffsetImage<Kind, Offset> image = {tile.base_x,
                                             tile.base_y,
                                             args.in_width,
                                             args.in_height,
                                             static_cast<Offset>(copy.in.column),
                                             static_cast<Offset>(copy.in.row)};
    for (int dy = 0; dy < tile.height; ++dy) {
        const R *x = tile.x + dy * tile_width, *y = tile.y + dy * tile_width;
        Offset* to = offset + dy * tile_width;
        if (tile.is_near_base)
            for (int i = 0; i < tile.width; ++i) to[i] = Nearest::sample(image, Point<R>{x[i], y[i]});
        else
            for (int i = 0; i < tile.width; ++i) {
                const Point<R> p = {x[i], y[i]};
                to[i] = is_in_range(tile, p) ? Nearest::sample(image, p) : FILL_OFFSET<Offset>;
            }
    }
}

template <class R, class Offset>
inline void resolve_offsets(native::Border border, const WarpCommon& args, const PixelCopy& copy,
                            const CoordinateTile<R>& tile, Offset* offset) {
    const SourceBox box = source_box_of(tile, Nearest::taps_before, Nearest::taps_after, 1);
    const int left = tile.base_x + box.x, top = tile.base_y + box.y;
    if (box.width > 0 && left >= 0 && top >= 0 && left + box.width <= args.in_width &&
        top + box.height <= args.in_height)
        return resolve_offsets<Inside>(args, copy, tile, offset);
    dispatch_border(border, [&](auto kind) { resolve_offsets<decltype(kind)>(args, copy, tile, offset); });
}

template <class Offset, class R>
inline void copy_tile(const native::WarpCall& call, const WarpCommon& args, const CoordinateTile<R>& tile,
                      Offset* offset) {
    for (int c = 0; c < args.channels; c += max_copy_channels) {
        const PixelCopy copy = pixel_copy(call.source, args, tile.n, tile.t, c);
        if (c == 0) resolve_offsets(call.border, args, copy, tile, offset);
        dispatch_unit_bytes(copy.bytes, [&](auto size) {
            constexpr int bytes = decltype(size)::count;
            for (int k = 0; k < copy.pieces; ++k)
                for (int dy = 0; dy < tile.height; ++dy)
                    gather_units<bytes>(copy.in.data + k * copy.in.piece, offset + dy * tile_width, tile.width,
                                        copy.out.data + k * copy.out.piece + (tile.top + dy) * copy.out.row +
                                            tile.left * copy.out.column,
                                        copy.out.column, copy.fill + k * bytes);
        });
    }
}

template <class R>
inline void copy_tile(const native::WarpCall& call, const WarpCommon& args, const CoordinateTile<R>& tile,
                      void* workspace) {
    auto size = [](long long stride) { return static_cast<double>(stride < 0 ? -stride : stride); };
    if (size(args.in.y) * args.in_height + size(args.in.x) * args.in_width < 1 << 28)
        copy_tile(call, args, tile, static_cast<int*>(workspace));
    else
        copy_tile(call, args, tile, static_cast<long long*>(workspace));
}
static_assert(max_box_bytes >= tile_pixels * 8, "the offsets fit into the box");

}  // namespace cuaug
