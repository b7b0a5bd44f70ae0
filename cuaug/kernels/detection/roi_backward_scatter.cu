#include "detection/roi_backward_scatter.cuh"

namespace cuaug {

// A block adds the gradients of some bins of a region to the pixels of their sampling points. Grid: (regions, parts).
template <class T, template <class> class Bins, bool is_max, bool channels_last>
__global__ void __launch_bounds__(128, 3) roi_backward_scatter(const __grid_constant__ RoiArgmaxRecord args) {
    const long long k = blockIdx.x;
    const Bins<ComputeType<T>>& bins = make_shared_bins<Bins<ComputeType<T>>>(args, k);
    scatter_region<T, is_max, channels_last>(args, bins, k,
                                             static_cast<long long>(blockIdx.y) * blockDim.x + threadIdx.x,
                                             static_cast<long long>(gridDim.y) * blockDim.x);
}

}  // namespace cuaug
