#include "blend_record.cuh"
#include "gpu/bytes.cuh"
#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/succession.cuh"
#include "gpu/vectors.cuh"

namespace cuaug {

constexpr int blend_threads = 256;

// A thread makes 4 adjacent pixels of K channels: the sum is rounded once. Of bytes, `in` and so many branches are asked for before the first is waited for. Grid: (threads for a frame, 1, frames x groups of K).
template <class T, class InLayout, int K, class OutLayout>
__global__ void __launch_bounds__(blend_threads) blend(const __grid_constant__ Blend args) {
    using R = Real<T>;
    constexpr bool grouped = Same<InLayout, Strided>::value || Same<OutLayout, Strided>::value;
    constexpr int ahead = sizeof(T) == 1 ? 4 : 1;
    const int width = args.in_width, height = args.in_height, groups = grouped ? (args.channels + K - 1) / K : 1;
    const unsigned int across = (width + 3) / 4, index = blockIdx.x * blend_threads + threadIdx.x;
    const int y = index / across, x = 4 * (index - y * across);
    if (y >= height) return;
    wait_for_previous();

    for (long long slice = blockIdx.z; slice < args.samples * args.frames * groups; slice += gridDim.z) {
        const long long frame = grouped ? slice / groups : slice, n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
        const int first = grouped ? static_cast<int>(slice - frame * groups) * K : 0, channels = args.channels - first, count = min(4, width - x);
        long long from[K], to[K];
        channel_offsets<InLayout, K>(args.in.c, channels, from);
        channel_offsets<OutLayout, K>(args.out.c, channels, to);
        const int in_step = column_stride<InLayout, K>(args.in.x), out_step = column_stride<OutLayout, K>(args.out.x);
        const long long there = n * args.in.n + t * args.in.t + first * args.in.c + y * args.in.y + static_cast<long long>(x) * in_step;
        const long long here = n * args.out.n + t * args.out.t + first * args.out.c + y * args.out.y + static_cast<long long>(x) * out_step;

        double left = 1.0;
        Pixel<R, K> sum[4] = {};
        auto add = [&](const FourPixels<T, K>& pixels, int i) {
            const R share = static_cast<R>(take(args, n, i, left));
            for (int j = 0; j < 4; ++j) sum[j] = sum[j] + share * unpacked<R>(pixels.v[j]);
        };
        const FourPixels<T, K> own = load_pixels<InLayout, T, K>(static_cast<const T*>(args.in.data) + there, from, in_step, args.in_aligned, count);
        const int branches = static_cast<int>(args.branches);
        for (int i = 0; i < branches; i += ahead) {
            FourPixels<T, K> made[ahead];
            for (int j = 0; j < ahead; ++j) made[j] = load_pixels<OutLayout, T, K>(static_cast<const T*>(args.branch[min(i + j, branches - 1)]) + here, to, out_step, args.out_aligned, count);
            if (i == 0) add(own, 0);
            for (int j = 0; j < ahead; ++j)
                if (i + j < branches) add(made[j], i + j + 1);
        }
        FourPixels<T, K> result;
        for (int j = 0; j < 4; ++j) result.v[j] = packed<T>(sum[j]);
        store_pixels<OutLayout, T, K>(static_cast<T*>(args.out.data) + here, to, out_step, args.out_aligned, count, channels, result);
    }
}

}  // namespace cuaug
