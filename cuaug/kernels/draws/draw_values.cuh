#pragma once

#include "draws/boxes.cuh"
#include "draws/instruction.cuh"

// Instructions that draw random numbers into a sample's row of the parameter table. `Opcode` (instruction.cuh) lists
// the arguments of each.

namespace cuaug {

inline void store_box(double* to, const DrawnBox& box) {
    to[0] = box.top;
    to[1] = box.left;
    to[2] = box.height;
    to[3] = box.width;
}

// Not inlined, to keep the common opcodes close together: code that runs once waits for its instructions to be fetched,
// longest after far jumps. `row`: the sample's row. `condition`: whether the instruction's condition holds.
__attribute__((noinline)) inline void draw_rare_opcode(const Instruction& instruction, const double* arguments,
                                                       double* row, bool condition, unsigned long long seed,
                                                       unsigned long long step, unsigned long long id) {
    auto argument_column = [&](int i) { return row + static_cast<int>(arguments[i]); };
    double* out = row + instruction.column;
    if (static_cast<Opcode>(instruction.opcode) == Opcode::StreamColumns) {
        // In the order of the fields of `StreamColumns` (stream_columns.cuh), from which an op reads them.
        auto chunk = [](unsigned long long number, int i) { return static_cast<double>(number >> 24 * i & 0xFFFFFFu); };
        for (int i = 0; i < 3; ++i) out[i] = chunk(seed, i);
        for (int i = 0; i < 2; ++i) out[3 + i] = chunk(step & 0xFFFFFFFFu, i), out[5 + i] = chunk(id, i);
        out[7] = instruction.position;
        return;
    }
    Random random({seed, step, id, static_cast<unsigned int>(instruction.position)},
                  static_cast<unsigned int>(instruction.index));
    switch (static_cast<Opcode>(instruction.opcode)) {
        case Opcode::Categorical: {
            const double u = random.uniform();
            int i = 0;
            while (i < static_cast<int>(arguments[0]) - 1 && u >= arguments[1 + i]) ++i;
            *out = condition ? i : -1.0;
            return;
        }
        case Opcode::ListValue: {
            const int i = arguments[0] < 0.0 ? random.randint(static_cast<int>(arguments[4]))
                                             : static_cast<int>(*argument_column(0));
            const double sign = arguments[1] != 0.0 && random.uniform() < 0.5 ? -1.0 : 1.0;
            *out = condition && i >= 0 ? arguments[3] + sign * arguments[5 + i] : arguments[2];
            return;
        }
        case Opcode::Beta:
            *out = condition ? random.beta(arguments[0], arguments[1]) : arguments[2];
            return;
        case Opcode::CutMixBox: {
            DrawnBox box = {0.0, 0.0, 0.0, 0.0};
            if (condition)
                box = cutmix_box(random, static_cast<int>(arguments[0]), static_cast<int>(arguments[1]),
                                 *argument_column(2));
            store_box(out, box);
            *argument_column(2) = 1.0 - box.height * box.width / (arguments[0] * arguments[1]);
            return;
        }
        default: {  // PerspectiveCorners
            const int rows = static_cast<int>(arguments[2] * (static_cast<int>(arguments[0]) / 2)) + 1,
                      columns = static_cast<int>(arguments[2] * (static_cast<int>(arguments[1]) / 2)) + 1;
#pragma unroll 1
            for (int i = 0; i < 8; ++i) out[i] = condition ? random.randint(i % 2 == 0 ? columns : rows) : 0.0;
            return;
        }
    }
}

inline void draw_values(const Instruction& instruction, const double* arguments, double* row,
                        const PhiloxStream& stream) {
    const Opcode opcode = static_cast<Opcode>(instruction.opcode);
    double* out = row + instruction.column;
    const bool condition = instruction.gate_column < 0 || row[instruction.gate_column] == instruction.gate_value;
    if (opcode > Opcode::RandomErasing)
        return draw_rare_opcode(instruction, arguments, row, condition, stream.seed, stream.step, stream.id);
    if (opcode == Opcode::Constant) {
        *out = condition ? arguments[0] : arguments[1];
        return;
    }
    Random random({stream.seed, stream.step, stream.id, static_cast<unsigned int>(instruction.position)},
                  static_cast<unsigned int>(instruction.index));
    random.refill();  // once here, so that its code is not repeated for every opcode below
    if (opcode == Opcode::Uniform) {
        const double value = random.uniform(arguments[0], arguments[1]);
        *out = !condition ? arguments[3] : arguments[2] != 0.0 ? round_half_even(value) : value;
    } else if (opcode <= Opcode::Bernoulli) {
        const double u = random.uniform();
        if (opcode == Opcode::RandInt)
            *out = condition ? static_cast<int>(u * arguments[0]) + arguments[1] : arguments[2];
        else
            *out = condition && u < arguments[0] ? arguments[1] : arguments[2];
    } else if (opcode <= Opcode::PermutationOrNone) {
        const int count = static_cast<int>(arguments[0]);
        const bool none = !condition && opcode == Opcode::PermutationOrNone;
#pragma unroll 1
        for (int i = 0; i < count; ++i) out[i] = none ? -1.0 : i;
#pragma unroll 1
        for (int i = count - 1; condition && i > 0; --i) {  // Fisher and Yates
            const int j = random.randint(i + 1);
            const double swapped = out[i];
            out[i] = out[j];
            out[j] = swapped;
        }
    } else if (opcode == Opcode::Crop) {
        const int rows = static_cast<int>(arguments[0] - arguments[2]) + 1,
                  columns = static_cast<int>(arguments[1] - arguments[3]) + 1;
        out[0] = condition ? random.randint(rows) : 0.0;
        out[1] = condition ? random.randint(columns) : 0.0;
    } else {
        const bool erasing = opcode == Opcode::RandomErasing;
        DrawnBox box = {0.0, 0.0, erasing ? 0.0 : arguments[0], erasing ? 0.0 : arguments[1]};
        if (condition)
            box = draw_box(random, static_cast<int>(arguments[0]), static_cast<int>(arguments[1]),
                           *reinterpret_cast<const BoxRange*>(arguments + 2), erasing);
        store_box(out, box);
    }
}

}  // namespace cuaug
