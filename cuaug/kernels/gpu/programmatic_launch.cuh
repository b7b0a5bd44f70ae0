#pragma once

// Programmatic dependent launch: while a kernel runs, the next one is set up, and its blocks occupy free slots of the
// multiprocessors. `launch_arguments` (_gpu/launch.py) requests it for the kernels of `PDL_SKELETONS` (_gpu/kernels.py)
// if the GPU has the instructions (compute capability 9.0 or newer) and the driver can capture such launches (12.4 or
// newer). A kernel launched this way must wait before it reads or writes global memory, because previous kernels may
// still be running.

namespace cuaug {

// Waits for all previous kernels and their writes.
inline void wait_for_previous() {
    if constexpr (__CUDA_ARCH__ >= 900) asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Lets the next kernel start once every block of this kernel has called this function or exited; the blocks of the next
// kernel then wait in `wait_for_previous`. Long kernels call this function only after their own wait, so that at most
// one waiting kernel occupies multiprocessors.
inline void allow_next_launch() {
    if constexpr (__CUDA_ARCH__ >= 900) asm volatile("griddepcontrol.launch_dependents;");
}

}  // namespace cuaug
