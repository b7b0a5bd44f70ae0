#include "detection/roi_by_sample.cuh"

namespace cuaug {

// A block pools some bins of a region, of any shape, sample by sample, and notes which sample is the greatest where
// that is asked for. Grid: (regions, parts).
template <class T, template <class> class Shape, int take, int wide>
__global__ void __launch_bounds__(128, 3) roi_by_sample(const __grid_constant__ PoolingPlaces args) {
    const long long k = blockIdx.x;
    const Shape<ComputeType<T>>& shape = shared_shape<Shape<ComputeType<T>>>(args, k);
    walk_region<T, static_cast<Take>(take), wide>(args, shape, k,
                                                  static_cast<long long>(blockIdx.y) * blockDim.x + threadIdx.x,
                                                  static_cast<long long>(gridDim.y) * blockDim.x);
}

}  // namespace cuaug
