#pragma once

#include "records/matrix_builder.cuh"

namespace cuaug {

// Stores the inverse. The expansion along each row gives the determinant: if one of the three expansions differs from 0
// by no more than its rounding error, the matrix is singular, which breaks rule 1.
inline int store_inverse(const Matrix3& matrix, double error_bound, double* item) {
    const Matrix3 c = cofactors(matrix);
    double determinant = 0.0;
    for (int i = 6; i >= 0; i -= 3) {
        const double p = matrix.m[i] * c.m[i], q = matrix.m[i + 1] * c.m[i + 1], r = matrix.m[i + 2] * c.m[i + 2];
        determinant = p + q + r;
        if (!(fabs(determinant) > error_bound * (fabs(p) + fabs(q) + fabs(r)))) return 1;
    }
    for (int i = 0; i < 9; ++i) item[i] = c.m[i % 3 * 3 + i / 3] / determinant;
    return 0;
}

// Input: a matrix.
struct InvertAffine {
    static int build(const MatrixBuilderRecord& args, long long n, long long, double* item) {
        return store_inverse(args.input[0].matrix(n), args.error_bound, item);
    }
};

}  // namespace cuaug
