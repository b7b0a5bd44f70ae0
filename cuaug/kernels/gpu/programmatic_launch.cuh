#pragma once

// Programmatic dependent launch: while a kernel runs, the next one is set up, and its blocks occupy free slots. Compute
// capability 9.0 and newer; `launch_arguments` (_gpu/launch.py) asks for it, and older GPUs have no such instructions.
// A kernel launched this way must wait before it reads or writes memory, because previous kernels may still be running.

namespace cuaug {

// Waits for all previous kernels and their writes.
inline void wait_for_previous() {
    if constexpr (__CUDA_ARCH__ >= 900) asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Lets the next kernel start once every block of this one has called this or exited; its blocks then wait in
// `wait_for_previous`. Long kernels call it only after their own wait, so that only one following kernel at a time
// occupies multiprocessors without working.
inline void allow_next_launch() {
    if constexpr (__CUDA_ARCH__ >= 900) asm volatile("griddepcontrol.launch_dependents;");
}

}  // namespace cuaug
