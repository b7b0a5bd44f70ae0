// Compiled once per instruction set, with ISA_NAMESPACE and ISA_NAME naming it, by ISA_FLAGS. Everything that is
// inline, kernels/ included, lies in that namespace: two sets never share a function, of which the linker would keep
// either one.

#include <cstddef>
#include <cstring>
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include "loops.hpp"

namespace ISA_NAMESPACE {
#include "maths.hpp"
#include "adjust_sharpness.hpp"
#include "blend.hpp"
#include "histogram_lut.hpp"
#include "channel_min_max.hpp"
#include "gaussian_blur.hpp"
#include "luma_mean.hpp"
#include "lut.hpp"
#include "mix.hpp"
#include "pointwise.hpp"
#include "resample.hpp"
#include "warp_image.hpp"
namespace cuaug {  // loops_detection.cpp
void nms_task(const native::ImageCall& call, long long task, void* workspace);
void pooling_task(const native::PoolingCall& call, long long task);
void soft_nms_task(const void* record, long long n);
void rotated_iou_task(const void* record, long long row);
}  // namespace cuaug
}  // namespace ISA_NAMESPACE

namespace native {
extern const LoopTable ISA_TABLE = {
    ISA_NAME,
    ISA_FLAGS,
    ISA_NAMESPACE::cuaug::warp_tasks,
    ISA_NAMESPACE::cuaug::warp_task,
    ISA_NAMESPACE::cuaug::resample_tasks,
    ISA_NAMESPACE::cuaug::resample_task,
    ISA_NAMESPACE::cuaug::pointwise_tasks,
    ISA_NAMESPACE::cuaug::pointwise_task,
    ISA_NAMESPACE::cuaug::luma_mean_tasks,
    ISA_NAMESPACE::cuaug::luma_mean_task,
    ISA_NAMESPACE::cuaug::mix_tasks,
    ISA_NAMESPACE::cuaug::mix_task,
    ISA_NAMESPACE::cuaug::gaussian_blur_tasks,
    ISA_NAMESPACE::cuaug::gaussian_blur_task,
    ISA_NAMESPACE::cuaug::adjust_sharpness_tasks,
    ISA_NAMESPACE::cuaug::adjust_sharpness_task,
    ISA_NAMESPACE::cuaug::blend_tasks,
    ISA_NAMESPACE::cuaug::blend_task,
    ISA_NAMESPACE::cuaug::histogram_lut_tasks,
    ISA_NAMESPACE::cuaug::histogram_lut_task,
    ISA_NAMESPACE::cuaug::channel_min_max_tasks,
    ISA_NAMESPACE::cuaug::channel_min_max_task,
    ISA_NAMESPACE::cuaug::lut_tasks,
    ISA_NAMESPACE::cuaug::lut_task,
    ISA_NAMESPACE::cuaug::nms_task,
    ISA_NAMESPACE::cuaug::pooling_task,
    ISA_NAMESPACE::cuaug::soft_nms_task,
    ISA_NAMESPACE::cuaug::rotated_iou_task,
};
}
