#include "detection/roi_align_bins.cuh"
#include "detection/roi_pool_bins.cuh"
#include "gpu/convert.cuh"

namespace cuaug {

constexpr int regions_threads = 128;

// A thread computes the bins of a region, and which pixels they may touch. Grid: (regions / threads).
template <class T, template <class> class Bins>
__global__ void __launch_bounds__(regions_threads) roi_regions(const __grid_constant__ RoiBackwardRecord args) {
    using R = ComputeType<T>;
    static_assert(sizeof(Bins<R>) <= sizeof(StoredBins), "bins have to fit");
    const long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k >= args.count) return;
    const Bins<R> bins(args, k);
    const int level = static_cast<int>(bins.level - args.level);
    const MapRect<R> touched = bins.touched_rect(args);
    args.bounds[k] = {level,
                      bins.n,
                      clamp_to_pixel(floor(touched.top), bins.level->height),
                      clamp_to_pixel(floor(touched.left), bins.level->width),
                      clamp_to_pixel(ceil(touched.bottom) + R(1), bins.level->height),
                      clamp_to_pixel(ceil(touched.right) + R(1), bins.level->width)};
    // `bins.level` points to the arguments of this launch: roi_backward_gather.cu replaces it.
    *reinterpret_cast<Bins<R>*>(args.bins + k) = bins;
}

}  // namespace cuaug
