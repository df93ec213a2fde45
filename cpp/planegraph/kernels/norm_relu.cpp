// The idea, the invariants and the cost are described in norm_relu.hpp.
#include "planegraph/kernels/norm_relu.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "planegraph/kernels/wide.hpp"

namespace planegraph {
namespace {

constexpr i64 kBlock = 64;  // rows that are summed in the type of the matrix

template <class Float>
PLANEGRAPH_INLINE bool is_real(const Norm<Float>& norm, i64 row) {
  return !norm.mask || norm.mask[row];
}

template <class Float>
PLANEGRAPH_INLINE void add_block(std::vector<double>& total, std::vector<Float>& block) {
  for (std::size_t k = 0; k < total.size(); ++k) total[k] += block[k];
  std::fill(block.begin(), block.end(), Float{0});
}

template <class Float>
PLANEGRAPH_INLINE i64 forward(const Norm<Float>& norm, Float eps, Float flat, const Running<Float>& running, Float* y) {
  const i64 width = norm.width;
  std::vector<double> total(width, 0.0);
  std::vector<Float> block(width, Float{0}), scale(width);
  i64 n = 0;
  for (i64 r = 0; r < norm.rows; ++r) {
    if (is_real(norm, r)) {
      const Float* __restrict x = norm.x + r * width;
      Float* __restrict sum = block.data();
      for (i64 k = 0; k < width; ++k) sum[k] += x[k];
      ++n;
    }
    if (r % kBlock == kBlock - 1 || r + 1 == norm.rows) add_block(total, block);
  }
  const double rows = static_cast<double>(std::max<i64>(n, 1));
  for (i64 k = 0; k < width; ++k) norm.mean[k] = static_cast<Float>(total[k] / rows);
  std::fill(total.begin(), total.end(), 0.0);
  for (i64 r = 0; r < norm.rows; ++r) {
    if (is_real(norm, r)) {
      const Float* __restrict x = norm.x + r * width;
      const Float* __restrict mean = norm.mean;
      Float* __restrict sum = block.data();
      for (i64 k = 0; k < width; ++k) sum[k] += (x[k] - mean[k]) * (x[k] - mean[k]);
    }
    if (r % kBlock == kBlock - 1 || r + 1 == norm.rows) add_block(total, block);
  }
  for (i64 k = 0; k < width; ++k) {
    const Float variance = static_cast<Float>(total[k] / rows);
    const bool is_flat = variance <= flat * (1 + norm.mean[k] * norm.mean[k]);
    Float &mean = running.mean[k], &average = running.variance[k];
    const bool was_flat = average <= flat * (1 + mean * mean) || (mean == 0 && average == 1);
    const bool always_flat = n > 0 && is_flat && was_flat;
    const Float step = always_flat ? Float{1} : running.momentum;
    norm.inverse[k] = is_flat ? Float{0} : Float{1} / std::sqrt(variance + eps);
    scale[k] = norm.weight[k] * norm.inverse[k];
    if (n > 0) mean += step * (norm.mean[k] - mean);
    if (n > 1 || always_flat) average += step * (static_cast<Float>(total[k] / std::max(rows - 1, 1.0)) - average);
  }
  for (i64 r = 0; r < norm.rows; ++r) {
    const Float* __restrict x = norm.x + r * width;
    const Float* __restrict mean = norm.mean;
    const Float* __restrict a = scale.data();
    const Float* __restrict b = norm.bias;
    Float* __restrict to = y + r * width;
    for (i64 k = 0; k < width; ++k) {
      const Float value = (x[k] - mean[k]) * a[k] + b[k];
      to[k] = value < 0 ? Float{0} : value;  // so that NaN stays NaN
    }
  }
  return n;
}

template <class Float>
PLANEGRAPH_INLINE void backward(const Norm<Float>& norm, i64 n, const Float* gradient, Float* dx, Float* dw, Float* db) {
  const i64 width = norm.width;
  std::vector<double> total(2 * width, 0.0);
  std::vector<Float> block(2 * width, Float{0}), scale(width), shift(width), slope(width);
  for (i64 k = 0; k < width; ++k) scale[k] = norm.weight[k] * norm.inverse[k];
  for (i64 r = 0; r < norm.rows; ++r) {
    if (is_real(norm, r)) {
      const Float* __restrict x = norm.x + r * width;
      const Float* __restrict g = gradient + r * width;
      const Float* __restrict mean = norm.mean;
      const Float* __restrict a = scale.data();
      const Float* __restrict b = norm.bias;
      Float* __restrict first = block.data();
      Float* __restrict second = block.data() + width;
      for (i64 k = 0; k < width; ++k) {
        const Float c = x[k] - mean[k], past = c * a[k] + b[k] <= 0 ? Float{0} : g[k];
        first[k] += past;
        second[k] += past * c;
      }
    }
    if (r % kBlock == kBlock - 1 || r + 1 == norm.rows) add_block(total, block);
  }
  const double rows = static_cast<double>(std::max<i64>(n, 1));
  for (i64 k = 0; k < width; ++k) {
    const double s = norm.inverse[k];
    db[k] = static_cast<Float>(total[k]);
    dw[k] = static_cast<Float>(s * total[width + k]);
    shift[k] = static_cast<Float>(total[k] / rows);
    slope[k] = static_cast<Float>(s * s * total[width + k] / rows);
  }
  for (i64 r = 0; r < norm.rows; ++r) {
    Float* __restrict to = dx + r * width;
    if (!is_real(norm, r)) {
      std::fill_n(to, width, Float{0});
      continue;
    }
    const Float* __restrict x = norm.x + r * width;
    const Float* __restrict g = gradient + r * width;
    const Float* __restrict mean = norm.mean;
    const Float* __restrict a = scale.data();
    const Float* __restrict b = norm.bias;
    const Float* __restrict m = shift.data();
    const Float* __restrict t = slope.data();
    for (i64 k = 0; k < width; ++k) {
      const Float c = x[k] - mean[k], past = c * a[k] + b[k] <= 0 ? Float{0} : g[k];
      to[k] = a[k] * (past - m[k] - c * t[k]);
    }
  }
}

PLANEGRAPH_WIDE i64 forward_floats(const Norm<float>& norm, float eps, float flat, const Running<float>& running, float* y) {
  return forward(norm, eps, flat, running, y);
}
PLANEGRAPH_WIDE i64 forward_doubles(const Norm<double>& norm, double eps, double flat, const Running<double>& running, double* y) {
  return forward(norm, eps, flat, running, y);
}
PLANEGRAPH_WIDE void backward_floats(const Norm<float>& norm, i64 n, const float* g, float* dx, float* dw, float* db) {
  backward(norm, n, g, dx, dw, db);
}
PLANEGRAPH_WIDE void backward_doubles(const Norm<double>& norm, i64 n, const double* g, double* dx, double* dw, double* db) {
  backward(norm, n, g, dx, dw, db);
}

}  // namespace

template <>
i64 norm_relu(const Norm<float>& norm, float eps, float flat, const Running<float>& running, float* y) {
  return forward_floats(norm, eps, flat, running, y);
}
template <>
i64 norm_relu(const Norm<double>& norm, double eps, double flat, const Running<double>& running, double* y) {
  return forward_doubles(norm, eps, flat, running, y);
}
template <>
void norm_relu_gradient(const Norm<float>& norm, i64 n, const float* gradient, float* dx, float* dw, float* db) {
  backward_floats(norm, n, gradient, dx, dw, db);
}
template <>
void norm_relu_gradient(const Norm<double>& norm, i64 n, const double* gradient, double* dx, double* dw, double* db) {
  backward_doubles(norm, n, gradient, dx, dw, db);
}

}  // namespace planegraph
