#pragma once

#include "records/nms.cuh"
#include "detection/rotated_iou.cuh"

// Boxes of greedy suppression: their order and the IoU test.

namespace cuaug {

// Boxes are sorted by class, then score from the highest down, then index.
struct NmsSortKey {
    unsigned long long score;  // 0: the box takes no part; 1: it has a NaN; else increasing with the score
    long long class_id;        // 0 for all boxes if there are no classes, or in the order by score alone
    int index;
    int padding;
};

// A box at its position in the sorted order. R: float, double or `Rotated`.
template <class R>
struct RankedBox {
    R left, top, right, bottom, area;
    int index;        // in the caller's order; -1: takes no part
    int score_rank;   // among all classes
    int class_begin;  // the position at which its class begins
};

struct Rotated {};  // rotated boxes, in float64

template <>
struct RankedBox<Rotated> {
    RotatedBox box;
    int index, score_rank, class_begin;
};

using RankedRotatedBox = RankedBox<Rotated>;

inline int nms_tiles(const NmsRecord& args) { return (args.count + nms_tile - 1) / nms_tile; }
inline int nms_blocks(const NmsRecord& args) { return (args.count + nms_block - 1) / nms_block; }

// Bits that compare as the numbers do; -0 and 0 are equal.
inline unsigned long long ordered_bits(double value) {
    const double without_negative_zero = value + 0.0;
    unsigned long long bits;
    memcpy(&bits, &without_negative_zero, 8);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

struct BoxValues {
    double value[5];
};

// Loads all values of a box before any is converted, so that a GPU waits for memory once.
template <class T>
inline BoxValues load_values(const T* ptr, long long stride, bool rotated) {
    const T a = ptr[0], b = ptr[stride], c = ptr[2 * stride], d = ptr[3 * stride], e = ptr[rotated ? 4 * stride : 0];
    return {{to_compute<double>(a), to_compute<double>(b), to_compute<double>(c), to_compute<double>(d),
             to_compute<double>(e)}};
}

inline BoxValues read_box(const NmsRecord& args, long long n, int i) {
    const long long offset = n * args.boxes.n_stride + i * args.boxes.k_stride;
    switch (args.boxes.dtype_code) {
        case 0:
            return load_values(static_cast<const float16*>(args.boxes.data) + offset, args.boxes.x_stride,
                               args.rotated != 0);
        case 1:
            return load_values(static_cast<const bfloat16*>(args.boxes.data) + offset, args.boxes.x_stride,
                               args.rotated != 0);
        case 2:
            return load_values(static_cast<const float*>(args.boxes.data) + offset, args.boxes.x_stride,
                               args.rotated != 0);
        default:
            return load_values(static_cast<const double*>(args.boxes.data) + offset, args.boxes.x_stride,
                               args.rotated != 0);
    }
}

// Of the boxes of a class that take part, those with a NaN score or coordinate sort last. They neither suppress another
// box nor are suppressed. With a score threshold, a box with a NaN score takes no part.
inline NmsSortKey make_sort_key(const NmsRecord& args, long long n, int i, bool by_class) {
    const BoxValues box = read_box(args, n, i);
    const double score = read_number(args.scores, n * args.scores.n_stride + i * args.scores.k_stride);
    const bool is_within_count = args.counts.data == nullptr || i < read_int(args.counts, n * args.counts.n_stride);
    const bool absent = !is_within_count || (args.has_score_threshold && !(score > args.score_threshold));
    bool has_no_nan = score == score;
    for (double value : box.value) has_no_nan = has_no_nan && value == value;
    const long long class_id = by_class && args.classes.data != nullptr
                                   ? read_int(args.classes, n * args.classes.n_stride + i * args.classes.k_stride)
                                   : 0;
    return {absent ? 0 : has_no_nan ? ordered_bits(score) : 1, class_id, i, 0};
}

// Sorts after all boxes.
inline NmsSortKey padding_key() { return {0, 0x7fffffffffffffffll, 0x7fffffff, 0}; }

inline bool precedes(const NmsSortKey& a, const NmsSortKey& b) {
    if (a.class_id != b.class_id) return a.class_id < b.class_id;
    return a.score != b.score ? a.score > b.score : a.index < b.index;
}

// Intersects no other box and takes no part.
template <class R>
inline RankedBox<R> empty_box() {
    return {0, 0, -1, -1, 1, -1, 0, 0};
}

template <>
inline RankedRotatedBox empty_box<Rotated>() {
    return {{0, 0, 0, 0, {1, 0}}, -1, 0, 0};
}

template <class R>
inline RankedBox<R> make_ranked_box(const NmsRecord& args, long long n, const NmsSortKey& key, int score_rank,
                                    int class_begin) {
    RankedBox<R> ranked = empty_box<R>();
    if (key.score > 1) {
        const BoxValues box = read_box(args, n, key.index);
        ranked.left = static_cast<R>(box.value[0]);
        ranked.top = static_cast<R>(box.value[1]);
        ranked.right = static_cast<R>(box.value[2]);
        ranked.bottom = static_cast<R>(box.value[3]);
        ranked.area = (ranked.right - ranked.left) * (ranked.bottom - ranked.top);
    }
    ranked.index = key.score > 0 ? key.index : -1;
    ranked.score_rank = score_rank;
    ranked.class_begin = class_begin;
    return ranked;
}

template <>
inline RankedRotatedBox make_ranked_box<Rotated>(const NmsRecord& args, long long n, const NmsSortKey& key,
                                                 int score_rank, int class_begin) {
    const RotatedBox box = key.score > 1 ? read_rotated_box(args.boxes, n, key.index) : empty_box<Rotated>().box;
    return {box, key.score > 0 ? key.index : -1, score_rank, class_begin};
}

// Whether the IoU of two boxes is above a threshold. In float32 the intersection is compared with threshold * union;
// the rounding errors add up to at most 17 * 2^-24 of the union. If the difference is below 32 * 2^-24 of the union, or
// overflows, the test is `uncertain` and is repeated in float64.
struct IouTest {
    bool above, uncertain;
};

template <class R>
inline IouTest test_iou(const RankedBox<R>& a, const RankedBox<R>& b, R threshold) {
    const R width = fmin(a.right, b.right) - fmax(a.left, b.left),
            height = fmin(a.bottom, b.bottom) - fmax(a.top, b.top);
    const R intersection = width * height, union_area = a.area + b.area - intersection;
    const bool intersects = (width > 0) & (height > 0);
    if constexpr (is_same_v<R, double>) {
        return {static_cast<bool>(intersects & (intersection / union_area > threshold)), false};
    } else {
        const float excess = intersection - threshold * union_area, margin = 0x1p-19f * union_area + 1e-30f;
        const bool above = excess > margin, below = excess < -margin;
        return {static_cast<bool>(intersects & above), static_cast<bool>(intersects & !above & !below)};
    }
}

template <class R>
inline bool is_above_in_float64(const RankedBox<R>& a, const RankedBox<R>& b, double threshold) {
    const double width = fmin(static_cast<double>(a.right), static_cast<double>(b.right)) -
                         fmax(static_cast<double>(a.left), static_cast<double>(b.left));
    const double height = fmin(static_cast<double>(a.bottom), static_cast<double>(b.bottom)) -
                          fmax(static_cast<double>(a.top), static_cast<double>(b.top));
    const double area_a = (static_cast<double>(a.right) - a.left) * (static_cast<double>(a.bottom) - a.top);
    const double area_b = (static_cast<double>(b.right) - b.left) * (static_cast<double>(b.bottom) - b.top);
    const double intersection = width * height;
    return intersection / (area_a + area_b - intersection) > threshold;
}

template <class R>
inline bool suppresses(const RankedBox<R>& a, const RankedBox<R>& b, double threshold) {
    const IouTest test = test_iou(a, b, static_cast<R>(threshold));
    return test.uncertain ? is_above_in_float64(a, b, threshold) : test.above;
}

inline bool suppresses(const RankedRotatedBox& a, const RankedRotatedBox& b, double threshold) {
    return iou(a.box, b.box) > threshold;
}

}  // namespace cuaug
