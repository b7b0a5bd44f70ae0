#pragma once

#include "angle.cuh"

// Boxes rotated about their centers by degrees, counterclockwise as the image is seen (detectron2's convention), in
// double precision: the area of an intersection is a difference of large numbers.

namespace cuaug {

struct Rotation {
    double cosine, sine;
};

// Exact at right angles.
inline Rotation make_rotation(double degrees) {
    const double quarters = floor(degrees / 90.0 + 0.5), radians = (degrees - 90.0 * quarters) * radians_per_degree;
    const double c = cos(radians), s = sin(radians), quarter = quarters - 4.0 * floor(quarters / 4.0);
    if (quarter == 1.0) return {-s, c};
    if (quarter == 2.0) return {-c, -s};
    return quarter == 3.0 ? Rotation{s, -c} : Rotation{c, s};
}

struct RotatedBox {
    double x, y, width, height;
    Rotation rotation;
};

inline double area_of(const RotatedBox& box) { return box.width * box.height; }

struct Corner {
    double x, y;
};

// Clips a convex polygon: keeps what lies where sign * coordinate <= limit, along x or y. The result has at most one
// corner more.
template <bool along_x>
inline int clip(const Corner* in, int count, double sign, double limit, Corner* out) {
    int corners = 0;
    for (int i = 0; i < count; ++i) {
        const Corner p = in[i], q = in[i + 1 < count ? i + 1 : 0];
        const double p_distance = limit - sign * (along_x ? p.x : p.y),
                     q_distance = limit - sign * (along_x ? q.x : q.y);
        if (p_distance >= 0) out[corners++] = p;
        if ((p_distance > 0 && q_distance < 0) || (p_distance < 0 && q_distance > 0)) {
            const double fraction = p_distance / (p_distance - q_distance);
            out[corners++] = {along_x ? sign * limit : p.x + fraction * (q.x - p.x),
                              along_x ? p.y + fraction * (q.y - p.y) : sign * limit};
        }
    }
    return corners;
}

// The area of the intersection of two boxes: the second, in coordinates of the first, is clipped at the first one's
// four sides (Sutherland and Hodgman 1974).
inline double intersection_area(const RotatedBox& a, const RotatedBox& b) {
    if (!(a.width > 0 && a.height > 0 && b.width > 0 && b.height > 0)) return 0;
    const double dx = b.x - a.x, dy = b.y - a.y;
    const double diagonals =
        sqrt(a.width * a.width + a.height * a.height) + sqrt(b.width * b.width + b.height * b.height);
    if (dx * dx + dy * dy > diagonals * diagonals / 4) return 0;
    const double x = dx * a.rotation.cosine - dy * a.rotation.sine, y = dy * a.rotation.cosine + dx * a.rotation.sine;
    const double cosine = a.rotation.cosine * b.rotation.cosine + a.rotation.sine * b.rotation.sine,
                 sine = b.rotation.sine * a.rotation.cosine - b.rotation.cosine * a.rotation.sine;
    Corner corners[8], clipped[8];
    for (int i = 0; i < 4; ++i) {
        const double u = i == 0 || i == 3 ? -b.width / 2 : b.width / 2, v = i < 2 ? -b.height / 2 : b.height / 2;
        corners[i] = {x + u * cosine + v * sine, y + v * cosine - u * sine};
    }
    int count = clip<true>(corners, 4, 1, a.width / 2, clipped);
    count = clip<true>(clipped, count, -1, a.width / 2, corners);
    count = clip<false>(corners, count, 1, a.height / 2, clipped);
    count = clip<false>(clipped, count, -1, a.height / 2, corners);
    double twice_area = 0;
    for (int i = 2; i < count; ++i) {
        const Corner p = {corners[i - 1].x - corners[0].x, corners[i - 1].y - corners[0].y},
                     q = {corners[i].x - corners[0].x, corners[i].y - corners[0].y};
        twice_area += p.x * q.y - p.y * q.x;
    }
    // Rounding must not make an IoU exceed 1.
    const double area = fabs(twice_area) / 2, smaller_area = fmin(area_of(a), area_of(b));
    return area > smaller_area ? smaller_area : area;
}

// Intersection over union; 0 / 0 is 0.
inline double iou(const RotatedBox& a, const RotatedBox& b) {
    const double intersection = intersection_area(a, b), union_area = area_of(a) + area_of(b) - intersection;
    return intersection == 0 && union_area == 0 ? 0 : intersection / union_area;
}

}  // namespace cuaug
