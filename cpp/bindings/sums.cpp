// Bindings of the sums and norms of the models (planegraph/kernels/sums.hpp, planegraph/kernels/norm_relu.hpp).
//
// Addresses instead of arrays: a training step makes hundreds of these calls on small tensors, and turning a tensor into an array costs
// more than the sum. planegraph/nn/ops/incidence.py and norm_relu.py are the only callers, and see to dtypes, devices and lifetimes; the
// ids were checked when the batch was collated, or by batch.check() if it was made by hand.
#include "planegraph/kernels/sums.hpp"
#include "planegraph/kernels/norm_relu.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>

#include <array>

#include "bindings/gil.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace planegraph;

namespace {

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

void sum_rows_at(std::uintptr_t x, i64 x_stride, std::uintptr_t index, std::uintptr_t begin, std::uintptr_t end, i64 rows,
                 i64 width, std::uintptr_t y, i64 y_stride, bool is_double, bool add) {
  const WithoutGil without;
  const Entries entries{at<const i32>(index), at<const i32>(begin), at<const i32>(end), rows};
  if (is_double) {
    sum_rows<double>({at<const double>(x), x_stride}, entries, width, {at<double>(y), y_stride}, add);
  } else {
    sum_rows<float>({at<const float>(x), x_stride}, entries, width, {at<float>(y), y_stride}, add);
  }
}

/// Addresses of x, mask, weight, bias, mean, inverse.
using NormAt = std::array<std::uintptr_t, 6>;

template <class Float>
Norm<Float> norm_at(const NormAt& of, i64 rows, i64 width) {
  return {at<const Float>(of[0]), at<const u8>(of[1]), rows, width, at<const Float>(of[2]), at<const Float>(of[3]),
          at<Float>(of[4]),       at<Float>(of[5])};
}

/// Addresses of the running mean and variance.
using RunningAt = std::array<std::uintptr_t, 2>;

template <class Float>
i64 norm_relu_of(const NormAt& of, i64 rows, i64 width, double eps, double flat, const RunningAt& running, double momentum,
                 std::uintptr_t y) {
  const Running<Float> averages{at<Float>(running[0]), at<Float>(running[1]), static_cast<Float>(momentum)};
  return norm_relu<Float>(norm_at<Float>(of, rows, width), static_cast<Float>(eps), static_cast<Float>(flat), averages,
                          at<Float>(y));
}

i64 norm_relu_at(const NormAt& of, i64 rows, i64 width, double eps, double flat, const RunningAt& running, double momentum,
                 std::uintptr_t y, bool is_double) {
  const WithoutGil without;
  return (is_double ? norm_relu_of<double> : norm_relu_of<float>)(of, rows, width, eps, flat, running, momentum, y);
}

void norm_relu_gradient_at(const NormAt& of, i64 rows, i64 width, i64 n, std::uintptr_t gradient, std::uintptr_t dx,
                           std::uintptr_t dw, std::uintptr_t db, bool is_double) {
  const WithoutGil without;
  if (is_double) {
    norm_relu_gradient<double>(norm_at<double>(of, rows, width), n, at<const double>(gradient), at<double>(dx), at<double>(dw),
                               at<double>(db));
  } else {
    norm_relu_gradient<float>(norm_at<float>(of, rows, width), n, at<const float>(gradient), at<float>(dx), at<float>(dw),
                              at<float>(db));
  }
}

}  // namespace

void bind_sums(nb::module_& m) {
  m.def("sum_rows", &sum_rows_at, "x"_a, "x_stride"_a, "index"_a, "begin"_a, "end"_a, "rows"_a, "width"_a, "y"_a, "y_stride"_a,
        "is_double"_a, "add"_a, "y = A x (or y += A x) on tensors given by their addresses.");
  m.def(
      "norm_relu", &norm_relu_at, "norm"_a, "rows"_a, "width"_a, "eps"_a, "flat"_a, "running"_a, "momentum"_a, "y"_a, "is_double"_a,
      "y = relu(batch norm of x); gives the number of real rows. norm: addresses of x, mask, weight, bias, mean, inverse; running: of "
      "the running mean and variance.");
  m.def("norm_relu_gradient", &norm_relu_gradient_at, "norm"_a, "rows"_a, "width"_a, "n"_a, "gradient"_a, "dx"_a, "dw"_a, "db"_a,
        "is_double"_a, "Its gradient.");
}
