#pragma once

#include "matrices/affine_matrix.cuh"
#include "matrices/compose_affine.cuh"
#include "matrices/convert_matrix.cuh"
#include "matrices/estimate_affine.cuh"
#include "matrices/get_perspective_transform.cuh"
#include "matrices/get_rotation_matrix.cuh"
#include "matrices/invert_affine.cuh"
#include "matrices/perspective_coefficients.cuh"
#include "matrices/stack_numbers.cuh"
#include "matrices/transform_points.cuh"
#include "type_list.cuh"

namespace cuaug {

// `build(args, n, k, item)` computes item k of sample n and returns 0, or the number, from 1, of the rule that its
// input breaks (`rules` in _matrices/builders.py).
using MatrixBuilders =
    TypeList<AffineMatrix, ComposeAffine, ConvertMatrix, EstimateAffine, GetPerspectiveTransform, GetRotationMatrix,
             InvertAffine, PerspectiveCoefficients, StackNumbers, TransformPoints>;

template <class Builder>
inline void build_item(const MatrixBuilderRecord& args, long long i) {
    const long long n = args.items == 1 ? i : i / args.items;
    double item[max_item_size];
    const int failure = Builder::build(args, n, i - n * args.items, item);
    store_item(args, i, item, failure);
}

}  // namespace cuaug
