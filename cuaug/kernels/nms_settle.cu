#include "nms_few.cuh"

namespace cuaug {

constexpr int nms_settle_warps = nms_few<float> / 32;

// A block settles a sample, a thread a box, by who would remove whom (nms_hits.cu). Each warp settles its own 32 among themselves by what the warps before it
// keep, again until nothing changes: whatever it was before, after k rounds it is right for the first k warps. The few boxes that remove each other in turn
// end it after about five. Then it writes the indices by score. Grid: (samples).
__global__ void __launch_bounds__(nms_settle_warps * 32) nms_settle(const __grid_constant__ Nms args) {
    constexpr unsigned int everyone = 0xffffffffu;
    __shared__ unsigned int kept[2][nms_settle_warps];
    const int place = threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5, words = (args.count + 31) / 32;
    const long long n = blockIdx.x;
    const unsigned int* hits = nms_hits_of(args, n, words) + place;
    const int index = place < args.count ? args.kept[n * args.count + place] : -1;
    unsigned int hit[nms_settle_warps], among = 0;
    for (int w = 0; w < nms_settle_warps; ++w) hit[w] = w < warp && place < args.count ? hits[w * args.count] : 0;
    if (place < args.count) among = hits[warp * args.count];

    if (place < nms_settle_warps) kept[0][place] = kept[1][place] = 0;
    __syncthreads();
    unsigned int own = __ballot_sync(everyone, index >= 0);
    if (lane == 0) kept[0][warp] = own;
    __syncthreads();
    for (int round = 0, more = 1; more != 0; ++round) {
        const unsigned int* others = kept[round & 1];
        unsigned int removing = 0, now = own;
        for (int w = 0; w < nms_settle_warps; ++w)
            if (w < warp) removing |= hit[w] & others[w];
        const bool gone = index < 0 || removing != 0;
        now = __ballot_sync(everyone, !gone);
        for (unsigned int last = ~now; now != last;) {
            last = now;
            now = __ballot_sync(everyone, !gone && (among & last) == 0);
        }
        if (lane == 0) kept[~round & 1][warp] = now;
        more = __syncthreads_or(now != own);
        own = now;
    }

    // A lane has the number that another warp keeps; no barrier is needed, as all numbers of both copies are the same.
    const int each = lane < nms_settle_warps ? __popc(kept[0][lane]) : 0;
    int sum = each;
    for (int i = 1; i < 32; i *= 2) {
        const int other = __shfl_up_sync(everyone, sum, i);
        if (lane >= i) sum += other;
    }
    const int total = min(__shfl_sync(everyone, sum, 31), args.most);
    const int to = __shfl_sync(everyone, sum - each, warp) + __popc(own & ((1u << lane) - 1));
    const long long row = n * args.most;
    if ((own >> lane & 1) != 0 && to < args.most) write_index(args, args.out, row + to, index);
    for (int i = total + place; i < args.most; i += blockDim.x) write_index(args, args.out, row + i, -1);
    if (place == 0) write_index(args, args.found, n, total);
}

}  // namespace cuaug
