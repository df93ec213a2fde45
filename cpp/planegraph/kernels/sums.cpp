// The idea, the invariants and the cost are described in sums.hpp.
#include "planegraph/kernels/sums.hpp"

#include <algorithm>
#include <cstring>

#include "planegraph/kernels/wide.hpp"

namespace planegraph {
namespace {

template <class Float>
PLANEGRAPH_INLINE void add_row(Float* __restrict y, const Float* __restrict x, i64 width) {
  for (i64 k = 0; k < width; ++k) y[k] += x[k];
}

template <class Float>
PLANEGRAPH_INLINE void start_row(Float* y, const Float* x, i64 width, bool add) {
  if (add) {
    add_row(y, x, width);
  } else {
    std::memcpy(y, x, static_cast<std::size_t>(width) * sizeof(Float));
  }
}

template <class Float>
PLANEGRAPH_INLINE void sum_all(Matrix<const Float> x, const Entries& e, i64 width, Matrix<Float> y, bool add) {
  for (i64 r = 0; r < e.rows; ++r) {
    Float* to = y.data + r * y.stride;
    bool started = add;
    const i64 begin = e.begin ? e.begin[r] : r, end = e.begin ? e.end[r] : r + 1;
    for (i64 k = begin; k < end; ++k) {
      const i64 c = e.index ? e.index[k] : k;
      if (c < 0) continue;
      start_row(to, x.data + c * x.stride, width, started);
      started = true;
    }
    if (!started) std::fill_n(to, width, Float{0});
  }
}

PLANEGRAPH_WIDE void sum_floats(Matrix<const float> x, const Entries& e, i64 width, Matrix<float> y, bool add) {
  sum_all(x, e, width, y, add);
}
PLANEGRAPH_WIDE void sum_doubles(Matrix<const double> x, const Entries& e, i64 width, Matrix<double> y, bool add) {
  sum_all(x, e, width, y, add);
}

}  // namespace

template <>
void sum_rows(Matrix<const float> x, const Entries& entries, i64 width, Matrix<float> y, bool add) {
  sum_floats(x, entries, width, y, add);
}
template <>
void sum_rows(Matrix<const double> x, const Entries& entries, i64 width, Matrix<double> y, bool add) {
  sum_doubles(x, entries, width, y, add);
}

}  // namespace planegraph
