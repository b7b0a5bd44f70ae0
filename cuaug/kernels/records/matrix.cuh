#pragma once

#include "records/parameter_table.cuh"

namespace cuaug {

// Matrices of three columns: one per sample, or one for all samples in the record itself.
template <int Rows>
struct MatrixParameter {
    ParameterTable matrix;  // [N, Rows, 3]; data null: `value` serves all samples
    double value[3 * Rows];
    int inverse;             // whether the matrix maps destination to source
    int half_pixel_centers;  // whether pixel centres are at +0.5

    static constexpr int entries = 3 * Rows;

    // An entry as it was loaded. Loading and converting are two steps, so that other work overlaps the load.
    struct RawEntry {
        double f64;
        float f32;
    };

    // Entry i, counted by rows, of sample n's matrix.
    RawEntry load(long long n, int i) const {
        if (matrix.data == nullptr) return {value[i], 0.0f};
        const int row = i / 3, column = i - 3 * row;
        const long long offset = n * matrix.n_stride + row * matrix.y_stride + column * matrix.x_stride;
        if (matrix.is_double) return {static_cast<const double*>(matrix.data)[offset], 0.0f};
        return {0.0, static_cast<const float*>(matrix.data)[offset]};
    }

    double to_double(const RawEntry& raw) const {
        return matrix.data == nullptr || matrix.is_double ? raw.f64 : to_float64(raw.f32);
    }

    double entry(long long n, int i) const { return to_double(load(n, i)); }
};

}  // namespace cuaug
