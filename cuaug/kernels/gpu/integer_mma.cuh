#pragma once

#include "gpu/word_pixel.cuh"

// D = A B + C by tensor cores (compute capability 8.0 or newer). A is [16, k] and B [k, 8], of uint8; C and D are [16,
// 8], of int32; k is 32 or 16. All lanes of a warp call these functions. With g = lane / 4, q = lane % 4 and i < k /
// 16, a lane holds
//   of A: k = 16 i + 4 q + (0 to 3) of row g in word 2 i, of row g + 8 in word 2 i + 1;
//   of B: the same k of column g in word i;
//   of C and D: (g, 2 q), (g, 2 q + 1), (g + 8, 2 q), (g + 8, 2 q + 1).

namespace cuaug {

struct Accumulators {
    int items[4];
};

inline Accumulators multiply_add(const Word (&a)[4], const Word (&b)[2], const Accumulators& c) {
    Accumulators out;
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(out.items[0]), "=r"(out.items[1]), "=r"(out.items[2]), "=r"(out.items[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c.items[0]), "r"(c.items[1]),
          "r"(c.items[2]), "r"(c.items[3]));
    return out;
}

inline Accumulators multiply_add(const Word (&a)[2], Word b, const Accumulators& c) {
    Accumulators out;
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(out.items[0]), "=r"(out.items[1]), "=r"(out.items[2]), "=r"(out.items[3])
        : "r"(a[0]), "r"(a[1]), "r"(b), "r"(c.items[0]), "r"(c.items[1]), "r"(c.items[2]), "r"(c.items[3]));
    return out;
}

}  // namespace cuaug
