#pragma once

#include "matrices/centred_points.cuh"
#include "matrices/rotation.cuh"

namespace cuaug {

enum class FitKind { Affine, Similarity, Rigid };

// Weights of a sample's points, which sum to 1.
struct PointWeights {
    const SampleNumbers* weights;  // [P]; null: equal weights
    long long n;
    double factor;  // 1 / the total of the weights, or 1 / the number of points

    double operator()(long long k) const { return weights == nullptr ? factor : weights->at(n, 0, k) * factor; }
};

// The least-squares affine map, in the coordinates of `p` and `q`: offsets of both sets divided by the spread of the
// first. `moments`: weighted sums of the products p.x p.x, p.x p.y, p.y p.y, p.x q.x, p.x q.y. By Gram-Schmidt, because
// a solution through the determinant of the moments loses half of the digits for points near a line. xx * yy /
// mean_square is about the variance across the best line: it must exceed the squared error.
template <class Sum, class P, class Q>
inline bool fit_linear(long long points, const PointWeights& weight, const P& p, const Q& q, const double* moments,
                       double error, const Sum& sum, double* linear) {
    const double xx = moments[0], slope = moments[1] / xx, mean_square = moments[0] + moments[2];
    const auto residuals = sum.template total<3>(points, [&](long long k, double* term) {
        const Point<double> a = p(k), b = q(k);
        const double residual = a.y - slope * a.x, weighted = weight(k) * residual;
        term[0] = weighted * residual, term[1] = weighted * b.x, term[2] = weighted * b.y;
    });
    const double yy = residuals.value[0];
    for (int row = 0; row < 2; ++row) {
        const double y_column = residuals.value[1 + row] / yy;
        linear[2 * row] = moments[3 + row] / xx - slope * y_column, linear[2 * row + 1] = y_column;
    }
    return xx * yy > error * error * mean_square;
}

// The least-squares map of points to points. Inputs: points before and after [P, 2]; if there are three inputs, weights
// [P]. `option`: the FitKind. Rules: 1: the points before are not collinear (affine); 2: not coincident (other kinds);
// 3: a rotation is determined (rigid); 4: weights are not negative, nor all zero.
struct EstimateAffine {
    template <class Sum>
    static int fit(const MatrixBuilderRecord& args, long long n, const Sum& sum, double* matrix) {
        PointWeights weight = {args.input_count > 2 ? &args.input[2] : nullptr, n,
                               1.0 / static_cast<double>(args.points)};
        if (weight.weights != nullptr) {
            const auto checked = sum.template total<2>(args.points, [&](long long k, double* term) {
                term[0] = weight.weights->at(n, 0, k), term[1] = term[0] >= 0.0 ? 0.0 : 1.0;
            });
            if (!(checked.value[0] > 0.0 && checked.value[1] == 0.0)) return 4;
            weight.factor = 1.0 / checked.value[0];
        }
        CentredPoints start(args.input[0], n), end(args.input[1], n);
        centre_points(start, end, args.points, weight, args.error_bound, sum);
        const double unit = 1.0 / start.spread, error = start.coordinate_error * unit;
        const auto scaled = [&](const CentredPoints& points, long long k) {
            const Point<double> offset = points.offset(k);
            return Point<double>{offset.x * unit, offset.y * unit};
        };
        const auto p = [&](long long k) { return scaled(start, k); };
        const auto q = [&](long long k) { return scaled(end, k); };
        const auto moments = sum.template total<7>(args.points, [&](long long k, double* term) {
            const Point<double> a = p(k), b = q(k);
            const double x = weight(k) * a.x, y = weight(k) * a.y;
            term[0] = x * a.x, term[1] = x * a.y, term[2] = y * a.y;
            term[3] = x * b.x, term[4] = x * b.y, term[5] = y * b.x, term[6] = y * b.y;
        });
        const double* m = moments.value;
        const FitKind kind = static_cast<FitKind>(args.option);
        double linear[4];
        if (kind == FitKind::Affine) {
            if (!fit_linear(args.points, weight, p, q, m, error, sum, linear)) return 1;
        } else {
            // Points as complex numbers x + iy: the best z in q = z p is <p, q> / <p, p>, never a reflection.
            const double dot = m[3] + m[6], cross = m[4] - m[5], mean_square = m[0] + m[2];
            if (!(mean_square > error * error)) return 2;
            const double norm = kind == FitKind::Rigid ? sqrt(dot * dot + cross * cross) : mean_square;
            if (kind == FitKind::Rigid && !(norm > error + end.coordinate_error * unit)) return 3;
            linear[0] = linear[3] = dot / norm, linear[2] = cross / norm, linear[1] = -linear[2];
        }
        const Point<double> a = start.centre(), b = end.centre();
        store_affine(matrix, linear[0], linear[1], linear[2], linear[3], a.x, a.y, b.x, b.y);
        return 0;
    }

    static int build(const MatrixBuilderRecord& args, long long n, long long, double* matrix) {
        return fit(args, n, SerialSum(), matrix);
    }
};

}  // namespace cuaug
