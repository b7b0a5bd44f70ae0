#pragma once

#include "geometry/matrix3.cuh"
#include "records/parameter_table.cuh"

namespace cuaug {

// Numbers, points or a matrix of each sample. If `table.data` is null, all samples share `value`, which is indexed with
// the table's strides.
struct SampleNumbers {
    ParameterTable table;  // [N, rows, columns]
    double value[9];
    long long rows;  // of a matrix; else unused

    double at(long long n, long long row, long long column) const {
        const long long offset = row * table.y_stride + column * table.x_stride;
        return table.data == nullptr ? value[offset] : read(table, n * table.n_stride + offset);
    }

    // A 2x3 matrix gets the row (0, 0, 1).
    Matrix3 matrix(long long n) const {
        Matrix3 out = Matrix3::identity();
        for (int i = 0; i < 6; ++i) out.m[i] = at(n, i / 3, i % 3);
        for (int i = 6; rows == 3 && i < 9; ++i) out.m[i] = at(n, 2, i - 6);
        return out;
    }
};

constexpr int max_builder_inputs = 5, max_item_size = 9;

// The arguments of a matrix builder (matrices/builders.cuh), which computes one item per sample, or several: points.
struct MatrixBuilderRecord {
    SampleNumbers input[max_builder_inputs];
    void* out;      // [samples, items, item_size]
    int* failures;  // 0, or the number of the rule that the item's input breaks; null if unused [samples, items]
    long long samples;
    long long items;   // of a sample
    long long points;  // of a sample, to which a fit's item is fitted; 1 for other builders
    // Times the sum of the terms' absolute values, it bounds the rounding error of a short sum in the inputs' dtype.
    double error_bound;
    int item_size;  // numbers of an item
    int is_double;  // whether `out` is float64; else float32
    int option;     // described at the builder
    int input_count;
};

// Stores an item of the result; NaN if its input breaks a rule.
inline void store_item(const MatrixBuilderRecord& args, long long i, const double* item, int failure) {
    for (int j = 0; j < args.item_size; ++j) {
        const long long offset = i * args.item_size + j;
        const double number = failure ? static_cast<double>(bits_to_float(0x7fc00000u)) : item[j];
        if (args.is_double)
            static_cast<double*>(args.out)[offset] = number;
        else
            static_cast<float*>(args.out)[offset] = to_float32(number);
    }
    if (args.failures != nullptr) args.failures[i] = failure;
}

}  // namespace cuaug
