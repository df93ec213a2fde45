// Bindings of the sums of the models (planegraph/sums.hpp, planegraph/relu_sums.hpp).
//
// Addresses instead of arrays: a training step makes hundreds of these calls on small tensors, and turning a tensor into an array costs
// more than the sum. planegraph/nn/incidence.py is the only caller, and sees to dtypes, devices and lifetimes; the ids were checked when
// the batch was collated.
#include "planegraph/relu_sums.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>

namespace nb = nanobind;
using namespace nb::literals;
using namespace planegraph;

namespace {

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

void sum_rows_at(std::uintptr_t x, i64 x_stride, std::uintptr_t index, std::uintptr_t begin, std::uintptr_t end, i64 rows, i64 width,
                 std::uintptr_t y, i64 y_stride, bool is_double, bool add) {
  nb::gil_scoped_release release;
  const Entries entries{at<const i32>(index), at<const i32>(begin), at<const i32>(end), rows};
  if (is_double) {
    sum_rows<double>({at<const double>(x), x_stride}, entries, width, {at<double>(y), y_stride}, add);
  } else {
    sum_rows<float>({at<const float>(x), x_stride}, entries, width, {at<float>(y), y_stride}, add);
  }
}

/// Address and row stride of a table, address of its ids, address and row stride of its gradient (0: not wanted).
using TermAt = std::tuple<std::uintptr_t, i64, std::uintptr_t, std::uintptr_t, i64>;

template <class Float>
void run_relu_sum(const std::vector<TermAt>& terms, const i32* begin, const i32* end, i64 segments, i64 width, std::uintptr_t y,
                  i64 y_stride, bool backward) {
  ReluSum<Float> sum{{}, static_cast<i32>(terms.size()), begin, end, segments, width};
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const auto& [table, stride, index, gradient, gradient_stride] = terms[t];
    sum.terms[t] = {{at<const Float>(table), stride}, at<const i32>(index), {at<Float>(gradient), gradient_stride}};
  }
  if (backward) {
    sum.backward({at<const Float>(y), y_stride});
  } else {
    sum.forward({at<Float>(y), y_stride});
  }
}

void relu_sum_at(const std::vector<TermAt>& terms, std::uintptr_t begin, std::uintptr_t end, i64 segments, i64 width,
                 std::uintptr_t y, i64 y_stride, bool is_double, bool backward) {
  if (terms.empty() || terms.size() > static_cast<std::size_t>(kMostTerms)) throw std::invalid_argument("relu_sum: 1 to 4 terms");
  nb::gil_scoped_release release;
  (is_double ? run_relu_sum<double> : run_relu_sum<float>)(terms, at<const i32>(begin), at<const i32>(end), segments, width, y,
                                                           y_stride, backward);
}

}  // namespace

void bind_sums(nb::module_& m) {
  m.def("sum_rows", &sum_rows_at, "x"_a, "x_stride"_a, "index"_a, "begin"_a, "end"_a, "rows"_a, "width"_a, "y"_a, "y_stride"_a,
        "is_double"_a, "add"_a, "y = A x (or y += A x) on tensors given by their addresses.");
  m.def("relu_sum", &relu_sum_at, "terms"_a, "begin"_a, "end"_a, "segments"_a, "width"_a, "y"_a, "y_stride"_a, "is_double"_a,
        "backward"_a, "y = sum of relu of sums of terms, or its gradient (y is then the gradient of y).");
}
