// The loop table of one instruction set. cpu/CMakeLists.txt compiles this file once per set and defines ISA_NAMESPACE,
// ISA_TABLE, ISA_NAME and ISA_FLAGS.

#include "loops.hpp"

namespace ISA_NAMESPACE {
namespace cuaug {

// A function with a parameter `n` in place of `task` has one task for each sample.
long long adjust_sharpness_task_count(const native::RecordCall& call);
void adjust_sharpness_task(const native::RecordCall& call, long long task, void* memory);
long long blend_task_count(const native::RecordCall& call);
void blend_task(const native::RecordCall& call, long long task, void* memory);
long long channel_min_max_task_count(const native::RecordCall& call);
void channel_min_max_task(const native::RecordCall& call, long long n, void* memory);
long long gaussian_blur_task_count(const native::RecordCall& call);
void gaussian_blur_task(const native::RecordCall& call, long long task, void* memory);
long long histogram_lut_task_count(const native::RecordCall& call);
void histogram_lut_task(const native::RecordCall& call, long long n, void* memory);
long long jpeg_task_count(const native::RecordCall& call);
void jpeg_task(const native::RecordCall& call, long long task, void* memory);
long long luma_mean_task_count(const native::PointwiseCall& call);
void luma_mean_task(const native::PointwiseCall& call, long long n, void* memory);
long long lut_task_count(const native::RecordCall& call);
void lut_task(const native::RecordCall& call, long long task, void* memory);
long long mix_task_count(const native::MixCall& call);
void mix_task(const native::MixCall& call, long long task, void* memory);
long long pointwise_task_count(const native::PointwiseCall& call);
void pointwise_task(const native::PointwiseCall& call, long long task, void* memory);
long long resample_task_count(const native::ResampleCall& call);
void resample_task(const native::ResampleCall& call, long long task, void* memory);
long long warp_image_task_count(const native::WarpCall& call);
void warp_image_task(const native::WarpCall& call, long long task, void* memory);

void nms_task(const native::RecordCall& call, long long n);
void pooling_task(const native::PoolingCall& call, long long task);
void soft_nms_task(const void* record, long long n);
void rotated_iou_task(const void* record, long long row);
void upright_iou_task(const void* record, long long task);

}  // namespace cuaug
}  // namespace ISA_NAMESPACE

namespace native {

namespace loops = ISA_NAMESPACE::cuaug;

extern const LoopTable ISA_TABLE = {
    ISA_NAME,
    ISA_FLAGS,
    {loops::adjust_sharpness_task_count, loops::adjust_sharpness_task},
    {loops::blend_task_count, loops::blend_task},
    {loops::channel_min_max_task_count, loops::channel_min_max_task},
    {loops::gaussian_blur_task_count, loops::gaussian_blur_task},
    {loops::histogram_lut_task_count, loops::histogram_lut_task},
    {loops::jpeg_task_count, loops::jpeg_task},
    {loops::luma_mean_task_count, loops::luma_mean_task},
    {loops::lut_task_count, loops::lut_task},
    {loops::mix_task_count, loops::mix_task},
    {loops::pointwise_task_count, loops::pointwise_task},
    {loops::resample_task_count, loops::resample_task},
    {loops::warp_image_task_count, loops::warp_image_task},
    loops::nms_task,
    loops::pooling_task,
    loops::soft_nms_task,
    loops::rotated_iou_task,
    loops::upright_iou_task,
};

}  // namespace native
