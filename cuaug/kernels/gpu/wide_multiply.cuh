#pragma once

namespace cuaug {

// a * b in 64 bits by one instruction. The compiler turns a product written in C++ into four instructions once it has
// moved a sign extension out of a loop.
inline long long mul_wide(int a, int b) {
    long long out;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(out) : "r"(a), "r"(b));
    return out;
}

// address + a * b, by one instruction.
inline const unsigned char* mad_wide(int a, int b, const unsigned char* address) {
    const unsigned char* out;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(out) : "r"(a), "r"(b), "l"(address));
    return out;
}

}  // namespace cuaug
