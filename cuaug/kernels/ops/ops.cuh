#pragma once

#include "ops/adjust_brightness.cuh"
#include "ops/adjust_contrast.cuh"
#include "ops/adjust_gamma.cuh"
#include "ops/adjust_hue.cuh"
#include "ops/adjust_saturation.cuh"
#include "ops/autocontrast.cuh"
#include "ops/coarse_dropout.cuh"
#include "ops/color_jitter.cuh"
#include "ops/color_matrix.cuh"
#include "ops/convert_range.cuh"
#include "ops/erase.cuh"
#include "ops/gaussian_noise.cuh"
#include "ops/grayscale.cuh"
#include "ops/grid_mask.cuh"
#include "ops/invert.cuh"
#include "ops/jitter_after_mean.cuh"
#include "ops/jitter_before_mean.cuh"
#include "ops/normalize.cuh"
#include "ops/permute_channels.cuh"
#include "ops/posterize.cuh"
#include "ops/random_grayscale.cuh"
#include "ops/rescale.cuh"
#include "ops/solarize.cuh"
#include "ops/uniform_noise.cuh"
#include "type_list.cuh"

namespace cuaug {

using Ops = FunctorList<AdjustBrightness, AdjustContrast, AdjustGamma, AdjustHue, AdjustSaturation, Autocontrast,
                        CoarseDropout, ColorJitter, ColorMatrix, ConvertRange, Erase, GaussianNoise, Grayscale,
                        GridMask, Invert, JitterAfterMean, JitterBeforeMean, Normalize, PermuteChannels, Posterize,
                        RandomGrayscale, Rescale, Solarize, UniformNoise>;

}  // namespace cuaug
