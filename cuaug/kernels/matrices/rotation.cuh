#pragma once

#include "angle.cuh"

namespace cuaug {

struct CosineSine {
    double cosine, sine;
};

// Exactly 0, 1 or -1 for multiples of 90 degrees; for other angles as OpenCV, to the last bit. (`make_rotation` of
// detection/rotated_box.cuh reduces every angle first, so that its results have the symmetries of a quarter turn.)
inline CosineSine cosine_sine(double degrees) {
    if (fmod(degrees, 90.0) != 0.0) {  // also for infinities and NaN
        const double radians = degrees * radians_per_degree;
        return {cos(radians), sin(radians)};
    }
    const double turn = fmod(degrees, 360.0), quarter = (turn < 0.0 ? turn + 360.0 : turn) / 90.0;
    return {fabs(quarter - 2.0) - 1.0, 1.0 - fabs(quarter - 1.0)};
}

// The matrix with the linear part [[a, b], [c, d]] that maps one point to another.
inline void store_affine(double* item, double a, double b, double c, double d, double start_x, double start_y,
                         double end_x, double end_y) {
    item[0] = a, item[1] = b, item[2] = end_x - (a * start_x + b * start_y);
    item[3] = c, item[4] = d, item[5] = end_y - (c * start_x + d * start_y);
}

}  // namespace cuaug
