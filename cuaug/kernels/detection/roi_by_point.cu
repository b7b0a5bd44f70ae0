#include "detection/roi_by_point.cuh"

namespace cuaug {

constexpr int by_point_threads = 128;
// Resident blocks. They allow 168 registers, and on sm_90 no kernel uses more than 132. Without this bound the compiler
// uses up to 16 registers fewer (PsRoiPoolBins: up to 40) and spills one in a few kernels. On an H200 roi_pool and the
// maxima of roi_align take the same time with and without the bound.
constexpr int by_point_blocks = 3;

// A block pools some bins of a region point by point, and stores which sampling point is the greatest if that is
// requested. Grid: (regions, parts).
template <class T, template <class> class Bins, int reduction, int vector>
__global__ void __launch_bounds__(by_point_threads, by_point_blocks)
    roi_by_point(const __grid_constant__ RoiArgmaxRecord args) {
    const long long k = blockIdx.x;
    const Bins<ComputeType<T>>& bins = make_shared_bins<Bins<ComputeType<T>>>(args, k);
    pool_region_by_point<T, static_cast<Reduction>(reduction), vector>(
        args, bins, k, static_cast<long long>(blockIdx.y) * blockDim.x + threadIdx.x,
        static_cast<long long>(gridDim.y) * blockDim.x);
}

}  // namespace cuaug
