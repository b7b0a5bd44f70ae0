#pragma once

// CUDA on a CPU, as far as the kernels of cuaug/kernels use it, for tests. Blocks run one after the other. Each thread
// is a fiber that runs until it waits for others. Two errors that a GPU may hide are faults: threads that wait for
// each other at different barriers or shuffles, and an asynchronous copy that nothing waits for. Copied bytes are 0xa5
// until the wait. Two that a CPU allows are faults, too: an access to a misaligned address, and a write to dynamic
// shared memory beyond the bytes of the launch. A program that __init__.py writes includes this file before the
// kernel's text.

#include <ucontext.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <type_traits>
#include <vector>

#define __CUDA_ARCH__ 900
#define __global__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __builtin_assume(truth)
#define __isGlobal(pointer) true

struct alignas(8) uint2 {
    unsigned int x, y;
};
struct uint3 {
    unsigned int x, y, z;
};

namespace emulator {

struct Copy {
    char* to;
    const char* from;
    int bytes, bytes_read;  // bytes after bytes_read become 0
};

enum class State { running, at_barrier, at_warp_barrier, done };

struct Thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    uint3 index;
    State state;
    std::vector<Copy> copies;
};

constexpr int warp_size = 32, stack_bytes = 128 << 10, max_shared_bytes = 48 << 10;

inline ucontext_t scheduler;
inline std::vector<Thread> threads;
inline Thread* current;
inline uint3 block, grid_size;
inline unsigned long long exchanged[1024];  // by each thread of a block: its value in the last shuffle
// The bytes of the launch, which no block initialises, and a guard behind them: all are 0xff, part of a NaN, before a
// block runs.
alignas(16) inline unsigned char dynamic_shared[max_shared_bytes + (16 << 10)];
inline char misaligned[256];  // where the launch has accessed a misaligned address; empty: nowhere

inline void wait(State state) {
    current->state = state;
    swapcontext(&current->context, &scheduler);
}

// The lanes of the current thread's warp.
inline Thread* lanes() { return &threads[current->index.x / warp_size * warp_size]; }

template <class T>
inline T exchange(T value, int from) {
    static_assert(sizeof(T) <= sizeof(*exchanged));
    memcpy(&exchanged[current->index.x], &value, sizeof(T));
    wait(State::at_warp_barrier);
    memcpy(&value, &exchanged[(lanes() - threads.data()) + from % warp_size], sizeof(T));
    wait(State::at_warp_barrier);
    return value;
}

// If all threads of the group that have not ended wait in this state, they continue. Returns whether any does.
inline bool release(Thread* first, int count, State state) {
    int waiting = 0;
    for (int i = 0; i < count; ++i) {
        if (first[i].state != state && first[i].state != State::done) return false;
        waiting += first[i].state == state;
    }
    for (int i = 0; i < count; ++i)
        if (first[i].state == state) first[i].state = State::running;
    return waiting > 0;
}

// Runs all threads of a block to their ends; returns a fault, or null.
inline const char* run_block() {
    for (;;) {
        bool ran = false, done = true;
        for (Thread& thread : threads) {
            if (thread.state == State::running) {
                current = &thread;
                swapcontext(&scheduler, &thread.context);
                ran = true;
            }
            done &= thread.state == State::done;
        }
        if (done) break;
        const int count = static_cast<int>(threads.size());
        for (int i = 0; i < count; i += warp_size) ran |= release(&threads[i], warp_size, State::at_warp_barrier);
        ran |= release(threads.data(), count, State::at_barrier);
        if (!ran) return "threads wait for others that do not come";
    }
    for (const Thread& thread : threads)
        if (!thread.copies.empty()) return "copies are never waited for";
    return *misaligned ? misaligned : nullptr;
}

template <class Record>
struct Call {
    void (*kernel)(Record);
    const Record* record;
};

// The start of a thread. makecontext passes only ints: these are the two halves of a Call's address.
template <class Record>
inline void enter(unsigned int high, unsigned int low) {
    const auto* call = reinterpret_cast<const Call<Record>*>(static_cast<unsigned long>(high) << 32 | low);
    call->kernel(*call->record);
    current->state = State::done;
}

