#pragma once

#include "geometry/tile_map.cuh"
#include "records/matrix_builder.cuh"

namespace cuaug {

// Points of a sample relative to their weighted centre, and two lengths in pixels that show whether they are
// degenerate.
struct CentredPoints {
    const SampleNumbers* points;  // [P, 2]
    long long n;
    Point<double> first;
    Point<double> shift;      // from the first point to the centre
    double spread;            // weighted mean of |x| + |y| over the offsets
    double coordinate_error;  // bound of the rounding error of the coordinates

    CentredPoints(const SampleNumbers& points, long long n)
        : points(&points),
          n(n),
          first{points.at(n, 0, 0), points.at(n, 0, 1)},
          shift{0.0, 0.0},
          spread(0.0),
          coordinate_error(0.0) {}

    // From the centre, once it is known; before, from the first point: a sum over many points at (3000, 3000) would
    // lose digits.
    Point<double> offset(long long k) const {
        return {points->at(n, k, 0) - first.x - shift.x, points->at(n, k, 1) - first.y - shift.y};
    }

    Point<double> centre() const { return {first.x + shift.x, first.y + shift.y}; }

    void set_spread(double mean, double error_bound) {
        const Point<double> c = centre();
        spread = mean;
        coordinate_error = error_bound * (fabs(c.x) + fabs(c.y) + spread);
    }
};

// Totals of several terms over the points of a sample.
template <int Count>
struct Totals {
    double value[Count];
};

// Adds the terms of one point after another. `terms(k, out)` stores the terms of point k.
struct SerialSum {
    template <int Count, class Terms>
    Totals<Count> total(long long points, const Terms& terms) const {
        Totals<Count> totals = {};
        for (long long k = 0; k < points; ++k) {
            double term[Count];
            terms(k, term);
            for (int j = 0; j < Count; ++j) totals.value[j] += term[j];
        }
        return totals;
    }
};

// Finds centre and spread of two sets of points with the same weights, which sum to 1.
template <class Sum, class Weight>
inline void centre_points(CentredPoints& a, CentredPoints& b, long long points, const Weight& weight,
                          double error_bound, const Sum& sum) {
    const auto shift = sum.template total<4>(points, [&](long long k, double* term) {
        const double w = weight(k);
        const Point<double> p = a.offset(k), q = b.offset(k);
        term[0] = w * p.x, term[1] = w * p.y, term[2] = w * q.x, term[3] = w * q.y;
    });
    a.shift = {shift.value[0], shift.value[1]}, b.shift = {shift.value[2], shift.value[3]};
    const auto spread = sum.template total<2>(points, [&](long long k, double* term) {
        const double w = weight(k);
        const Point<double> p = a.offset(k), q = b.offset(k);
        term[0] = w * (fabs(p.x) + fabs(p.y)), term[1] = w * (fabs(q.x) + fabs(q.y));
    });
    a.set_spread(spread.value[0], error_bound), b.set_spread(spread.value[1], error_bound);
}

}  // namespace cuaug
