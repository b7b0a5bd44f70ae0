#pragma once

#include "matrices/invert_affine.cuh"

namespace cuaug {

// Inputs: a matrix; the changes of coordinates before and after the matrix, (sx, tx, sy, ty) each. `option`: whether to
// invert the product.
struct ConvertMatrix {
    static int build(const MatrixBuilderRecord& args, long long n, long long, double* item) {
        const auto change = [&](int i) {
            const SampleNumbers& changes = args.input[1];
            return AxisMap{changes.at(n, 0, i), changes.at(n, 0, i + 1), changes.at(n, 0, i + 2),
                           changes.at(n, 0, i + 3)};
        };
        const Matrix3 converted = args.input[0].matrix(n).after(change(0)).then(change(4));
        if (args.option) return store_inverse(converted, args.error_bound, item);
        for (int i = 0; i < 9; ++i) item[i] = converted.m[i];
        return 0;
    }
};

}  // namespace cuaug
