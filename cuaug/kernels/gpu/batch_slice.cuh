#pragma once

#include "gpu/layout.cuh"
#include "records/batch.cuh"

namespace cuaug {

// Channels of a frame that threads process together: all of them if there are exactly K, otherwise a group of at most
// K.
template <class InLayout, class OutLayout, int K>
struct BatchSlice {
    static constexpr bool split_channels = !has_static_channels<InLayout, OutLayout>;

    long long n, t;       // sample, frame of the sample
    int group;            // of channels
    int first, channels;  // the first channel; those that exist from there on, which may be more than K

    static int groups(const BatchRecord& args) { return split_channels ? (args.channels + K - 1) / K : 1; }
    static long long count(const BatchRecord& args) { return args.samples * args.frames * groups(args); }

    BatchSlice(const BatchRecord& args, long long index) {
        const long long frame = split_channels ? index / groups(args) : index;
        n = args.frames == 1 ? frame : frame / args.frames;
        t = frame - n * args.frames;
        group = split_channels ? static_cast<int>(index - frame * groups(args)) : 0;
        first = group * K;
        channels = args.channels - first;
    }

    template <class T>
    const T* input(const BatchRecord& args) const {
        return static_cast<const T*>(args.in.data) + n * args.in.n_stride + t * args.in.t_stride +
               first * args.in.c_stride;
    }
    long long output_offset(const BatchRecord& args) const {
        return n * args.out.n_stride + t * args.out.t_stride + first * args.out.c_stride;
    }
    template <class T>
    T* output(const BatchRecord& args) const {
        return static_cast<T*>(args.out.data) + output_offset(args);
    }
};

}  // namespace cuaug
