// Bindings of the sums of the models (planegraph/sums.hpp).
//
// Addresses instead of arrays: a training step makes hundreds of these calls on small tensors, and turning a tensor into an array costs
// more than the sum. planegraph/nn/ops/incidence.py is the only caller, and sees to dtypes, devices and lifetimes; the ids were checked
// when the batch was collated.
#include "planegraph/sums.hpp"

#include <nanobind/nanobind.h>

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

}  // namespace

void bind_sums(nb::module_& m) {
  m.def("sum_rows", &sum_rows_at, "x"_a, "x_stride"_a, "index"_a, "begin"_a, "end"_a, "rows"_a, "width"_a, "y"_a, "y_stride"_a,
        "is_double"_a, "add"_a, "y = A x (or y += A x) on tensors given by their addresses.");
}
