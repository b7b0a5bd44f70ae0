#include "gpu/convert.cuh"
#include "detection/roi_bins.cuh"

namespace cuaug {

// A thread works out a region, and which pixels it may touch. Grid: (regions / threads).
template <class T, template <class> class Shape>
__global__ void __launch_bounds__(128) roi_regions(const __grid_constant__ PoolingBack args) {
    using R = ComputeType<T>;
    static_assert(sizeof(Shape<R>) <= sizeof(RegionShape), "a region has to fit");
    const long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k >= args.count) return;
    const Shape<R> shape(args, k);
    const int level = static_cast<int>(shape.level - args.level);
    const Extent<R> touched = shape.touched(args);
    args.bounds[k] = {level,
                      shape.n,
                      pixel_at(floor(touched.top), shape.level->height),
                      pixel_at(floor(touched.left), shape.level->width),
                      pixel_at(ceil(touched.bottom) + R(1), shape.level->height),
                      pixel_at(ceil(touched.right) + R(1), shape.level->width)};
    *reinterpret_cast<Shape<R>*>(args.shapes + k) = shape;
}

}  // namespace cuaug
