#pragma once

#include "draws/instruction.cuh"
#include "draws/inverse_map.cuh"

// Coordinate instructions (instruction.cuh): they compose the map from the result of a pass to its source.

namespace cuaug {

// Not inlined, for the reason given at `draw_rare_opcode` (draw_values.cuh).
__attribute__((noinline)) inline void compose_rare_opcode(const Instruction& instruction, const double* arguments,
                                                          const double* row, InverseMap& pass_map) {
    const double* drawn = row + static_cast<int>(arguments[0]);
    const bool affine = static_cast<Opcode>(instruction.opcode) == Opcode::InverseAffine;
    pass_map = (affine ? inverse_affine(arguments[3] * drawn[0], drawn[1], drawn[2], drawn[3], drawn[4], drawn[5],
                                        arguments[1], arguments[2])
                       : inverse_perspective(drawn, static_cast<int>(arguments[1]), static_cast<int>(arguments[2]))) *
               pass_map;
}

// Multiplies the maps of the passes and inverts the product: the recipe's matrix from source to result.
__attribute__((noinline)) inline void store_forward_matrix(const Instruction& instruction, double* row) {
    const double* arguments = instruction.arguments();
    const int passes = static_cast<int>(arguments[0]);
    InverseMap recipe_map = InverseMap::identity();
#pragma unroll 1
    for (int i = 0; i < passes; ++i) {
        const double* stored = row + static_cast<int>(arguments[1 + 2 * i]);
        InverseMap map = InverseMap::affine(stored[0], stored[1], stored[2], stored[3], stored[4], stored[5]);
        for (int j = 6; arguments[2 + 2 * i] > 6.0 && j < 9; ++j) map.m[j] = stored[j];
        recipe_map = map * recipe_map;
    }
    recipe_map = invert(recipe_map);
    for (int i = 0; i < 9; ++i) row[instruction.column + i] = recipe_map.m[i];
}

// Stores the window that crops and flips leave of a resized box of height x width pixels (records/resample.cuh). `map`
// is their composition.
inline void store_window(const InverseMap& map, double height, double width, double* out) {
    out[0] = height, out[1] = map.m[4], out[2] = map.m[5];
    out[3] = width, out[4] = map.m[0], out[5] = map.m[2];
}

// `row`: the sample's row of the parameter table. `pass_map`: the map of the current pass, composed so far.
inline void compose_map(const Instruction& instruction, const double* arguments, double* row, InverseMap& pass_map) {
    auto argument_column = [&](int i) { return row + static_cast<int>(arguments[i]); };
    double* out = row + instruction.column;
    const Opcode opcode = static_cast<Opcode>(instruction.opcode);
    if (opcode <= Opcode::InverseFlip) {
        const double* drawn = argument_column(0);
        AxisMap axes = {1.0, 0.0, 1.0, 0.0};
        if (opcode == Opcode::InverseWindowedResize) store_window(pass_map, arguments[1], arguments[2], out);
        if (opcode <= Opcode::InverseWindowedResize)
            axes = inverse_crop_resize(drawn[0], drawn[1], divide(drawn[2], arguments[1], arguments[3]),
                                       divide(drawn[3], arguments[2], arguments[4]));
        else if (opcode == Opcode::InverseTranslate)
            axes.tx = drawn[1], axes.ty = drawn[0];
        else if (drawn[0] == 0.0)
            return;
        else if (arguments[2] != 0.0)
            axes.sy = -1.0, axes.ty = arguments[1] - 1.0;
        else
            axes.sx = -1.0, axes.tx = arguments[1] - 1.0;
        pass_map = pass_map.then(axes);
    } else if (opcode == Opcode::StorePassMap) {
        const bool projective = arguments[0] > 6.0;
        for (int i = 0; i < 6; ++i) out[i] = pass_map.m[i];
        for (int i = 6; projective && i < 9; ++i) out[i] = pass_map.m[i];
    } else {
        InverseMap in_memory = pass_map;  // a copy, so that `pass_map` itself stays in registers
        compose_rare_opcode(instruction, arguments, row, in_memory);
        pass_map = in_memory;
    }
}

}  // namespace cuaug
