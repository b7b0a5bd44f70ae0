#pragma once

#include "records/typed_array.cuh"
#include "records/rotated_iou.cuh"

namespace cuaug {

// What boxes are sorted by: the class, then the score from the highest down, then the index.
struct NmsKey {
    unsigned long long score;  // 0: the box takes no part; 1: of a NaN; else rising with the score
    long long group;
    int index;
    int padding;
};

// A box in its place in that order.
template <class R>
struct Candidate {
    R left, top, right, bottom, area;
    int index;  // in the caller's order; -1: takes no part
    int place;  // by score, among all classes
    int start;  // the position at which its class begins
};

struct Rotated {};

template <>
struct Candidate<Rotated> {
    RotatedBox box;
    int index, place, start;
};

using RotatedCandidate = Candidate<Rotated>;

// Greedy suppression in each of N samples. Mirrored by cuaug/_nms.py.
struct Nms {
    Numbers boxes;    // [N, K, 4]: left, top, right, bottom; [N, K, 5]: centre x and y, width, height, degrees
    Numbers scores;   // [N, K]
    Numbers classes;  // [N, K]; data null: all are of one class
    Numbers counts;   // [N]: of each sample's boxes, how many take part; data null: all
    void* out;        // [N, most]: indices of the boxes kept, by score, then -1; the last kernel alone knows where
    void* found;      // [N]: how many; written when what stands below has been read: then it is free for another call
    NmsKey*
        keys;  // [2, N, tiles, nms_tile]: by class and score, and by score alone; or, where all pairs are compared: detection/nms_pairs.cuh
    void* candidates;               // [N, K]; or likewise
    unsigned long long* published;  // [N, words]: which of 32 candidates are kept, and above these which are decided
    int* kept;                      // [N, K]: by score, the box's index, or -1
    int* state;                     // [1 + N]: blocks begun; of each sample, blocks done
    long long samples;
    double iou_threshold;
    double score_threshold;
    int count;  // K
    int most;
    int has_score_threshold;
    int index_bytes;  // 4 or 8, of `out` and `found`
    int rotated;
    int own_words;  // where all pairs are compared: words of 32 boxes that a block compares with others; even, at most
                    // 8
};

constexpr int nms_tile = 1024, nms_block = 64, nms_words = nms_block / 32;

inline int nms_tiles(const Nms& args) { return (args.count + nms_tile - 1) / nms_tile; }
inline int nms_blocks(const Nms& args) { return (args.count + nms_block - 1) / nms_block; }

// A number's bits, in an order that rises with it; both zeros are one.
inline unsigned long long rising(double value) {
    const double zero = value + 0.0;
    unsigned long long bits;
    memcpy(&bits, &zero, 8);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

// A box's numbers, all asked for before one of them is used: a GPU waits once for them.
struct BoxNumbers {
    double at[5];
};

template <class T>
inline BoxNumbers numbers_of(const T* from, long long step, bool rotated) {
    const T a = from[0], b = from[step], c = from[2 * step], d = from[3 * step], e = from[rotated ? 4 * step : 0];
    return {{to_compute<double>(a), to_compute<double>(b), to_compute<double>(c), to_compute<double>(d), to_compute<double>(e)}};
}

inline BoxNumbers read_box(const Nms& args, long long n, int i) {
    const long long at = n * args.boxes.n + i * args.boxes.k;
    switch (args.boxes.kind) {
        case 0:
            return numbers_of(static_cast<const float16*>(args.boxes.data) + at, args.boxes.x, args.rotated != 0);
        case 1:
            return numbers_of(static_cast<const bfloat16*>(args.boxes.data) + at, args.boxes.x, args.rotated != 0);
        case 2:
            return numbers_of(static_cast<const float*>(args.boxes.data) + at, args.boxes.x, args.rotated != 0);
        default:
            return numbers_of(static_cast<const double*>(args.boxes.data) + at, args.boxes.x, args.rotated != 0);
    }
}

// Scores and coordinates that are NaN come last, and leave and are left by all others in peace.
inline NmsKey nms_key(const Nms& args, long long n, int i, bool by_class) {
    const BoxNumbers box = read_box(args, n, i);
    const double score = read_number(args.scores, n * args.scores.n + i * args.scores.k);
    const bool counts = args.counts.data == nullptr || i < read_whole(args.counts, n * args.counts.n);
    const bool absent = !counts || (args.has_score_threshold && !(score > args.score_threshold));
    bool proper = score == score;
    for (double number : box.at) proper = proper && number == number;
    const long long group = by_class && args.classes.data != nullptr
                                ? read_whole(args.classes, n * args.classes.n + i * args.classes.k)
                                : 0;
    return {absent ? 0 : proper ? rising(score) : 1, group, i, 0};
}

inline NmsKey no_key() { return {0, 0x7fffffffffffffffll, 0x7fffffff, 0}; }

inline bool before(const NmsKey& a, const NmsKey& b) {
    if (a.group != b.group) return a.group < b.group;
    return a.score != b.score ? a.score > b.score : a.index < b.index;
}

// A box that touches none.
template <class R>
inline Candidate<R> no_candidate() {
    return {0, 0, -1, -1, 1, -1, 0, 0};
}

template <>
inline RotatedCandidate no_candidate<Rotated>() {
    return {{0, 0, 0, 0, {1, 0}}, -1, 0, 0};
}

template <class R>
inline Candidate<R> candidate(const Nms& args, long long n, const NmsKey& key, int place, int start) {
    Candidate<R> made = no_candidate<R>();
    if (key.score > 1) {
        const BoxNumbers box = read_box(args, n, key.index);
        made.left = static_cast<R>(box.at[0]);
        made.top = static_cast<R>(box.at[1]);
        made.right = static_cast<R>(box.at[2]);
        made.bottom = static_cast<R>(box.at[3]);
        made.area = (made.right - made.left) * (made.bottom - made.top);
    }
    made.index = key.score > 0 ? key.index : -1;
    made.place = place;
    made.start = start;
    return made;
}

template <>
inline RotatedCandidate candidate<Rotated>(const Nms& args, long long n, const NmsKey& key, int place, int start) {
    const RotatedBox box = key.score > 1 ? read_rotated(args.boxes, n, key.index) : no_candidate<Rotated>().box;
    return {box, key.score > 0 ? key.index : -1, place, start};
}

// Whether the intersection of two boxes over their union is beyond a threshold. In float32 the rounding errors add up
// to at most 17 * 2^-24 of the union: what is nearer than 32 * 2^-24 of it, or overflows, is `unsure`, and is decided
// in float64.
struct Verdict {
    bool over, unsure;
};

template <class R>
inline Verdict judged(const Candidate<R>& a, const Candidate<R>& b, R threshold) {
    const R width = fmin(a.right, b.right) - fmax(a.left, b.left),
            height = fmin(a.bottom, b.bottom) - fmax(a.top, b.top);
    const R shared = width * height, bitwise_select = a.area + b.area - shared;
    const bool touch = (width > 0) & (height > 0);
    if constexpr (is_same_v<R, double>) {
        return {static_cast<bool>(touch & (shared / bitwise_select > threshold)), false};
    } else {
        const float excess = shared - threshold * bitwise_select, doubt = 0x1p-19f * bitwise_select + 1e-30f;
        const bool over = excess > doubt, under = excess < -doubt;
        return {static_cast<bool>(touch & over), static_cast<bool>(touch & !over & !under)};
    }
}

template <class R>
inline bool over_exactly(const Candidate<R>& a, const Candidate<R>& b, double threshold) {
    const double width = fmin(static_cast<double>(a.right), static_cast<double>(b.right)) -
                         fmax(static_cast<double>(a.left), static_cast<double>(b.left));
    const double height = fmin(static_cast<double>(a.bottom), static_cast<double>(b.bottom)) -
                          fmax(static_cast<double>(a.top), static_cast<double>(b.top));
    const double area_a = (static_cast<double>(a.right) - a.left) * (static_cast<double>(a.bottom) - a.top);
    const double area_b = (static_cast<double>(b.right) - b.left) * (static_cast<double>(b.bottom) - b.top);
    const double shared = width * height;
    return shared / (area_a + area_b - shared) > threshold;
}

template <class R>
inline bool suppresses(const Candidate<R>& a, const Candidate<R>& b, double threshold) {
    const Verdict verdict = judged(a, b, static_cast<R>(threshold));
    return verdict.unsure ? over_exactly(a, b, threshold) : verdict.over;
}

inline bool suppresses(const RotatedCandidate& a, const RotatedCandidate& b, double threshold) {
    return overlap(a.box, b.box) > threshold;
}

}  // namespace cuaug
