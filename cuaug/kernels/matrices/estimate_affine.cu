#include "gpu/convert.cuh"
#include "gpu/reduce.cuh"
#include "matrices/estimate_affine.cuh"

namespace cuaug {

constexpr int max_fit_threads = 512;
using WarpTotals = double[8];  // the totals of one warp: `EstimateAffine` needs at most seven at once

// Totals over the points of a sample. The threads of a block divide the points among them; all get the totals.
struct BlockSum {
    WarpTotals* warp_totals;  // shared memory [warps]

    template <int Count, class Terms>
    Totals<Count> total(long long points, const Terms& terms) const {
        Totals<Count> totals = {};
        for (long long k = threadIdx.x; k < points; k += blockDim.x) {
            double term[Count];
            terms(k, term);
            for (int j = 0; j < Count; ++j) totals.value[j] += term[j];
        }
        for (int j = 0; j < Count; ++j) totals.value[j] = warp_sum(totals.value[j]);
        if (blockDim.x == 32) return totals;
        __syncthreads();  // all threads have read the totals of the call before
        if (threadIdx.x % 32 == 0)
            for (int j = 0; j < Count; ++j) warp_totals[threadIdx.x / 32][j] = totals.value[j];
        __syncthreads();
        for (int j = 0; j < Count; ++j) {
            totals.value[j] = 0.0;
            for (int warp = 0; warp < blockDim.x / 32; ++warp) totals.value[j] += warp_totals[warp][j];
        }
        return totals;
    }
};

// A block fits a map to the points of one sample. Grid: samples. Threads: a multiple of 32, at most 512.
__global__ void __launch_bounds__(max_fit_threads, 1)
    estimate_affine(const __grid_constant__ MatrixBuilderRecord args) {
    __shared__ WarpTotals warp_totals[max_fit_threads / 32];
    double matrix[max_item_size];
    const int failure = EstimateAffine::fit(args, blockIdx.x, BlockSum{warp_totals}, matrix);
    if (threadIdx.x == 0) store_item(args, blockIdx.x, matrix, failure);
}

}  // namespace cuaug
