#pragma once

// Kernels of a recipe follow each other closely: while one is at work the next is set up, and its blocks take the
// places that are free. GPUs of compute capability 9.0 and newer; `_cuda.prepared` asks for it, and older ones know no
// such instructions. A kernel that is launched so must wait before it reads or writes memory, for what is before it may
// still be at work.

namespace cuaug {

// For all kernels before, and what they have written.
inline void wait_for_previous() {
    if constexpr (__CUDA_ARCH__ >= 900) asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Once all blocks of this kernel have come here, or are done: while its last ones are at work, those of the next are
// set up, and wait. Kernels that are at work for long say so when they have waited themselves, so that those of one
// kernel at a time hold places without working.
inline void allow_next_launch() {
    if constexpr (__CUDA_ARCH__ >= 900) asm volatile("griddepcontrol.launch_dependents;");
}

}  // namespace cuaug
