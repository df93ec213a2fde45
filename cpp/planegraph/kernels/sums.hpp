// Sums along an incidence: y_r = sum of x_c over the entries (r, c), for matrices of floats (the messages of the models).
//
// Row r has the entries begin[r] .. end[r]; entry k stands for row index[k] of x, or for row k if there is no index. Without
// begin, row r has the single entry index[r]. Ids below 0 stand for nothing; ids must be below `columns`.
// O(entries * width); each element is added in the order of the entries, so the result does not depend on the machine.
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

struct Entries {
  const i32* index = nullptr;
  const i32* begin = nullptr;
  const i32* end = nullptr;
  i64 rows = 0;
};

/// A matrix by rows; `stride` elements lie between the starts of two rows.
template <class Float>
struct Matrix {
  Float* data;
  i64 stride;
};

/// y = A x, or y += A x.
template <class Float>
void sum_rows(Matrix<const Float> x, const Entries& entries, i64 width, Matrix<Float> y, bool add);

}  // namespace planegraph
