#include "gpu/convert.cuh"
#include "matrices/builders.cuh"

namespace cuaug {

constexpr int builder_threads = 128;

// A thread computes one matrix or point. Grid: blocks for all items.
template <class Builder>
__global__ void __launch_bounds__(builder_threads) build_matrices(const __grid_constant__ MatrixBuilderRecord args) {
    const long long i = static_cast<long long>(blockIdx.x) * builder_threads + threadIdx.x;
    if (i < args.samples * args.items) build_item<Builder>(args, i);
}

}  // namespace cuaug
