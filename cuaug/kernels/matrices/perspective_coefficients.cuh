#pragma once

#include "records/matrix_builder.cuh"

namespace cuaug {

// Input: the first eight entries of a matrix whose last entry is 1, row by row.
struct PerspectiveCoefficients {
    static int build(const MatrixBuilderRecord& args, long long n, long long, double* item) {
        for (int i = 0; i < 8; ++i) item[i] = args.input[0].at(n, 0, i);
        item[8] = 1.0;
        return 0;
    }
};

}  // namespace cuaug
