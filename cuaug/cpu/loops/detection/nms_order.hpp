#pragma once

#include <algorithm>

#include "detection/nms_boxes.cuh"
#include "../convert.hpp"

// Sorts and ranks boxes, as the kernels nms_sort.cu and nms_rank.cu do. Compiled once, with the bindings, because it
// calls std::sort (instruction_set.hpp).

namespace cuaug {

inline NmsSortKey* sorted_keys(const NmsRecord& args, long long n, bool by_class) {
    const long long keys_per_sample = static_cast<long long>(nms_tiles(args)) * nms_tile;
    NmsSortKey* keys = args.keys + (by_class ? n : args.samples + n) * keys_per_sample;
    for (int i = 0; i < args.count; ++i) keys[i] = make_sort_key(args, n, i, by_class);
    std::sort(keys, keys + args.count, [](const NmsSortKey& a, const NmsSortKey& b) { return precedes(a, b); });
    return keys;
}

// Stores a RankedBox<R> of each box, ordered by class.
template <class R>
inline void rank_boxes(const NmsRecord& args, long long n) {
    const NmsSortKey* keys = sorted_keys(args, n, true);
    const bool has_classes = args.classes.data != nullptr;
    int* score_ranks = args.kept + n * args.count;  // `kept` holds them until nms.hpp fills it
    if (has_classes) {
        const NmsSortKey* by_score = sorted_keys(args, n, false);
        for (int rank = 0; rank < args.count; ++rank) score_ranks[by_score[rank].index] = rank;
    }
    RankedBox<R>* boxes = static_cast<RankedBox<R>*>(args.ranked_boxes) + n * args.count;
    for (int i = 0, class_begin = 0; i < args.count; ++i) {
        if (keys[i].class_id != keys[class_begin].class_id) class_begin = i;
        const int score_rank = has_classes ? score_ranks[keys[i].index] : i;
        boxes[i] = make_ranked_box<R>(args, n, keys[i], score_rank, class_begin);
    }
}

inline void rank_boxes(const NmsRecord& args, long long n, bool float64) {
    if (args.rotated)
        rank_boxes<Rotated>(args, n);
    else if (float64)
        rank_boxes<double>(args, n);
    else
        rank_boxes<float>(args, n);
}

}  // namespace cuaug
