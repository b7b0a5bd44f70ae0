#include "detection/roi_backward_scatter.cuh"

namespace cuaug {

constexpr int scatter_threads = 128;
// Resident blocks. They allow 168 registers, and on sm_90 no kernel uses more than 78. Without this bound the compiler
// stops at 56 registers for planar averages of roi_align (float64: 64) and spills 36 bytes (float64: 92).
constexpr int scatter_blocks = 3;

// A block adds the gradients of some bins of a region to the pixels of their sampling points. Grid: (regions, parts).
template <class T, template <class> class Bins, bool is_max, bool channels_last>
__global__ void __launch_bounds__(scatter_threads, scatter_blocks)
    roi_backward_scatter(const __grid_constant__ RoiArgmaxRecord args) {
    const long long k = blockIdx.x;
    const Bins<ComputeType<T>>& bins = make_shared_bins<Bins<ComputeType<T>>>(args, k);
    scatter_region<T, is_max, channels_last>(args, bins, k,
                                             static_cast<long long>(blockIdx.y) * blockDim.x + threadIdx.x,
                                             static_cast<long long>(gridDim.y) * blockDim.x);
}

}  // namespace cuaug
