#pragma once

#include "gpu/layout.cuh"
#include "gpu/vectors.cuh"
#include "records/pointwise.cuh"

namespace cuaug {

// The pixels of a sample, which all threads of the block visit together: K channels of each pixel at a time.
template <class In, class Layout, int K, int Threads>
struct SamplePixels {
    static constexpr int loads_ahead = sizeof(In) * K <= 4 ? 4 : sizeof(In) * K <= 8 ? 2 : 1;  // groups
    const PointwiseRecord& args;
    long long n;
    int step;                     // from pixel to pixel
    unsigned int groups_per_row;  // of four pixels
    long long frame_groups;

    bool has_contiguous_rows() const {
        return args.in_vector_elements && args.in_width % 4 == 0 &&
               args.in.y_stride == static_cast<long long>(args.in_width) * step;
    }

    // A frame without gaps is one long row, of which a thread loads several groups before it uses the first.
    template <class Visitor>
    void visit_contiguous(const In* frame, const long long* offset, const Visitor& visit) const {
        constexpr int ahead = loads_ahead, advance = 4 * Threads;  // pixels, from a group to the next
        const In* at = frame + 4LL * threadIdx.x * step;
        long long remaining = frame_groups - threadIdx.x;
        auto visit_groups = [&](auto count) {
            Vectors<In, K, 1> raw[decltype(count)::value];
            for (int i = 0; i < count.value; ++i) raw[i] = load_vectors<Layout, In, K>(at + i * advance * step, offset);
            for (int i = 0; i < count.value; ++i) {
                const FourPixels<In, K> four = elements_to_pixels<Layout, In, K>(raw[i].elements[0]);
                for (int j = 0; j < 4; ++j) visit(four.v[j]);
            }
            remaining -= count.value * Threads;
            at += static_cast<long long>(count.value) * advance * step;
        };
        // No condition stands between the loads: with one, the compiler would move each load to where its group is
        // used.
#pragma unroll 1
        while (remaining > (ahead - 1) * Threads) visit_groups(Int<ahead>());
#pragma unroll 1
        while (remaining > 0) visit_groups(Int<1>());
    }

    template <class Visitor>
    void visit_rows(const In* frame, const long long* offset, const Visitor& visit) const {
        for (long long group = threadIdx.x; group < frame_groups; group += Threads) {
            const unsigned int index = static_cast<unsigned int>(group);
            const int y = index / groups_per_row, x = 4 * (index - y * groups_per_row),
                      count = min(4, args.in_width - x);
            const FourPixels<In, K> four =
                load_pixels<Layout, In, K>(frame + y * args.in.y_stride + static_cast<long long>(x) * step, offset,
                                           step, args.in_vector_elements, count);
            for (int j = 0; j < count; ++j) visit(four.v[j]);
        }
    }

    // Calls visit(pixel) with the WordPixel of every pixel's channels from `first` on, of which `available` exist.
    template <class Visitor>
    void visit(int first, int available, const Visitor& visit) const {
        long long offset[K];
        channel_offsets<Layout, K>(args.in.c_stride, available, offset);
        for (int t = 0; t < args.frames; ++t) {
            const In* frame = static_cast<const In*>(args.in.data) + n * args.in.n_stride + t * args.in.t_stride +
                              first * args.in.c_stride;
            if constexpr (!is_same_v<Layout, Strided>)
                if (has_contiguous_rows()) {
                    visit_contiguous(frame, offset, visit);
                    continue;
                }
            visit_rows(frame, offset, visit);
        }
    }
};

}  // namespace cuaug
