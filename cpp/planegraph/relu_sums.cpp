// The idea, the invariants and the cost are described in relu_sums.hpp.
#include "relu_sums.hpp"

#include <algorithm>

#include "wide.hpp"

namespace planegraph {
namespace {

/// The rows of one entry, absent ones as a row of zeros (or, for gradients, a row that nobody reads).
template <class Float, i32 kTerms>
struct Entry {
  const Float* row[kTerms];
  Float* gradient[kTerms];
};

template <class Float, i32 kTerms, bool kBackward>
PLANEGRAPH_INLINE Entry<Float, kTerms> entry(const ReluSum<Float>& sum, i64 i, const Float* zeros, Float* nowhere) {
  Entry<Float, kTerms> e;
  for (i32 t = 0; t < kTerms; ++t) {
    const Term<Float>& term = sum.terms[t];
    const i64 id = term.index[i];
    e.row[t] = id < 0 ? zeros : term.table.data + id * term.table.stride;
    if (kBackward)
      e.gradient[t] = id < 0 || !term.gradient.data ? nowhere + t * sum.width : term.gradient.data + id * term.gradient.stride;
  }
  return e;
}

template <class Float, i32 kTerms>
PLANEGRAPH_INLINE void forward(const ReluSum<Float>& sum, Rows<Float> y) {
  const std::vector<Float> zeros(sum.width, Float{0});
  const i64 width = sum.width;
  for (i64 s = 0; s < sum.segments; ++s) {
    Float* __restrict to = y.data + s * y.stride;
    std::fill_n(to, width, Float{0});
    for (i64 i = sum.begin[s]; i < sum.end[s]; ++i) {
      const Entry<Float, kTerms> e = entry<Float, kTerms, false>(sum, i, zeros.data(), nullptr);
      for (i64 k = 0; k < width; ++k) {
        Float x = e.row[0][k];
        for (i32 t = 1; t < kTerms; ++t) x += e.row[t][k];
        to[k] += x < 0 ? Float{0} : x;  // so that NaN stays NaN
      }
    }
  }
}

template <class Float, i32 kTerms>
PLANEGRAPH_INLINE void backward(const ReluSum<Float>& sum, Rows<const Float> y_gradient) {
  const std::vector<Float> zeros(sum.width, Float{0});
  std::vector<Float> nowhere(sum.width * kTerms, Float{0}), part(sum.width);
  const i64 width = sum.width;
  Float* __restrict g = part.data();
  for (i64 s = 0; s < sum.segments; ++s) {
    const Float* __restrict from = y_gradient.data + s * y_gradient.stride;
    for (i64 i = sum.begin[s]; i < sum.end[s]; ++i) {
      const Entry<Float, kTerms> e = entry<Float, kTerms, true>(sum, i, zeros.data(), nowhere.data());
      for (i64 k = 0; k < width; ++k) {
        Float x = e.row[0][k];
        for (i32 t = 1; t < kTerms; ++t) x += e.row[t][k];
        g[k] = x <= 0 ? Float{0} : from[k];
      }
      for (i32 t = 0; t < kTerms; ++t) {
        Float* __restrict to = e.gradient[t];
        for (i64 k = 0; k < width; ++k) to[k] += g[k];
      }
    }
  }
}

// one function per number of terms and type: the compiler clones functions, not templates
#define PLANEGRAPH_RELU_SUM(Float, kTerms)                                                            \
  PLANEGRAPH_WIDE void forward_##Float##_##kTerms(const ReluSum<Float>& sum, Rows<Float> y) {         \
    forward<Float, kTerms>(sum, y);                                                                   \
  }                                                                                                   \
  PLANEGRAPH_WIDE void backward_##Float##_##kTerms(const ReluSum<Float>& sum, Rows<const Float> g) {  \
    backward<Float, kTerms>(sum, g);                                                                  \
  }
PLANEGRAPH_RELU_SUM(float, 1)
PLANEGRAPH_RELU_SUM(float, 2)
PLANEGRAPH_RELU_SUM(float, 3)
PLANEGRAPH_RELU_SUM(float, 4)
PLANEGRAPH_RELU_SUM(double, 1)
PLANEGRAPH_RELU_SUM(double, 2)
PLANEGRAPH_RELU_SUM(double, 3)
PLANEGRAPH_RELU_SUM(double, 4)
#undef PLANEGRAPH_RELU_SUM

}  // namespace

template <>
void ReluSum<float>::forward(Rows<float> y) const {
  constexpr void (*kOf[])(const ReluSum&, Rows<float>) = {forward_float_1, forward_float_2, forward_float_3, forward_float_4};
  kOf[num_terms - 1](*this, y);
}
template <>
void ReluSum<double>::forward(Rows<double> y) const {
  constexpr void (*kOf[])(const ReluSum&, Rows<double>) = {forward_double_1, forward_double_2, forward_double_3, forward_double_4};
  kOf[num_terms - 1](*this, y);
}
template <>
void ReluSum<float>::backward(Rows<const float> g) const {
  constexpr void (*kOf[])(const ReluSum&, Rows<const float>) = {backward_float_1, backward_float_2, backward_float_3,
                                                                 backward_float_4};
  kOf[num_terms - 1](*this, g);
}
template <>
void ReluSum<double>::backward(Rows<const double> g) const {
  constexpr void (*kOf[])(const ReluSum&, Rows<const double>) = {backward_double_1, backward_double_2, backward_double_3,
                                                                  backward_double_4};
  kOf[num_terms - 1](*this, g);
}

}  // namespace planegraph
