#pragma once

#include "records/matrix_builder.cuh"

namespace cuaug {

// Inputs: `input_count` numbers, which become one row.
struct StackNumbers {
    static int build(const MatrixBuilderRecord& args, long long n, long long, double* item) {
        for (int i = 0; i < args.input_count; ++i) item[i] = args.input[i].at(n, 0, 0);
        return 0;
    }
};

}  // namespace cuaug
