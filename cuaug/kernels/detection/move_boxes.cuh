#pragma once

#include "geometry/matrix3.cuh"
#include "records/move_boxes.cuh"

// The rules are those of `Boxes` (transforms/boxes.py), which has the same steps as operations on arrays.

namespace cuaug {

struct BoxEdges {
    double left, top, right, bottom;

    double width() const { return right - left; }
    double height() const { return bottom - top; }
    double area() const { return width() * height(); }
};

inline double smaller(double a, double b) { return a < b ? a : b; }
inline double larger(double a, double b) { return a > b ? a : b; }
inline bool is_finite(double value) { return value - value == 0.0; }

inline bool is_finite(const BoxEdges& box) {
    return is_finite(box.left) && is_finite(box.top) && is_finite(box.right) && is_finite(box.bottom);
}

inline BoxEdges edges_of(const double* numbers, int format) {
    if (format == xyxy) return {numbers[0], numbers[1], numbers[2], numbers[3]};
    const double left = format == cxcywh ? numbers[0] - 0.5 * numbers[2] : numbers[0],
                 top = format == cxcywh ? numbers[1] - 0.5 * numbers[3] : numbers[1];
    return {left, top, left + numbers[2], top + numbers[3]};
}

inline void numbers_of(const BoxEdges& box, int format, double* numbers) {
    numbers[0] = box.left, numbers[1] = box.top, numbers[2] = box.right, numbers[3] = box.bottom;
    if (format == xyxy) return;
    numbers[2] = box.width(), numbers[3] = box.height();
    if (format == cxcywh) numbers[0] += 0.5 * numbers[2], numbers[1] += 0.5 * numbers[3];
}

inline BoxEdges clip(const BoxEdges& box, const BoxEdges& canvas) {
    return {smaller(larger(box.left, canvas.left), canvas.right), smaller(larger(box.top, canvas.top), canvas.bottom),
            smaller(larger(box.right, canvas.left), canvas.right),
            smaller(larger(box.bottom, canvas.top), canvas.bottom)};
}

inline BoxEdges read_edges(const TypedArray& rectangles, long long n) {
    const long long offset = n * rectangles.n_stride, step = rectangles.k_stride;
    return {read_number(rectangles, offset), read_number(rectangles, offset + step),
            read_number(rectangles, offset + 2 * step), read_number(rectangles, offset + 3 * step)};
}

inline BoxEdges canvas_of(const BoxMove& move, long long n) {
    if (move.canvases.data != nullptr) return read_edges(move.canvases, n);
    return {move.canvas[0], move.canvas[1], move.canvas[2], move.canvas[3]};
}

inline Matrix3 read_matrix(const TypedArray& matrices, long long n) {
    Matrix3 out;
    for (int i = 0; i < 9; ++i)
        out.m[i] = read_number(matrices, n * matrices.n_stride + i / 3 * matrices.k_stride + i % 3 * matrices.x_stride);
    return out;
}

// A box while the moves are applied to it, one after the other.
struct MovingBox {
    BoxEdges edges;
    bool usable;  // false once the box is empty, not finite, outside a canvas, or has a corner beyond the horizon
    double visible_before_last;  // the fraction of its area that all clips but the last canvas's leave

    void clip_to(const BoxEdges& canvas) {
        const BoxEdges clipped = clip(edges, canvas);
        const double area = edges.area(), visible = clipped.area();
        usable = usable && visible > 0.0;
        visible_before_last *= usable ? visible / area : 0.0;
        edges = clipped;
    }

    void move(const BoxMove& move, long long n) {
        const Matrix3 matrix = read_matrix(move.matrices, n);
        if (move.is_scale_and_shift)
            scale_and_shift(matrix.m);
        else if (move.is_affine)
            move_affinely(matrix.m);
        else
            move_in_perspective(matrix, canvas_of(move, n));
        if (!usable) edges = {0.0, 0.0, 0.0, 0.0};
    }

private:
    void scale_and_shift(const double* m) {
        const double shift_x = m[2] + 0.5 - 0.5 * m[0], shift_y = m[5] + 0.5 - 0.5 * m[4];
        edges = {edges.left * m[0] + shift_x, edges.top * m[4] + shift_y, edges.right * m[0] + shift_x,
                 edges.bottom * m[4] + shift_y};
    }

    // Each moved coordinate is a term in x plus a term in y. The terms vary independently, so the least sum is the sum
    // of the least terms.
    void move_affinely(const double* m) {
        auto extremes = [&](const double* row, double& least, double& largest) {
            const double left = (edges.left - 0.5) * row[0], right = (edges.right - 0.5) * row[0],
                         top = (edges.top - 0.5) * row[1], bottom = (edges.bottom - 0.5) * row[1];
            least = smaller(left, right) + smaller(top, bottom) + row[2] + 0.5;
            largest = larger(left, right) + larger(top, bottom) + row[2] + 0.5;
        };
        BoxEdges moved;
        extremes(m, moved.left, moved.right);
        extremes(m + 3, moved.top, moved.bottom);
        usable = usable && is_finite(moved);
        edges = moved;
    }

