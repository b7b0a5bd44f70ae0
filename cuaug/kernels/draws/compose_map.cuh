#pragma once

#include "draws/instruction.cuh"
#include "draws/inverse_map.cuh"

// Coordinate instructions: they compose the map from the result of a pass to its source.

namespace cuaug {

// Not inlined, as `draw_rare_opcode`.
__attribute__((noinline)) inline void compose_rare_opcode(const Instruction& it, const double* a, double* row,
                                                          InverseMap& pass) {
    const double* drawn = row + static_cast<int>(a[0]);
    if (static_cast<Opcode>(it.opcode) != Opcode::StoreForwardMatrix) {
        const bool affine = static_cast<Opcode>(it.opcode) == Opcode::InverseAffine;
        pass = (affine ? inverse_affine(drawn[0], drawn[1], drawn[2], drawn[3], drawn[4], drawn[5], a[1], a[2])
                       : inverse_perspective(drawn, static_cast<int>(a[1]), static_cast<int>(a[2]))) *
               pass;
    } else {
        InverseMap all = InverseMap::identity();
#pragma unroll 1
        for (int i = 0; i < static_cast<int>(a[0]); ++i) {
            const double* stored = row + static_cast<int>(a[1 + 2 * i]);
            InverseMap map = InverseMap::affine(stored[0], stored[1], stored[2], stored[3], stored[4], stored[5]);
            for (int j = 6; a[2 + 2 * i] > 6.0 && j < 9; ++j) map.m[j] = stored[j];
            all = map * all;
        }
        all = invert(all);
        for (int i = 0; i < 9; ++i) row[it.column + i] = all.m[i];
    }
}

// `a`: arguments. `row`: the sample's row. `pass`: the map composed so far.
inline void compose_map(const Instruction& it, const double* a, double* row, InverseMap& pass) {
    auto argument_column = [&](int i) { return row + static_cast<int>(a[i]); };
    double* out = row + it.column;
    const Opcode opcode = static_cast<Opcode>(it.opcode);
    if (opcode <= Opcode::InverseFlip) {
        const double* drawn = argument_column(0);
        AxisMap axes = {1.0, 0.0, 1.0, 0.0};
        if (opcode == Opcode::InverseCropResize)
            axes = inverse_crop_resize(drawn[0], drawn[1], divide(drawn[2], a[1], a[3]), divide(drawn[3], a[2], a[4]));
        else if (opcode == Opcode::InverseTranslate)
            axes.tx = drawn[1], axes.ty = drawn[0];
        else if (drawn[0] == 0.0)
            return;
        else if (a[2] != 0.0)
            axes.sy = -1.0, axes.ty = a[1] - 1.0;
        else
            axes.sx = -1.0, axes.tx = a[1] - 1.0;
        pass = pass.then(axes);
    } else if (opcode == Opcode::StorePassMap) {
        const bool projective = a[0] > 6.0;
        for (int i = 0; i < 6; ++i) out[i] = pass.m[i];
        for (int i = 6; projective && i < 9; ++i) out[i] = pass.m[i];
        pass = InverseMap::identity();
    } else if (opcode == Opcode::XorFlag) {
        if (*argument_column(0) != 0.0) *out = *out == 0.0 ? 1.0 : 0.0;
    } else {
        InverseMap in_memory = pass;  // a copy, so that only it lies in local memory
        compose_rare_opcode(it, a, row, in_memory);
        pass = in_memory;
    }
}

}  // namespace cuaug
