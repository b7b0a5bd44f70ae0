#pragma once

#include "../draw_record.cuh"
#include "boxes.cuh"
#include "carry.cuh"

// A recipe's draws as a program that every sample runs for itself: first what is random, into the sample's row of the table, then,
// from the last geometric op to the first, how the coordinates of the result are carried back to the source.
// It begins with its contents. An instruction is a few numbers: the header below, then its arguments. The kinds are named in
// cuaug/fusion/program.py, in this order.

namespace cuaug {

enum class Kind {
    // Draws: numbers into columns. Where the sample's gate is shut, `otherwise`.
    Constant,      // value, otherwise
    Uniform,       // low, high, rounded, otherwise
    Below,         // count, first, otherwise
    Chance,        // probability, yes, otherwise
    Choice,        // count, cumulated weights[count]; -1 where the gate is shut
    Permutation,   // count
    Order,         // count; as Permutation, but -1 throughout where the gate is shut
    Entry,         // column of an index, or -1 for any; whether half of the samples get the negative; otherwise; plus; count, entries[count]
    Beta,          // a, b, otherwise
    Crop,          // height and width of the canvas and of the crop; draws top, left
    ResizedCrop,   // height, width, BoxRange; draws a box
    Erased,        // height, width, BoxRange; draws a box, empty where the gate is shut
    Cut,           // height, width, column of the share kept, which becomes exact; draws a box
    Corners,       // height, width, distortion; draws 8 displacements
    Words,         // draws the stream's 8 numbers for ops that draw at each pixel: 3 of the seed, 2 of step and id, the position
    // Coordinates, carried back through one op. Arguments from the table are named by their column.
    Box,           // column of top, left, height, width; height and width of the result
    Shift,         // column of top, left
    Mirror,        // column; extent; 1 for rows
    Affine,        // column of angle, shifts, scale, shears; centre
    Perspective,   // column of 8 displacements; height, width
    // Matrices into columns.
    KeepPass,      // count of numbers, 6 or 9; starts anew
    KeepAll,       // 9 numbers, of the whole recipe, from source to result
    Toggle,        // column of a flag that turns the flag of this column round
};

struct Instruction {
    int kind, position;
    int index, gate;         // a column that must hold the value, or -1
    int column, own;         // the first to write; where the sample's own arguments begin that stand for those below, or -1
    double gate_value;