    // The box becomes unusable if a corner is not on the side of the horizon that the canvas shows: if the depths of
    // the corner and of the source point that moves to the canvas's middle have different signs. The latter depth is
    // the determinant over `inverse_depth`, the depth of the middle under the adjugate matrix.
    void move_in_perspective(const Matrix3& matrix, const BoxEdges& canvas) {
        const double* m = matrix.m;
        const double x = (canvas.left + canvas.right - 1.0) / 2.0, y = (canvas.top + canvas.bottom - 1.0) / 2.0;
        const Matrix3 c = cofactors(matrix);
        const double determinant = m[0] * c.m[0] + m[1] * c.m[1] + m[2] * c.m[2];
        const double inverse_depth = c.m[2] * x + c.m[5] * y + c.m[8];
        const double visible_side = inverse_depth * determinant;
        BoxEdges moved = {0.0, 0.0, 0.0, 0.0};
        for (int i = 0; i < 4; ++i) {
            const double corner_x = (i == 1 || i == 2 ? edges.right : edges.left) - 0.5,
                         corner_y = (i > 1 ? edges.bottom : edges.top) - 0.5;
            const double depth = m[6] * corner_x + m[7] * corner_y + m[8];
            usable = usable && depth * visible_side > 0.0;
            const double moved_x = (m[0] * corner_x + m[1] * corner_y + m[2]) / depth + 0.5,
                         moved_y = (m[3] * corner_x + m[4] * corner_y + m[5]) / depth + 0.5;
            moved.left = i == 0 ? moved_x : smaller(moved.left, moved_x);
            moved.right = i == 0 ? moved_x : larger(moved.right, moved_x);
            moved.top = i == 0 ? moved_y : smaller(moved.top, moved_y);
            moved.bottom = i == 0 ? moved_y : larger(moved.bottom, moved_y);
        }
        edges = moved;
    }
};

// Boxes are float32, float64, int16, int32 or int64.
inline double read_box_number(const TypedArray& boxes, long long offset) {
    return boxes.dtype_code < 4 ? read_number(boxes, offset) : static_cast<double>(read_int(boxes, offset));
}

// Rounds and clamps a number for an integer dtype: to the range of int16, or to +-2^30 for int32 and int64, which is
// beyond the sides of every image.
inline double limited_to_dtype(double number, long long dtype_code) {
    const double most = dtype_code == 5 ? 32767.0 : 1073741824.0, least = dtype_code == 5 ? -32768.0 : -1073741824.0;
    return smaller(larger(rint(number), least), most);
}

inline void store_box_number(void* out, long long dtype_code, long long offset, double number) {
    switch (dtype_code) {
        case 2:
            static_cast<float*>(out)[offset] = to_float32(number);
            break;
        case 3:
            static_cast<double*>(out)[offset] = number;
            break;
        case 5:
            static_cast<int16*>(out)[offset] = static_cast<int16>(number);
            break;
        case 6:
            static_cast<int32*>(out)[offset] = static_cast<int32>(number);
            break;
        default:
            static_cast<int64*>(out)[offset] = static_cast<int64>(number);
    }
}

// Moves box `i`, counted over all rows, and stores it and whether it is valid.
inline void move_box(const MoveBoxesRecord& args, long long i) {
    const long long row = i / args.boxes_per_row, column = i % args.boxes_per_row,
                    n = args.row_samples == nullptr ? row : args.row_samples[row];
    const long long offset = row * args.boxes.n_stride + column * args.boxes.k_stride;
    const bool is_integer = args.boxes.dtype_code >= 4;
    double numbers[4];
    for (int k = 0; k < 4; ++k) numbers[k] = read_box_number(args.boxes, offset + k * args.boxes.x_stride);

    MovingBox box = {edges_of(numbers, args.format), true, 1.0};
    box.usable = is_finite(box.edges) && box.edges.width() > 0.0 && box.edges.height() > 0.0;
    if (!box.usable) box.edges = {0.0, 0.0, 0.0, 0.0};
    for (int j = 0; j < args.move_count; ++j) {
        const BoxMove& move = args.move[j];
        if (j > 0) box.clip_to(canvas_of(args.move[j - 1], n));
        if (move.source_boxes.data != nullptr) box.clip_to(read_edges(move.source_boxes, n));
        box.move(move, n);
    }

    BoxEdges moved = box.edges;
    // Rounds the edges, so that width and height agree with them; not for cxcywh, as edges may lie between pixels.
    if (is_integer && args.format != cxcywh)
        moved = {rint(moved.left), rint(moved.top), rint(moved.right), rint(moved.bottom)};
    BoxEdges visible = clip(moved, canvas_of(args.move[args.move_count - 1], n));
    numbers_of(visible, args.format, numbers);
    if (is_integer) {
        for (double& number : numbers) number = rint(number);
        visible = edges_of(numbers, args.format);
    }
    const double visible_area = visible.area();
    double area = visible_area;
    if (is_integer) {
        for (double& number : numbers) number = limited_to_dtype(number, args.boxes.dtype_code);
        area = edges_of(numbers, args.format).area();
    }
    for (int k = 0; k < 4; ++k) store_box_number(args.out, args.boxes.dtype_code, 4 * i + k, numbers[k]);
    args.valid[i] =
        box.usable && area > 0.0 && area >= args.min_area &&
        // Not compared without a limit, because 0 times an infinite area is NaN.
        (args.min_visibility == 0.0 || visible_area * box.visible_before_last >= args.min_visibility * moved.area()) &&
        (args.given_valid.data == nullptr ||
         read_int(args.given_valid, row * args.given_valid.n_stride + column * args.given_valid.k_stride) != 0);
}

}  // namespace cuaug
