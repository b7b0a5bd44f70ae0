#pragma once

#include "matrices/rotation.cuh"
#include "records/matrix_builder.cuh"

namespace cuaug {

// torchvision's affine: the matrix product translate * rotate * scale * shear_y * shear_x, the last four about a centre
// that is measured from the image's corner. Inputs: angle in degrees, clockwise; translation [2]; scale; shear in
// degrees [2]; centre [2].
struct AffineMatrix {
    static int build(const MatrixBuilderRecord& args, long long n, long long, double* item) {
        const double slope_x = tan(args.input[3].at(n, 0, 0) * radians_per_degree),
                     slope_y = tan(args.input[3].at(n, 0, 1) * radians_per_degree);
        const auto [cosine, sine] = cosine_sine(args.input[0].at(n, 0, 0));
        const double scale = args.input[2].at(n, 0, 0), scaled_cosine = scale * cosine, scaled_sine = scale * sine;
        const double a = scaled_cosine + scaled_sine * slope_y, c = scaled_sine - scaled_cosine * slope_y;
        const double b = -a * slope_x - scaled_sine, d = scaled_cosine - c * slope_x;
        const double x = args.input[4].at(n, 0, 0) - 0.5, y = args.input[4].at(n, 0, 1) - 0.5;
        store_affine(item, a, b, c, d, x, y, x + args.input[1].at(n, 0, 0), y + args.input[1].at(n, 0, 1));
        return 0;
    }
};

}  // namespace cuaug
