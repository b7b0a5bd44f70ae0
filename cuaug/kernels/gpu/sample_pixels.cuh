#pragma once

#include "gpu/layout.cuh"
#include "gpu/vectors.cuh"
#include "records/pointwise.cuh"

namespace cuaug {

// The pixels of a sample, which all threads of the block visit together: K channels of each pixel at a time. A group is
// four adjacent pixels of a row, a chunk the groups that the block visits between two calls of `after_chunk`.
template <class In, class Layout, int K, int Threads>
struct SamplePixels {
    static constexpr int loads_ahead = sizeof(In) * K <= 4 ? 4 : sizeof(In) * K <= 8 ? 2 : 1,  // groups
        groups_per_chunk = 60;                                                                // of a thread

    const PointwiseRecord& args;
    long long n;
    int step;                     // from pixel to pixel
    unsigned int groups_per_row;
    long long frame_groups;

    SamplePixels(const PointwiseRecord& args, long long n)
        : args(args),
          n(n),
          step(column_stride<Layout, K>(args.in.x_stride)),
          groups_per_row((args.in_width + 3) / 4),
          frame_groups(static_cast<long long>(groups_per_row) * args.in_height) {}

    bool has_contiguous_rows() const {
        return !is_same_v<Layout, Strided> && args.in_vector_elements && args.in_width % 4 == 0 &&
               args.in.y_stride == static_cast<long long>(args.in_width) * step;
    }

    // A frame without gaps is one long row, of which a thread loads several groups before it uses the first. `group`:
    // the first of the thread; `remaining`: groups from there to the end of the chunk.
    template <class Visitor>
    void visit_contiguous(const In* frame, const long long* offset, long long group, int remaining,
                          const Visitor& visit) const {
        constexpr int ahead = loads_ahead, advance = 4 * Threads;  // pixels, from a group to the next
        const In* at = frame + 4 * group * step;
        auto visit_groups = [&](auto count) {
            Vectors<In, K, 1> raw[decltype(count)::value];
            for (int i = 0; i < count.value; ++i) raw[i] = load_vectors<Layout, In, K>(at + i * advance * step, offset);
            for (int i = 0; i < count.value; ++i) visit(elements_to_pixels<Layout, In, K>(raw[i].elements[0]), 4);
            remaining -= count.value * Threads;
            at += count.value * advance * step;
        };
        // Without a condition between the loads, or the compiler moves each to where its group is used.
#pragma unroll 1
        while (remaining > (ahead - 1) * Threads) visit_groups(Int<ahead>());
#pragma unroll 1
        while (remaining > 0) visit_groups(Int<1>());
    }

    template <class Visitor>
    void visit_rows(const In* frame, const long long* offset, long long group, int remaining,
                    const Visitor& visit) const {
#pragma unroll 1
        for (unsigned int index = static_cast<unsigned int>(group); remaining > 0;
             index += Threads, remaining -= Threads) {
            const int y = index / groups_per_row, x = 4 * (index - y * groups_per_row),
                      count = min(4, args.in_width - x);
            visit(load_pixels<Layout, In, K>(frame + y * args.in.y_stride + static_cast<long long>(x) * step, offset,
                                             step, args.in_vector_elements, count),
                  count);
        }
    }

    // Calls visit(four, count) with the channels from `first` on, of which `available` exist: FourPixels, of which the
    // first `count` are pixels of the image. All threads call after_chunk() together.
    template <class Visitor, class AfterChunk>
    void visit(int first, int available, const Visitor& visit, const AfterChunk& after_chunk) const {
        constexpr int chunk = groups_per_chunk * Threads;
        long long offset[K];
        channel_offsets<Layout, K>(args.in.c_stride, available, offset);
        for (int t = 0; t < args.frames; ++t) {
            const In* frame = static_cast<const In*>(args.in.data) + n * args.in.n_stride + t * args.in.t_stride +
                              first * args.in.c_stride;
            for (long long begin = 0; begin < frame_groups; begin += chunk) {
                const long long group = begin + threadIdx.x;
                const int remaining = static_cast<int>(min(frame_groups - begin, static_cast<long long>(chunk))) -
                                      static_cast<int>(threadIdx.x);
                if (has_contiguous_rows())
                    visit_contiguous(frame, offset, group, remaining, visit);
                else
                    visit_rows(frame, offset, group, remaining, visit);
                after_chunk();
            }
        }
    }
};

}  // namespace cuaug
