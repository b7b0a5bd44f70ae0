#pragma once

#include "matrices/rotation.cuh"
#include "records/matrix_builder.cuh"

namespace cuaug {

// Rotation by an angle in degrees, counter-clockwise, and scale about a centre. Inputs: angle, scale, centre [2].
struct GetRotationMatrix {
    static int build(const MatrixBuilderRecord& args, long long n, long long, double* item) {
        const auto [cosine, sine] = cosine_sine(args.input[0].at(n, 0, 0));
        const double scale = args.input[1].at(n, 0, 0), c = scale * cosine, s = scale * sine;
        const double x = args.input[2].at(n, 0, 0), y = args.input[2].at(n, 0, 1);
        store_affine(item, c, s, -s, c, x, y, x, y);
        return 0;
    }
};

}  // namespace cuaug
