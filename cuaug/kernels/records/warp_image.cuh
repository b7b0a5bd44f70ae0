#pragma once

#include "records/batch.cuh"

namespace cuaug {

// Division of a number below 2^31 by a divisor that the host knows, as one product: an integer division takes a GPU a
// hundred cycles (Granlund and Montgomery 1994).
struct FastDivisor {
    unsigned int factor;
    int shift;

    unsigned int divide(unsigned int number) const {
        return static_cast<unsigned int>(static_cast<unsigned long long>(number) * factor >> shift);
    }
};

// Output regions of one width, one above the other.
struct RegionColumn {
    int region_rows;  // of every region but the last: a multiple of 4, or of 8 if regions are halved
    int regions;
};

// What replaces sampling for samples whose geometry is the identity (samplers/sample_override.cuh).
struct SampleOverrideRecord {
    ParameterTable sharpness;  // [N, 1]: factor of the sharpening; 1: none. data null: 1 for all samples
    ParameterTable uses_lut;   // [N, 1]: not 0: the sample's levels are looked up. data null: 0 for all samples
    const unsigned char* lut;  // [N, C, 256]
};

// Resampling through a geometry, and a chain of ops on every pixel; optionally the mean luma of the result.
template <class Geometry>
struct WarpRecord : BatchWithFill {
    Geometry geometry;
    ParameterTable window;        // [N, 4]: top, left, height, width in pixels, for a border with a window
    ParameterTable parameters;    // [N, P]: the parameters of all ops, in their order
    ParameterTable partial_sums;  // [N, regions]: float64; each block writes its part of the sample's mean
    SampleOverrideRecord sample_override;
    RegionColumn full_width;  // output regions of full width
    RegionColumn remainder;   // regions in the leftover columns at the right edge
    // With raw staging: the number of regions of a slice (K channels of a frame). Otherwise: of regions in a column.
    // See gpu/region_scheduler.cuh.
    FastDivisor slice_divisor;
    FastDivisor row_divisor;     // the number of full-width regions side by side, at least 1
    unsigned int whole_regions;  // blocks below this number make a whole region; each other one makes half of one
};

}  // namespace cuaug
