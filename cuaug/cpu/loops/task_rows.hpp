#pragma once

#include "records/batch.cuh"

namespace cuaug {

// The rows of a task: top .. bottom - 1 of frame t of sample n.
struct TaskRows {
    long long n, t;
    int top, bottom;
};

// The rows of a task, if frames have `height` rows and tasks `rows_per_task`; the last task of a frame may have fewer.
inline TaskRows task_rows(const BatchRecord& args, int height, int rows_per_task, long long task) {
    const int tasks_per_frame = (height + rows_per_task - 1) / rows_per_task,
              top = static_cast<int>(task % tasks_per_frame) * rows_per_task;
    const long long frame = task / tasks_per_frame, n = frame / args.frames;
    return {n, frame - n * args.frames, top, height - top < rows_per_task ? height : top + rows_per_task};
}

}  // namespace cuaug
