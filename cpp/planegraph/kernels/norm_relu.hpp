// Batch norm with its ReLU, and its gradient, for matrices of floats on the CPU: two passes over the rows each way.
//
//   y = relu( w c s + b ),  c = x - mean,  s = 1 / sqrt(variance + eps),  over the n rows that are real (all, if there is no mask)
//
// A column is flat if variance <= flat (1 + mean^2); then s = 0. nn/ops/norm_relu.py says why.
//
// With g the gradient past the ReLU: dx = w s ( g - sum(g) / n - c s^2 sum(g c) / n ), dw = s sum(g c), db = sum(g).
// Columns are summed by blocks of rows, and the blocks in double precision, so that a long column loses no digits. O(rows * width).
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

/// The rows and what norms them; matrices lie densely, row after row. Everything of length `width` but the mask, of length `rows`.
template <class Float>
struct Norm {
  const Float* x;
  const u8* mask;  // null: all rows are real
  i64 rows, width;
  const Float *weight, *bias;
  Float *mean, *inverse;  // inverse is s
};

/// Averages over the batches, which move towards each new value by `momentum` of the difference; those of a column that has been flat in all
/// batches so far, at first 0 and 1, take the new value itself.
template <class Float>
struct Running {
  Float *mean, *variance;
  Float momentum;
};

/// Fills y, mean and inverse; returns n. Rows that are not real are normed too, but do not count. The running variance is that of a
/// sample, over n - 1: it stays as it was if n < 2, but for a column that has always been flat, and the running mean if n < 1.
template <class Float>
i64 norm_relu(const Norm<Float>& norm, Float eps, Float flat, const Running<Float>& running, Float* y);

/// Fills dx (0 at rows that are not real), dw and db from the gradient of y.
template <class Float>
void norm_relu_gradient(const Norm<Float>& norm, i64 n, const Float* gradient, Float* dx, Float* dw, Float* db);

}  // namespace planegraph
