#pragma once

#include "records/matrix_builder.cuh"

namespace cuaug {

// Inputs: `input_count` matrices; the first is applied first.
struct ComposeAffine {
    static int build(const MatrixBuilderRecord& args, long long n, long long, double* item) {
        Matrix3 product = args.input[0].matrix(n);
        for (int i = 1; i < args.input_count; ++i) product = args.input[i].matrix(n) * product;
        for (int i = 0; i < 9; ++i) item[i] = product.m[i];
        return 0;
    }
};

}  // namespace cuaug
