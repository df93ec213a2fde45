// On which side of a line a point is, exactly, for points with coordinates in double precision.
//
// The determinant is computed as it stands, and trusted if it is larger than its rounding errors can be. Otherwise its six
// products are summed exactly, as a sequence of doubles that do not overlap (J. R. Shewchuk, Adaptive precision floating-point
// arithmetic and fast robust geometric predicates, 1997; the bound is his). Exact if no product overflows or loses bits below the
// smallest double; so the caller guarantees coordinates that are 0 or between 2^-400 and 2^500 in magnitude.
#pragma once

#include <cmath>

namespace planegraph {

struct Point {
  double x, y;
};

/// A sum of doubles and products that is never rounded: a chain of doubles of rising magnitude that do not overlap, without zeros. So the last
/// one has the sign of the sum; alone it may be nearly twice as large or half, as in 8 - 2 - 1. At most kMost values are added; a product counts twice.
template <int kMost>
class ExactSum {
 public:
  void add(double value) {
    int kept = 0;
    for (int k = 0; k < length_; ++k) {
      const double sum = value + chain_[k], part = sum - value;
      const double error = (value - (sum - part)) + (chain_[k] - part);
      value = sum;
      if (error != 0) chain_[kept++] = error;
    }
    if (value != 0) chain_[kept++] = value;
    length_ = kept;
  }
  void add_product(double u, double v) {
    const double product = u * v;
    add(std::fma(u, v, -product));
    add(product);
  }
  double rounded() const {
    double sum = 0;
    for (const double value : *this) sum += value;
    return sum;
  }
  int sign() const { return length_ == 0 ? 0 : chain_[length_ - 1] > 0 ? 1 : -1; }
  const double* begin() const { return chain_; }
  const double* end() const { return chain_ + length_; }

 private:
  double chain_[kMost];
  int length_ = 0;
};

/// Twice the signed area of a triangle.
inline ExactSum<12> exact_determinant(Point a, Point b, Point c) {
  ExactSum<12> sum;
  sum.add_product(a.x, b.y);
  sum.add_product(-a.y, b.x);
  sum.add_product(b.x, c.y);
  sum.add_product(-b.y, c.x);
  sum.add_product(c.x, a.y);
  sum.add_product(-c.y, a.x);
  return sum;
}

/// 1 if c is on the left of the line from a to b, -1 if on the right, 0 if on the line.
inline int orientation(Point a, Point b, Point c) {
  constexpr double kBound = 3.3306690738754716e-16;  // (3 + 16 u) u with u = 2^-53
  const double left = (a.x - c.x) * (b.y - c.y), right = (a.y - c.y) * (b.x - c.x), det = left - right;
  if (std::fabs(det) > kBound * (std::fabs(left) + std::fabs(right))) return det > 0 ? 1 : -1;
  return exact_determinant(a, b, c).sign();
}

}  // namespace planegraph
