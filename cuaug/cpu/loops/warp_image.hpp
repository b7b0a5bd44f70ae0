#pragma once

#include "batch_record.hpp"
#include "bilinear_separable.hpp"
#include "nearest_strip.hpp"
#include "warp_tile.hpp"

// A task computes a strip of the output: as a whole in the cases of nearest_strip.hpp and bilinear_separable.hpp,
// otherwise tile by tile.

namespace cuaug {

constexpr int min_copy_width = 512;  // of a task that may copy pixels

// The tasks of a frame of the output, in rows and columns. Rows have equal heights, at most tile_height, except for the
// last row, which may be lower. Tasks are as wide as possible while the call has about wanted_tasks tasks, and at most
// strip_width: 256 tasks are enough for the threads of any machine. If pixels may be copied, tasks are fewer (8) and
// wider (at least min_copy_width, if the row is, and at most copy_strip_width): copying takes little time, each task
// computes its source columns again, and whole rows are written in one stream (benchmarks/log/several-sizes.md).
struct TaskGrid {
    int task_height, task_width;  // in pixels
    int rows, columns;
};

inline TaskGrid task_grid(const native::WarpCall& call, const WarpRecordBase& args) {
    auto divide_up = [](int n, int divisor) { return (n + divisor - 1) / divisor; };
    const int height = divide_up(args.out_height, divide_up(args.out_height, tile_height)),
              rows = divide_up(args.out_height, height);
    const bool may_copy = call.sampler == sampler_of<Nearest> && call.in_dtype == call.out_dtype;
    const long long tiles = args.samples * args.frames * rows * divide_up(args.out_width, tile_width),
                    wanted_tasks = may_copy ? 8 : 256;
    const int min_tiles = may_copy ? min_copy_width / tile_width : 1,
              max_tiles = (may_copy ? copy_strip_width : strip_width) / tile_width;
    const int task_tiles = tiles / wanted_tasks < min_tiles   ? min_tiles
                           : tiles / wanted_tasks < max_tiles ? static_cast<int>(tiles / wanted_tasks)
                                                              : max_tiles;
    // The tasks of a row have about the same width.
    const int row_tiles = divide_up(args.out_width, tile_width),
              width = divide_up(row_tiles, divide_up(row_tiles, task_tiles)) * tile_width;
    return {height, width, rows, divide_up(args.out_width, width)};
}

long long warp_image_task_count(const native::WarpCall& call) {
    const auto args = read_record<WarpRecordBase>(call.record);
    if (args.samples * args.frames * args.channels * args.out_width * args.out_height == 0) return 0;
    const TaskGrid grid = task_grid(call, args);
    return args.samples * args.frames * grid.rows * grid.columns;
}

template <class R>
inline void warp_typed(const native::WarpCall& call, long long task, void* memory) {
    const auto args = read_record<WarpRecordBase>(call.record);
    const TaskGrid grid = task_grid(call, args);
    const long long task_row = task / grid.columns, frame = task_row / grid.rows, n = frame / args.frames,
                    t = frame - n * args.frames;
    const int left = static_cast<int>(task % grid.columns) * grid.task_width,
              top = static_cast<int>(task_row % grid.rows) * grid.task_height;
    const int width = min(grid.task_width, args.out_width - left),
              height = min(grid.task_height, args.out_height - top);
    if (call.sampler == sampler_of<Nearest> && call.in_dtype == call.out_dtype &&
        copy_strip<R>(call, args, n, t, left, width, top, height, *static_cast<NearestStripWorkspace*>(memory)))
        return;
    if constexpr (is_same_v<R, float>)
        if (call.sampler == sampler_of<Bilinear> && call.in_dtype == dtype_of<uint8> &&
            call.out_dtype == dtype_of<uint8> &&
            warp_strip(call, args, n, t, left, width, top, height, *static_cast<SeparableWorkspace*>(memory)))
            return;
    for (int x = 0; x < width; x += tile_width) {
        CoordinateTile<R> tile = {};
        tile.n = n, tile.t = t;
        tile.left = left + x, tile.top = top;
        tile.width = min(tile_width, width - x), tile.height = height;
        tile.task_right = left + width;
        warp_tile(call, args, tile, *static_cast<TileWorkspace<R>*>(memory));
    }
}

inline void warp_by_dtype(const native::WarpCall& call, long long task, void* memory) {
    if (call.in_dtype == dtype_of<float64>)
        warp_typed<double>(call, task, memory);
    else
        warp_typed<float>(call, task, memory);
}

// Changes the record so that its input is the window of sample n, the part of the image that the border surrounds
// (WarpRecord::window). The matrix then maps to coordinates that count from the first pixel of the window.
template <class Geometry>
inline void crop_to_window(const native::WarpCall& call, WarpRecord<Geometry>& record, long long n) {
    auto matrix = record.geometry.sample(n);
    auto crop = [&](int axis, int& size) {
        const double start = entry(record.window, n, axis), length = entry(record.window, n, 2 + axis);
        const int first = start < 0.0 ? 0 : start < size ? static_cast<int>(start) : size - 1;
        size = length < 1.0 ? 1 : length < size - first ? static_cast<int>(length) : size - first;
        return first;
    };
    const int top = crop(0, record.in_height), left = crop(1, record.in_width);
    if constexpr (is_same_v<Geometry, Perspective>) {
        matrix.a -= left * matrix.g, matrix.b -= left * matrix.h, matrix.c -= left * matrix.i;
        matrix.d -= top * matrix.g, matrix.e -= top * matrix.h, matrix.f -= top * matrix.i;
    } else {
        matrix.c -= left, matrix.f -= top;
    }
    memcpy(record.geometry.value, &matrix, sizeof(matrix));
    record.geometry.matrix.data = nullptr;
    record.geometry.inverse = 1;
    record.geometry.half_pixel_centers = 0;
    dispatch_dtype(call.in_dtype, [&](auto element) {
        record.in.data =
            static_cast<decltype(element)*>(record.in.data) + top * record.in.y_stride + left * record.in.x_stride;
    });
}

// In a ragged batch every sample has an image of its own size, and a sample may have a window: the task then works with
// a record of that image and window.
template <class Geometry>
inline void warp_matrix(native::WarpCall call, long long task, void* memory) {
    WarpRecord<Geometry> record;
    memcpy(&record, call.record, sizeof(record));
    if (record.window.data != nullptr || record.in_height == 0) {
        const TaskGrid grid = task_grid(call, record);
        const long long n = task / grid.columns / grid.rows / record.frames;
        select_ragged_image(record, n);
        if (record.window.data != nullptr) crop_to_window(call, record, n);
        call.record = &record;
    }
    warp_by_dtype(call, task, memory);
}

void warp_image_task(const native::WarpCall& call, long long task, void* memory) {
    dispatch_geometry(call.geometry, [&](auto geometry) {
        if constexpr (decltype(geometry)::has_tile_bounds)
            warp_matrix<decltype(geometry)>(call, task, memory);
        else
            warp_by_dtype(call, task, memory);
    });
}

}  // namespace cuaug
