#include "detection/roi_by_sample.cuh"

namespace cuaug {

// A block pools some bins of a region sample by sample, and stores which sample is the greatest if that is requested.
// Grid: (regions, parts).
template <class T, template <class> class Bins, int reduction, int vector>
__global__ void __launch_bounds__(128, 3) roi_by_sample(const __grid_constant__ RoiArgmaxRecord args) {
    const long long k = blockIdx.x;
    const Bins<ComputeType<T>>& bins = make_shared_bins<Bins<ComputeType<T>>>(args, k);
    pool_region_by_sample<T, static_cast<Reduction>(reduction), vector>(
        args, bins, k, static_cast<long long>(blockIdx.y) * blockDim.x + threadIdx.x,
        static_cast<long long>(gridDim.y) * blockDim.x);
}

}  // namespace cuaug
