#pragma once

#include "matrices/centred_points.cuh"

namespace cuaug {

// Four points as a projective basis.
struct Quad {
    Matrix3 corners;    // the first three points, homogeneous, relative to the centre, divided by the spread
    Matrix3 lines;      // the line opposite each corner
    double areas[3];    // the signed areas of the triangles of each line with the fourth point, times 2
    AxisMap to_pixels;  // maps the corners' coordinates to pixels
    bool valid;         // no three points are collinear

    explicit Quad(const CentredPoints& points) {
        Point<double> corner[4];
        for (int k = 0; k < 4; ++k) {
            const Point<double> offset = points.offset(k);
            corner[k] = {offset.x / points.spread, offset.y / points.spread};
        }
        corners = {{corner[0].x, corner[0].y, 1, corner[1].x, corner[1].y, 1, corner[2].x, corner[2].y, 1}};
        lines = cofactors(corners);
        const double error = points.coordinate_error / points.spread;
        valid = true;
        for (int i = 0; i < 3; ++i) {
            const double* line = lines.m + 3 * i;
            areas[i] = line[0] * corner[3].x + line[1] * corner[3].y + line[2];
            valid = valid && fabs(areas[i]) > error;
        }
        // The three areas add up to that of the triangle of the first three points.
        valid = valid && fabs(areas[0] + areas[1] + areas[2]) > error;
        const Point<double> centre = points.centre();
        to_pixels = {points.spread, centre.x, points.spread, centre.y};
    }
};

// Inputs: four points before and after [4, 2]. Returns 1 if three of the points
// before are collinear, 2 if three of those after are, otherwise 0.
struct GetPerspectiveTransform {
    static int build(const MatrixBuilderRecord& args, long long n, long long, double* item) {
        CentredPoints before(args.input[0], n), after(args.input[1], n);
        centre_points(before, after, 4, [](long long) { return 0.25; }, args.error_bound, SerialSum());
        const Quad start(before), end(after);
        if (!start.valid || !end.valid) return start.valid ? 2 : 1;
        // The matrix maps each corner of `start` to a multiple of the same corner of `end`, because the line opposite a
        // corner is 0 at the other two corners. The ratios of the areas map the fourth point to the fourth point.
        Matrix3 matrix = {};
        for (int corner = 0; corner < 9; corner += 3) {
            const double ratio = end.areas[corner / 3] / start.areas[corner / 3];
            for (int i = 0; i < 9; ++i)
                matrix.m[i] += end.corners.m[corner + i / 3] * (ratio * start.lines.m[corner + i % 3]);
        }
        const AxisMap& t = start.to_pixels;
        matrix = matrix.after({1.0 / t.sx, -t.tx / t.sx, 1.0 / t.sy, -t.ty / t.sy}).then(end.to_pixels);
        const double last = matrix.m[8] == 0.0 ? 1.0 : matrix.m[8];
        for (int i = 0; i < 9; ++i) item[i] = matrix.m[i] / last;
        return 0;
    }
};

}  // namespace cuaug