template <class Record>
inline const char* launch(void (*kernel)(std::type_identity_t<Record>), const Record& record, const unsigned int* grid,
                          int count, int shared_bytes) {
    if (shared_bytes > max_shared_bytes) return "more than 48 KiB of shared memory";
    const Call<Record> call = {kernel, &record};
    const auto address = reinterpret_cast<unsigned long>(&call);
    threads.resize(count);
    *misaligned = 0;
    grid_size = {grid[0], grid[1], grid[2]};
    for (block.z = 0; block.z < grid[2]; ++block.z)
        for (block.y = 0; block.y < grid[1]; ++block.y)
            for (block.x = 0; block.x < grid[0]; ++block.x) {
                memset(dynamic_shared, 0xff, sizeof(dynamic_shared));
                for (int i = 0; i < count; ++i) {
                    Thread& thread = threads[i];
                    if (!thread.stack) thread.stack.reset(new char[stack_bytes]);
                    getcontext(&thread.context);
                    thread.context.uc_stack.ss_sp = thread.stack.get();
                    thread.context.uc_stack.ss_size = stack_bytes;
                    thread.context.uc_link = &scheduler;
                    thread.index = {static_cast<unsigned int>(i), 0, 0};
                    thread.state = State::running;
                    thread.copies.clear();  // a block with a fault leaves some
                    makecontext(&thread.context, reinterpret_cast<void (*)()>(&enter<Record>), 2,
                                static_cast<unsigned int>(address >> 32), static_cast<unsigned int>(address));
                }
                if (const char* fault = run_block()) return fault;
                if (!std::all_of(dynamic_shared + shared_bytes, std::end(dynamic_shared),
                                 [](int b) { return b == 0xff; }))
                    return "a write beyond the dynamic shared memory";
            }
    return nullptr;
}

// The start of the struct that the compiler hands to a handler of -fsanitize.
struct AccessLocation {
    const char* path;
    unsigned int line, column;
};

// The record that a kernel takes.
template <class Record>
Record record_of(void (*)(Record));

inline float rounded_down(float (*operation)(float, float, float), float a, float b, float c) {
    std::fesetround(FE_DOWNWARD);
    volatile float x = a, y = b, z = c, out = operation(x, y, z);
    std::fesetround(FE_TONEAREST);
    return out;
}

}  // namespace emulator

// Code compiled with -fsanitize=alignment calls this function for an access to a misaligned address. This
// definition replaces that of the sanitizer's library.
extern "C" void __ubsan_handle_type_mismatch_v1(void* data, void*) {
    const auto& location = *static_cast<const emulator::AccessLocation*>(data);
    const char* slash = strrchr(location.path, '/');
    snprintf(emulator::misaligned, sizeof(emulator::misaligned), "misaligned address in line %u of %s", location.line,
             slash ? slash + 1 : location.path);
}

#define threadIdx (emulator::current->index)
#define blockIdx (emulator::block)
#define gridDim (emulator::grid_size)
#define blockDim (uint3{static_cast<unsigned int>(emulator::threads.size()), 1, 1})

using std::abs, std::ceil, std::fabs, std::floor, std::fma, std::fmax, std::fmin, std::round, std::sqrt;

template <class A, class B>
constexpr auto min(A a, B b) {
    using Both = std::common_type_t<A, B>;
    return static_cast<Both>(a) < static_cast<Both>(b) ? static_cast<Both>(a) : static_cast<Both>(b);
}
template <class A, class B>
constexpr auto max(A a, B b) {
    using Both = std::common_type_t<A, B>;
    return static_cast<Both>(a) > static_cast<Both>(b) ? static_cast<Both>(a) : static_cast<Both>(b);
}

inline void __syncthreads() { emulator::wait(emulator::State::at_barrier); }
inline void __syncwarp() { emulator::wait(emulator::State::at_warp_barrier); }
template <class T>
inline T __shfl_sync(unsigned int, T value, int lane) {
    return emulator::exchange(value, lane);
}
template <class T>
inline T __shfl_xor_sync(unsigned int, T value, int lane_mask) {
    return emulator::exchange(value, static_cast<int>(threadIdx.x) ^ lane_mask);
}
template <class T>
inline T __shfl_up_sync(unsigned int, T value, int delta) {
    const int lane = static_cast<int>(threadIdx.x) % emulator::warp_size;
    return emulator::exchange(value, lane < delta ? lane : lane - delta);
}
inline unsigned int __ballot_sync(unsigned int, bool truth) {
    unsigned int out = 0;
    for (int lane = 0; lane < emulator::warp_size; ++lane)
        out |= static_cast<unsigned int>(emulator::exchange(truth, lane)) << lane;
    return out;
}

template <class T>
inline T atomicAdd(T* address, T value) {  // threads take turns, and none is interrupted here
    const T old = *address;
    *address += value;
    return old;
}

