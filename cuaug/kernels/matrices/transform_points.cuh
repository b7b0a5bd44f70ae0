#pragma once

#include "records/matrix_builder.cuh"

namespace cuaug {

// An item is a point. Inputs: points [N, P, 2]; a matrix. On the horizon of a 3x3 matrix the depth is 0: coordinates
// are infinite, or NaN for 0 / 0.
struct TransformPoints {
    static int build(const MatrixBuilderRecord& args, long long n, long long k, double* item) {
        const Matrix3 matrix = args.input[1].matrix(n);
        const double* m = matrix.m;
        const double x = args.input[0].at(n, k, 0), y = args.input[0].at(n, k, 1);
        item[0] = m[0] * x + m[1] * y + m[2], item[1] = m[3] * x + m[4] * y + m[5];
        if (args.input[1].rows == 3) {
            const double depth = m[6] * x + m[7] * y + m[8];
            item[0] /= depth, item[1] /= depth;
        }
        return 0;
    }
};

}  // namespace cuaug