    const double* arguments() const { return &gate_value + 1; }
};

// What a sample carries through the program.
struct Progress {
    Carry pass, all;
};

inline void put(double* to, const DrawnBox& box) {
    to[0] = box.top;
    to[1] = box.left;
    to[2] = box.height;
    to[3] = box.width;
}

inline void run(const Instruction& it, const double* own, const Stream& stream, double* row, Progress& progress) {
    const double* a = it.own < 0 ? it.arguments() : own + it.own;
    double* out = row + it.column;
    const bool open = it.gate < 0 || row[it.gate] == it.gate_value;
    Random random({stream.seed, stream.step, stream.id, static_cast<unsigned int>(it.position)}, static_cast<unsigned int>(it.index));
    auto carry = [&](const Carry& back) { progress.pass = back * progress.pass; };
    auto from = [&](int i) { return row + static_cast<int>(a[i]); };
    switch (static_cast<Kind>(it.kind)) {
        case Kind::Constant: *out = open ? a[0] : a[1]; return;
        case Kind::Uniform: {
            const double value = random.uniform(a[0], a[1]);
            *out = !open ? a[3] : a[2] != 0.0 ? rounded(value) : value;
            return;
        }
        case Kind::Below: *out = open ? random.below(static_cast<int>(a[0])) + a[1] : a[2]; return;
        case Kind::Chance: *out = open && random.uniform() < a[0] ? a[1] : a[2]; return;
        case Kind::Choice: {
            const double at = random.uniform();
            int i = 0;
            while (i < static_cast<int>(a[0]) - 1 && at >= a[1 + i]) ++i;
            *out = open ? i : -1.0;
            return;
        }
        case Kind::Permutation:
        case Kind::Order: {
            const int count = static_cast<int>(a[0]);
            const bool none = !open && static_cast<Kind>(it.kind) == Kind::Order;
            for (int i = 0; i < count; ++i) out[i] = none ? -1.0 : i;
            for (int i = count - 1; open && i > 0; --i) {  // Fisher and Yates
                const int j = random.below(i + 1);
                const double held = out[i];
                out[i] = out[j];
                out[j] = held;
            }
            return;
        }
        case Kind::Entry: {
            const int at = a[0] < 0.0 ? random.below(static_cast<int>(a[4])) : static_cast<int>(*from(0));
            const double sign = a[1] != 0.0 && random.uniform() < 0.5 ? -1.0 : 1.0;
            *out = open && at >= 0 ? a[3] + sign * a[5 + at] : a[2];
            return;
        }
        case Kind::Beta: *out = open ? random.beta(a[0], a[1]) : a[2]; return;
        case Kind::Crop: {
            const int down = static_cast<int>(a[0] - a[2]) + 1, across = static_cast<int>(a[1] - a[3]) + 1;
            out[0] = open ? random.below(down) : 0.0;
            out[1] = open ? random.below(across) : 0.0;
            return;
        }
        case Kind::ResizedCrop: {
            const DrawnBox whole = {0.0, 0.0, a[0], a[1]};
            put(out, open ? resized_crop_box(random, static_cast<int>(a[0]), static_cast<int>(a[1]), *reinterpret_cast<const BoxRange*>(a + 2)) : whole);
            return;
        }
        case Kind::Erased: {
            const DrawnBox none = {0.0, 0.0, 0.0, 0.0};
            put(out, open ? erased_box(random, static_cast<int>(a[0]), static_cast<int>(a[1]), *reinterpret_cast<const BoxRange*>(a + 2)) : none);
            return;
        }
        case Kind::Cut: {
            DrawnBox box = {0.0, 0.0, 0.0, 0.0};
            if (open) box = cut_box(random, static_cast<int>(a[0]), static_cast<int>(a[1]), *from(2));
            put(out, box);
            *from(2) = 1.0 - box.height * box.width / (a[0] * a[1]);
            return;
        }
        case Kind::Corners: {
            const int down = static_cast<int>(a[2] * (static_cast<int>(a[0]) / 2)) + 1, across = static_cast<int>(a[2] * (static_cast<int>(a[1]) / 2)) + 1;
            for (int i = 0; i < 4; ++i) {
                out[2 * i] = open ? random.below(across) : 0.0;
                out[2 * i + 1] = open ? random.below(down) : 0.0;
            }
            return;
        }
        case Kind::Words: {
            auto piece = [](unsigned long long number, int i) { return static_cast<double>(number >> 24 * i & 0xFFFFFFu); };
            for (int i = 0; i < 3; ++i) out[i] = piece(stream.seed, i);
            for (int i = 0; i < 2; ++i) out[3 + i] = piece(stream.step & 0xFFFFFFFFu, i), out[5 + i] = piece(stream.id, i);
            out[7] = it.position;
            return;
        }
        case Kind::Box: {
            const double* box = from(0);
            return carry(carry_box(box[0], box[1], box[2], box[3], a[1], a[2]));
        }
        case Kind::Shift: return carry(Carry::affine(1, 0, from(0)[1], 0, 1, from(0)[0]));
        case Kind::Mirror: {
            if (*from(0) == 0.0) return;
            return carry(a[2] != 0.0 ? Carry::affine(1, 0, 0, 0, -1, a[1] - 1.0) : Carry::affine(-1, 0, a[1] - 1.0, 0, 1, 0));
        }
        case Kind::Affine: {
            const double* drawn = from(0);
            return carry(carry_affine(drawn[0], drawn[1], drawn[2], drawn[3], drawn[4], drawn[5], a[1], a[2]));
        }
        case Kind::Perspective: return carry(carry_corners(from(0), static_cast<int>(a[1]), static_cast<int>(a[2])));
        case Kind::KeepPass:
            for (int i = 0; i < 9; ++i)  // not up to a number that is not known, which would keep the matrix in memory
                if (i < static_cast<int>(a[0])) out[i] = progress.pass.m[i];
            progress.all = progress.pass * progress.all;
            progress.pass = Carry::identity();
            return;
        case Kind::KeepAll: {
            const Carry forward = inverse(progress.all);
            for (int i = 0; i < 9; ++i) out[i] = forward.m[i];
            return;
        }
        case Kind::Toggle:
            if (*from(0) != 0.0) *out = *out == 0.0 ? 1.0 : 0.0;
            return;
    }
}

// Phases: of draws that do not depend on each other, and after those that their gates and arguments name; the last is of coordinates.
struct Contents {
    int phases;
    int first[1];            // instruction of a phase, and behind the last how many there are; then where in the program each begins

    int begin(int instruction) const { return first[phases + 1 + instruction]; }
};

// Sample n of a batch, into its row. Of the instructions of a phase this does every `shares`-th; the coordinates, each of which follows
// from the one before, are carried by share 0.
template <class Wait>
inline void draw_sample(const Draw& args, const double* program, double* row, long long step, long long n, bool exists, int share, int shares, const Wait& wait) {
    const unsigned long long id = !exists ? 0 : args.ids != nullptr ? args.ids[n] : args.first_id + n;
    const Stream stream = {static_cast<unsigned long long>(args.seed), static_cast<unsigned long long>(step), id, 0};
    const Contents& contents = *reinterpret_cast<const Contents*>(program);
    Progress progress = {Carry::identity(), Carry::identity()};
    const double* own = args.own + n * args.own_stride;
    for (int phase = 0; phase < contents.phases; ++phase) {
        const bool coordinates = phase == contents.phases - 1;
        const int end = coordinates && share > 0 ? 0 : contents.first[phase + 1];
        if (phase > 0) wait();
        for (int i = contents.first[phase] + share; exists && i < end; i += coordinates ? 1 : shares)
            run(*reinterpret_cast<const Instruction*>(program + contents.begin(i)), own, stream, row, progress);
    }
}

}  // namespace cuaug
