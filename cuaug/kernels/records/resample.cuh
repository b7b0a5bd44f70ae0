#pragma once

#include "records/batch.cuh"

namespace cuaug {

// Resizes a box of each sample. The result is the resized box, or a window of it, which may reach beyond the resized
// box: pixels there get the fill.
struct ResampleRecord : BatchWithFill {
    ParameterTable box;  // [N, 4]: top, left, height, width in pixels; data null: `value` serves all samples
    double value[4];
    ParameterTable op_parameters;  // [N, P]: the parameters of all ops on the resized images, in their order
    // Whether the result is a window. The table is then [N, 10]: after the box, for y and then for x, the size of the
    // resized box, a step of 1 or -1, and an origin. Pixel i of the result is pixel origin + step * i of the resized
    // box. If each sample's result has a size of its own (on a GPU: `OwnSize` of gpu/result_region.cuh), the table is
    // [N, 7]: after the box, the fields of `ResultPlacement`.
    int has_window;
    int antialias;  // widen the filter by the scale and drop taps outside the box; otherwise repeat the box's edge
};

// Entry k of a sample's box.
inline double box_entry(const ResampleRecord& record, long long n, int k) {
    return record.box.data != nullptr ? read(record.box, n * record.box.n_stride + k * record.box.x_stride)
                                      : record.value[k];
}

inline bool flips_vertically(const ResampleRecord& record, long long n) {
    return record.has_window && entry(record.box, n, 5) < 0.0;
}
inline bool flips_horizontally(const ResampleRecord& record, long long n) {
    return record.has_window && entry(record.box, n, 8) < 0.0;
}

// The size of a sample's result, which has no gaps, and its offset in elements.
struct ResultPlacement {
    int height, width;
    long long offset;
};

inline ResultPlacement result_placement(const ResampleRecord& record, long long n) {
    return {static_cast<int>(entry(record.box, n, 4)), static_cast<int>(entry(record.box, n, 5)),
            static_cast<long long>(entry(record.box, n, 6))};
}

// One axis of the window, before flips: pixels `first` .. `first` + out_size - 1 of the `box_size` pixels of the
// resized box.
struct AxisWindow {
    int first, box_size;
};

// `column`: the first column of the axis in the table.
inline AxisWindow axis_window(const ResampleRecord& record, long long n, int column, int out_size) {
    if (!record.has_window) return {0, out_size};
    const int origin = static_cast<int>(entry(record.box, n, column + 2)),
              before = entry(record.box, n, column + 1) < 0.0 ? out_size - 1 : 0;
    return {origin - before, static_cast<int>(entry(record.box, n, column))};
}

// Pixels begin .. end - 1 of an axis of a window.
struct AxisRange {
    int begin, end;

    int size() const { return end - begin; }
};

// The part of pixels begin .. end - 1 of the window that lies in the resized box; begin == end if there is none.
inline AxisRange range_in_box(const AxisWindow& window, int begin, int end) {
    const long long box_begin = -static_cast<long long>(window.first), box_end = box_begin + window.box_size,
                    first = box_begin < begin ? begin
                            : box_begin < end ? box_begin
                                              : end,
                    last = box_end < first ? first
                           : box_end < end ? box_end
                                           : end;
    return {static_cast<int>(first), static_cast<int>(last)};
}

inline AxisWindow window_rows(const ResampleRecord& record, long long n) {
    return axis_window(record, n, 4, record.out_height);
}
inline AxisWindow window_columns(const ResampleRecord& record, long long n) {
    return axis_window(record, n, 7, record.out_width);
}

}  // namespace cuaug
