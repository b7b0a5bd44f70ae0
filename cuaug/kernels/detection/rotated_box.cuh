#pragma once

// Boxes turned about their centres, by degrees against the clock as the image is seen (detectron2's convention), in
// double precision: what is left of one inside another is a difference of large numbers.

namespace cuaug {

struct Turn {
    double cosine, sine;
};

// Exact at right angles.
inline Turn turn(double degrees) {
    const double quarters = floor(degrees / 90.0 + 0.5), rest = (degrees - 90.0 * quarters) * 0.017453292519943295;
    const double c = cos(rest), s = sin(rest), quarter = quarters - 4.0 * floor(quarters / 4.0);
    if (quarter == 1.0) return {-s, c};
    if (quarter == 2.0) return {-c, -s};
    return quarter == 3.0 ? Turn{s, -c} : Turn{c, s};
}

struct RotatedBox {
    double x, y, width, height;
    Turn turn;
};

inline double area_of(const RotatedBox& box) { return box.width * box.height; }

struct Corner {
    double x, y;
};

// What lies below `limit` along an axis, of a convex polygon; at most one corner more.
template <bool across>
inline int below(const Corner* in, int count, double sign, double limit, Corner* out) {
    int found = 0;
    for (int i = 0; i < count; ++i) {
        const Corner p = in[i], q = in[i + 1 < count ? i + 1 : 0];
        const double of_p = limit - sign * (across ? p.x : p.y), of_q = limit - sign * (across ? q.x : q.y);
        if (of_p >= 0) out[found++] = p;
        if ((of_p > 0 && of_q < 0) || (of_p < 0 && of_q > 0)) {
            const double share = of_p / (of_p - of_q);
            out[found++] = {across ? sign * limit : p.x + share * (q.x - p.x),
                            across ? p.y + share * (q.y - p.y) : sign * limit};
        }
    }
    return found;
}

// The area two boxes share: one, seen from the other, cut off at its four sides (Sutherland and Hodgman 1974).
inline double shared_area(const RotatedBox& a, const RotatedBox& b) {
    if (!(a.width > 0 && a.height > 0 && b.width > 0 && b.height > 0)) return 0;
    const double dx = b.x - a.x, dy = b.y - a.y;
    const double reach = sqrt(a.width * a.width + a.height * a.height) + sqrt(b.width * b.width + b.height * b.height);
    if (dx * dx + dy * dy > reach * reach / 4) return 0;
    const double x = dx * a.turn.cosine - dy * a.turn.sine, y = dy * a.turn.cosine + dx * a.turn.sine;
    const double cosine = a.turn.cosine * b.turn.cosine + a.turn.sine * b.turn.sine,
                 sine = b.turn.sine * a.turn.cosine - b.turn.cosine * a.turn.sine;
    Corner one[8], other[8];
    for (int i = 0; i < 4; ++i) {
        const double along = i == 0 || i == 3 ? -b.width / 2 : b.width / 2, down = i < 2 ? -b.height / 2 : b.height / 2;
        one[i] = {x + along * cosine + down * sine, y + down * cosine - along * sine};
    }
    int count = below<true>(one, 4, 1, a.width / 2, other);
    count = below<true>(other, count, -1, a.width / 2, one);
    count = below<false>(one, count, 1, a.height / 2, other);
    count = below<false>(other, count, -1, a.height / 2, one);
    double twice = 0;
    for (int i = 2; i < count; ++i) {
        const Corner p = {one[i - 1].x - one[0].x, one[i - 1].y - one[0].y},
                     q = {one[i].x - one[0].x, one[i].y - one[0].y};
        twice += p.x * q.y - p.y * q.x;
    }
    return fabs(twice) / 2;
}

// Intersection over union; 0 / 0 is 0.
inline double overlap(const RotatedBox& a, const RotatedBox& b) {
    const double shared = shared_area(a, b), either = area_of(a) + area_of(b) - shared;
    return shared == 0 && either == 0 ? 0 : shared / either;
}

}  // namespace cuaug
