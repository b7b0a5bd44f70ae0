#pragma once

#include <algorithm>

#include "records/nms.cuh"
#include "../convert.hpp"

// As kernels/detection/nms_sort.cu and detection/nms_rank.cu.

namespace cuaug {

inline NmsKey* sorted_keys(const Nms& args, long long n, bool by_class) {
    const long long slots = static_cast<long long>(nms_tiles(args)) * nms_tile;
    NmsKey* keys = args.keys + (by_class ? n : args.samples + n) * slots;
    for (int i = 0; i < args.count; ++i) keys[i] = nms_key(args, n, i, by_class);
    std::sort(keys, keys + args.count, [](const NmsKey& a, const NmsKey& b) { return before(a, b); });
    return keys;
}

// What `make(key, place, start)` makes of each box, in the order of the classes.
template <class Make>
inline void order_candidates(const Nms& args, long long n, const Make& make) {
    const NmsKey* keys = sorted_keys(args, n, true);
    const bool classes = args.classes.data != nullptr;
    int* places = args.kept + n * args.count;
    if (classes) {
        const NmsKey* by_score = sorted_keys(args, n, false);
        for (int place = 0; place < args.count; ++place) places[by_score[place].index] = place;
    }
    auto* candidates = static_cast<decltype(make(*keys, 0, 0))*>(args.candidates) + n * args.count;
    for (int i = 0, start = 0; i < args.count; ++i) {
        if (keys[i].group != keys[start].group) start = i;
        candidates[i] = make(keys[i], classes ? places[keys[i].index] : i, start);
    }
}

inline void order_candidates(const Nms& args, long long n, bool float64) {
    auto rotated = [&](const NmsKey& key, int place, int start) {
        return candidate<Rotated>(args, n, key, place, start);
    };
    auto exact = [&](const NmsKey& key, int place, int start) { return candidate<double>(args, n, key, place, start); };
    auto usual = [&](const NmsKey& key, int place, int start) { return candidate<float>(args, n, key, place, start); };
    if (args.rotated)
        order_candidates(args, n, rotated);
    else if (float64)
        order_candidates(args, n, exact);
    else
        order_candidates(args, n, usual);
}

}  // namespace cuaug
