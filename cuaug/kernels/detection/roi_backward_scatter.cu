#include "detection/roi_backward_scatter.cuh"

namespace cuaug {

// A block adds the gradients of some bins of a region, of any shape, to the pixels that each of them is made of. Grid:
// (regions, parts).
template <class T, template <class> class Shape, bool greatest, bool inside>
__global__ void __launch_bounds__(128, 3) roi_backward_scatter(const __grid_constant__ PoolingPlaces args) {
    const long long k = blockIdx.x;
    const Shape<ComputeType<T>>& shape = shared_shape<Shape<ComputeType<T>>>(args, k);
    add_region<T, greatest, inside>(args, shape, k, static_cast<long long>(blockIdx.y) * blockDim.x + threadIdx.x,
                                    static_cast<long long>(gridDim.y) * blockDim.x);
}

}  // namespace cuaug
