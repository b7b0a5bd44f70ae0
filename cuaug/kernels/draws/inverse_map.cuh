#pragma once

#include "angle.cuh"
#include "geometry/matrix3.cuh"

// Maps from the coordinates of an op's result back to those of its input; pixel centers are at integers.

namespace cuaug {

using InverseMap = Matrix3;

// The matrix inverse, by the adjugate.
inline InverseMap invert(const InverseMap& map) {
    const Matrix3 c = cofactors(map);
    const double scale = 1.0 / (map.m[0] * c.m[0] + map.m[1] * c.m[1] + map.m[2] * c.m[2]);
    InverseMap out;
    for (int i = 0; i < 9; ++i) out.m[i] = c.m[i % 3 * 3 + i / 3] * scale;
    return out;
}

inline bool is_finite(const InverseMap& map) {
    double sum = 0.0;
    for (int i = 0; i < 9; ++i) sum += map.m[i];
    return sum - sum == 0.0;
}

// a / b, correctly rounded, from the correctly rounded 1 / b (Markstein 1990): a fifth of a division's instructions on
// a GPU.
inline double divide(double a, double b, double reciprocal) {
    const double estimate = a * reciprocal;
    return fma(fma(-estimate, b, a), reciprocal, estimate);
}

// Inverse of cropping a box and resizing it; a pixel of the result covers sy x sx pixels of the input.
inline AxisMap inverse_crop_resize(double top, double left, double sy, double sx) {
    return {sx, left + 0.5 * sx - 0.5, sy, top + 0.5 * sy - 0.5};
}

// Inverse of torchvision's affine: rotation by `angle` (degrees, clockwise) and shear about a center, scale, then
// translation. The forward matrix is T(center + translation) rotation scale shear T(-center), T for a translation.
inline InverseMap inverse_affine(double angle, double shift_x, double shift_y, double scale, double shear_x,
                                 double shear_y, double center_x, double center_y) {
    if (angle == 0.0 && shear_x == 0.0 && shear_y == 0.0 && scale == 1.0)
        return InverseMap::affine(1, 0, -shift_x, 0, 1, -shift_y);
    const double rotation = angle * radians_per_degree, sx = shear_x * radians_per_degree,
                 sy = shear_y * radians_per_degree;
    const double a = cos(rotation - sy) / cos(sy), b = -cos(rotation - sy) * tan(sx) / cos(sy) - sin(rotation);
    const double c = sin(rotation - sy) / cos(sy), d = -sin(rotation - sy) * tan(sx) / cos(sy) + cos(rotation);
    const double ia = d / scale, ib = -b / scale, ic = -c / scale, id = a / scale;
    const double x = center_x + shift_x, y = center_y + shift_y;
    return InverseMap::affine(ia, ib, center_x - ia * x - ib * y, ic, id, center_y - ic * x - id * y);
}

// Inverse of torchvision's perspective: the corners of the canvas (top left, top right, bottom right, bottom left) move
// inwards by (x, y) pixels each. The map of the unit square to the moved corners is that of Heckbert 1989, p. 19.
inline InverseMap inverse_perspective(const double* inwards, int height, int width) {
    bool moved = false;
    double x[4], y[4];
    for (int i = 0; i < 4; ++i) {
        const bool right = i == 1 || i == 2, bottom = i > 1;
        x[i] = right ? width - 1 - inwards[2 * i] : inwards[2 * i];
        y[i] = bottom ? height - 1 - inwards[2 * i + 1] : inwards[2 * i + 1];
        moved = moved || inwards[2 * i] != 0.0 || inwards[2 * i + 1] != 0.0;
    }
    if (!moved || width < 2 || height < 2) return InverseMap::identity();  // one row or column has no quadrilateral
    const double dx1 = x[1] - x[2], dx2 = x[3] - x[2], dx3 = x[0] - x[1] + x[2] - x[3];
    const double dy1 = y[1] - y[2], dy2 = y[3] - y[2], dy3 = y[0] - y[1] + y[2] - y[3];
    const double scale = 1.0 / (dx1 * dy2 - dx2 * dy1), g = (dx3 * dy2 - dx2 * dy3) * scale,
                 h = (dx1 * dy3 - dx3 * dy1) * scale;
    const Matrix3 from_unit_square = {{x[1] - x[0] + g * x[1], x[3] - x[0] + h * x[3], x[0], y[1] - y[0] + g * y[1],
                                       y[3] - y[0] + h * y[3], y[0], g, h, 1}};
    Matrix3 forward = from_unit_square;
    for (int i = 0; i < 9; i += 3) forward.m[i] *= 1.0 / (width - 1.0), forward.m[i + 1] *= 1.0 / (height - 1.0);
    // The corners are given relative to the image's top left corner, where pixel centers are at +0.5.
    InverseMap inverse = invert(forward).then({1.0, -0.5, 1.0, -0.5});
    for (int i = 0; i < 9; i += 3) inverse.m[i + 2] = inverse.m[i] * 0.5 + inverse.m[i + 1] * 0.5 + inverse.m[i + 2];
    // The image stays as it is if corners meet or lie on a line, as there is no map then, and also if they nearly do,
    // as the map cannot be inverted.
    return is_finite(inverse) && is_finite(invert(inverse)) ? inverse : InverseMap::identity();
}

}  // namespace cuaug