inline bool __all_sync(unsigned int, bool truth) { return __ballot_sync(~0u, truth) == ~0u; }

// An address in shared memory has 32 bits: the distance from a static variable.
inline char shared_base;
inline size_t __cvta_generic_to_shared(const void* pointer) {
    return static_cast<unsigned int>(static_cast<const char*>(pointer) - &shared_base);
}
inline void* __cvta_shared_to_generic(size_t address) { return &shared_base + static_cast<int>(address); }

inline unsigned int __float_as_uint(float value) {
    unsigned int bits;
    memcpy(&bits, &value, 4);
    return bits;
}
inline int __float_as_int(float value) { return static_cast<int>(__float_as_uint(value)); }
inline float __uint_as_float(unsigned int bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
inline int __double2loint(double value) {
    int bits;
    memcpy(&bits, &value, 4);
    return bits;
}
inline int __double2int_rd(double value) { return static_cast<int>(floor(value)); }
inline int __float2int_rn(float value) { return static_cast<int>(std::nearbyint(value)); }

#include "half.hpp"

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return fma(a, b, c); }
inline float __fmaf_ieee_rn(float a, float b, float c) { return fma(a, b, c); }
inline float __fmaf_rd(float a, float b, float c) {
    return emulator::rounded_down([](float x, float y, float z) { return fma(x, y, z); }, a, b, c);
}
inline float __fadd_rd(float a, float b) {
    return emulator::rounded_down([](float x, float y, float) { return x + y; }, a, b, 0.0f);
}
inline float __fdividef(float a, float b) { return a / b; }

inline unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int selector) {
    const unsigned long both = static_cast<unsigned long>(b) << 32 | a;
    unsigned int out = 0;
    for (int i = 0; i < 4; ++i) out |= static_cast<unsigned int>(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return out;
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    return static_cast<unsigned int>((static_cast<unsigned long>(high) << 32 | low) >> (shift & 31));
}
inline unsigned int two_products(unsigned int halves, unsigned int bytes, unsigned int sum) {
    return (halves & 0xffff) * (bytes & 0xff) + (halves >> 16) * (bytes >> 8 & 0xff) + sum;
}
inline unsigned int __dp2a_lo(unsigned int halves, unsigned int bytes, unsigned int sum) {
    return two_products(halves, bytes, sum);
}
inline unsigned int __dp2a_hi(unsigned int halves, unsigned int bytes, unsigned int sum) {
    return two_products(halves, bytes >> 16, sum);
}
// The sum wraps, as on a GPU.
inline unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int sum) {
    for (int i = 0; i < 32; i += 8) sum += (a >> i & 0xff) * (b >> i & 0xff);
    return sum;
}

