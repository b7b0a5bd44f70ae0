#pragma once

// The program of a recipe's draws. It is run for every sample: draws write random numbers into the sample's row of the
// parameter table; then, for each pass, coordinate instructions compose the map from the pass's result to its source,
// from the last geometric op to the first; at last, these maps give the recipe's matrices. Assembled by
// cuaug/_fusion/program.py.

namespace cuaug {

// Named in cuaug/_fusion/program.py, in this order. A comment lists the arguments. An argument that lies in the table
// is given by its column. If the condition (`gate_column` of Instruction) does not hold, a draw writes `else_value`,
// or, if it has none, values that change nothing.
enum class Opcode {
    Constant,           // value, else_value
    Uniform,            // low, high, whether to round, else_value
    RandInt,            // count, first, else_value
    Bernoulli,          // probability, value if true, else_value (also if false)
    Permutation,        // count
    PermutationOrNone,  // count; -1 throughout if the condition does not hold
    Crop,               // height and width of the canvas and of the crop; draws top, left
    ResizedCrop,        // height, width, BoxRange; draws a box
    RandomErasing,      // height, width, BoxRange; draws a box, empty if the condition does not hold
    // Rare draws.
    Categorical,         // count, cumulative weights[count]; -1 if the condition does not hold
    ListValue,           // column of an index, or -1 to draw one; whether to negate with probability 1/2;
                         // else_value (also if the index is negative); addend; count, values[count]
    Beta,                // a, b, else_value
    CutMixBox,           // height, width, column of the fraction to keep, replaced by what the drawn box leaves
    PerspectiveCorners,  // height, width, distortion; draws 8 displacements
    StreamColumns,       // none; writes the 8 numbers of `StreamColumns`
    // Coordinate instructions. Those named Inverse compose the inverse of one op with the map.
    InverseCropResize,      // column of top, left, height, width; height and width of the result, and their reciprocals
    InverseWindowedResize,  // the same; also stores the window of the result that the crops and flips composed so far
                            // leave, as columns 4 to 9 of ResampleRecord::box
    InverseTranslate,       // column of top, left
    InverseFlip,            // column of a flag; height or width; 1 for a vertical flip, 0 for a horizontal one
    StorePassMap,           // how many numbers, 6 or 9: stores the map of the pass
    // Rare coordinate instructions.
    InverseAffine,       // column of angle, shifts, scale, shears; center; 1 if the angle is clockwise, else -1
    InversePerspective,  // column of 8 displacements; height, width
    // After all passes.
    StoreForwardMatrix,  // number of passes; for each pass, the last one first, the column of its map and how many
                         // numbers it has: stores the recipe's matrix from source to result
};

struct Instruction {
    int opcode;
    int position;          // of the transform in the recipe
    int index;             // of the draw within its position (PhiloxStream::draw)
    int gate_column;       // the condition: this column holds `gate_value`; -1: none
    int column;            // the first that is written
    int sample_arguments;  // index of the first of a sample's own arguments, which replace `arguments()`; -1: none
    double gate_value;

    // They follow the instruction in the program.
    const double* arguments() const { return &gate_value + 1; }
};

// The program begins with this header. Draws of one phase are independent of each other and come after the draws that
// they read. Passes are independent of each other, too, and so are the instructions after them.
struct ProgramHeader {
    int draw_phases, passes;
    int first[1];  // [draw_phases + passes + 2]: index of the first instruction of each phase, of each pass, and after
                   // them; then the number of instructions. After these, for each instruction, where it begins in the
                   // program, in units of 8 bytes
};

}  // namespace cuaug
