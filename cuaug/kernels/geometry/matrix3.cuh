#pragma once

namespace cuaug {

// A map of each axis by itself: x to sx x + tx, y to sy y + ty.
struct AxisMap {
    double sx, tx, sy, ty;
};

// A 3x3 matrix, row by row, as a map of points.
struct Matrix3 {
    double m[9];

    static Matrix3 identity() { return {{1, 0, 0, 0, 1, 0, 0, 0, 1}}; }
    static Matrix3 affine(double a, double b, double c, double d, double e, double f) {
        return {{a, b, c, d, e, f, 0, 0, 1}};
    }

    // This map first, then `axes`.
    Matrix3 then(const AxisMap& axes) const {
        Matrix3 out = *this;
        for (int j = 0; j < 3; ++j) {
            out.m[j] = axes.tx * m[6 + j] + axes.sx * m[j];
            out.m[3 + j] = axes.ty * m[6 + j] + axes.sy * m[3 + j];
        }
        return out;
    }

    // `axes` first, then this map.
    Matrix3 after(const AxisMap& axes) const {
        Matrix3 out;
        for (int i = 0; i < 9; i += 3) {
            out.m[i] = m[i] * axes.sx;
            out.m[i + 1] = m[i + 1] * axes.sy;
            out.m[i + 2] = m[i] * axes.tx + m[i + 1] * axes.ty + m[i + 2];
        }
        return out;
    }
};

// `b` first, then `a`.
inline Matrix3 operator*(const Matrix3& a, const Matrix3& b) {
    Matrix3 out;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out.m[3 * i + j] = a.m[3 * i] * b.m[j] + a.m[3 * i + 1] * b.m[3 + j] + a.m[3 * i + 2] * b.m[6 + j];
    return out;
}

// The cofactor matrix: each row is the cross product of the two rows after it, cyclically.
inline Matrix3 cofactors(const Matrix3& matrix) {
    const double* m = matrix.m;
    return {{m[4] * m[8] - m[5] * m[7], m[5] * m[6] - m[3] * m[8], m[3] * m[7] - m[4] * m[6], m[7] * m[2] - m[8] * m[1],
             m[8] * m[0] - m[6] * m[2], m[6] * m[1] - m[7] * m[0], m[1] * m[5] - m[2] * m[4], m[2] * m[3] - m[0] * m[5],
             m[0] * m[4] - m[1] * m[3]}};
}

}  // namespace cuaug