// PTX instructions as functions of their names; the result is the first argument.
inline void ptx_griddepcontrol_wait() {}
inline void ptx_griddepcontrol_launch_dependents() {}
inline void ptx_cp_async_ca_shared_global(unsigned int to, const void* from, int bytes, int bytes_read) {
    char* target = static_cast<char*>(__cvta_shared_to_generic(to));
    memset(target, 0xa5, bytes);
    emulator::current->copies.push_back({target, static_cast<const char*>(from), bytes, bytes_read});
}
inline void ptx_cp_async_cg_shared_global(unsigned int to, const void* from, int bytes_read) {
    ptx_cp_async_ca_shared_global(to, from, 16, bytes_read);
}
inline void ptx_cp_async_wait_all() {
    for (const auto& copy : emulator::current->copies) {
        memset(copy.to, 0, copy.bytes);
        memcpy(copy.to, copy.from, copy.bytes_read);
    }
    emulator::current->copies.clear();
}
// The second and the first number, clamped, as the lower bytes of a word; `upper` gives the others.
template <class Byte>
unsigned int saturate_two(int second, int first, unsigned int upper) {
    constexpr int low = std::is_signed_v<Byte> ? -128 : 0, high = low + 255;
    const auto byte = [=](int value) { return static_cast<unsigned char>(std::min(std::max(value, low), high)); };
    return upper << 16 | byte(second) << 8 | byte(first);
}
inline void ptx_cvt_pack_sat_u8_s32_b32(unsigned int& out, int second, int first, unsigned int upper) {
    out = saturate_two<unsigned char>(second, first, upper);
}
inline void ptx_cvt_pack_sat_s8_s32_b32(unsigned int& out, int second, int first, unsigned int upper) {
    out = saturate_two<signed char>(second, first, upper);
}
inline void ptx_cvt_rn_f32_f64(float& out, double value) { out = static_cast<float>(value); }
inline void ptx_cvt_f64_f32(double& out, float value) { out = value; }
inline void ptx_mad_wide_s32(const unsigned char*& out, int a, int b, const unsigned char* c) {
    out = c + static_cast<long long>(a) * b;
}
inline void ptx_mul_wide_s32(long long& out, int a, int b) { out = static_cast<long long>(a) * b; }
inline void ptx_dp4a_u32_s32(int& sum, unsigned int bytes, unsigned int weights) {
    for (int i = 0; i < 32; i += 8) sum += static_cast<int>(bytes >> i & 0xff) * static_cast<signed char>(weights >> i);
}
// Matrix products of a warp (kernels/gpu/integer_mma.cuh), of matrices a [16, k] and b [k, 8], k = 16 or 32. Each lane
// gives its words of both, and gets four sums.
template <int WordsOfB>
void multiply_matrices(int (&sums)[4], const unsigned int (&a)[2 * WordsOfB], const unsigned int (&b)[WordsOfB]) {
    static unsigned int lanes[1024][3 * WordsOfB];
    const int thread = threadIdx.x, lane = thread % emulator::warp_size, first_lane = thread - lane;
    std::copy(a, a + 2 * WordsOfB, lanes[thread]);
    std::copy(b, b + WordsOfB, lanes[thread] + 2 * WordsOfB);
    emulator::wait(emulator::State::at_warp_barrier);
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4 * WordsOfB; ++j) {  // a word has four bytes of k, those of word j / 4 of lane j % 4
            const unsigned int row = lanes[first_lane + lane / 4 * 4 + j % 4][2 * (j / 4) + i / 2],
                               column = lanes[first_lane + 4 * (2 * (lane % 4) + i % 2) + j % 4][2 * WordsOfB + j / 4];
            sums[i] = static_cast<int>(__dp4a(row, column, static_cast<unsigned int>(sums[i])));
        }
    emulator::wait(emulator::State::at_warp_barrier);
}
inline void ptx_mma_sync_aligned_m16n8k32_row_col_s32_u8_u8_s32(int& out0, int& out1, int& out2, int& out3,
                                                                unsigned int a0, unsigned int a1, unsigned int a2,
                                                                unsigned int a3, unsigned int b0, unsigned int b1,
                                                                int c0, int c1, int c2, int c3) {
    int sums[4] = {c0, c1, c2, c3};
    multiply_matrices<2>(sums, {a0, a1, a2, a3}, {b0, b1});
    out0 = sums[0], out1 = sums[1], out2 = sums[2], out3 = sums[3];
}
inline void ptx_mma_sync_aligned_m16n8k16_row_col_s32_u8_u8_s32(int& out0, int& out1, int& out2, int& out3,
                                                                unsigned int a0, unsigned int a1, unsigned int b0,
                                                                int c0, int c1, int c2, int c3) {
    int sums[4] = {c0, c1, c2, c3};
    multiply_matrices<1>(sums, {a0, a1}, {b0});
    out0 = sums[0], out1 = sums[1], out2 = sums[2], out3 = sums[3];
}
inline void ptx_prefetch_global_L2(const void*) {}
inline void ptx_fma_rn_sat_f32(float& out, float a, float b, float c) {
    out = fma(a, b, c);
    out = out > 0.0f ? out < 1.0f ? out : 1.0f : 0.0f;
}
inline void ptx_add_ftz_sat_f32(float& out, float a, float b) { ptx_fma_rn_sat_f32(out, 1.0f, a, b); }
inline void ptx_rcp_approx_ftz_f32(float& out, float value) { out = 1.0f / value; }
inline void ptx_lg2_approx_f32(float& out, float value) { out = std::log2(value); }
inline void ptx_ex2_approx_f32(float& out, float value) { out = std::exp2(value); }
inline void ptx_cvt_f32_f16(float& out, unsigned short bits) { out = half_value(bits); }
inline void ptx_cvt_rn_f16_f32(unsigned short& out, float value) { out = half_bits(value); }
inline void ptx_cvt_rn_bf16_f32(unsigned short& out, float value) { out = bfloat16_bits(value); }
inline void ptx_cvt_rn_f16x2_f32(unsigned int& out, float second, float first) {
    out = half_bits(first) | static_cast<unsigned int>(half_bits(second)) << 16;
}
inline void ptx_cvt_rn_bf16x2_f32(unsigned int& out, float second, float first) {
    out = bfloat16_bits(first) | static_cast<unsigned int>(bfloat16_bits(second)) << 16;
}
