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

namespace exact {

/// The sign of the sum of all products: a chain of doubles of rising magnitude that do not overlap, so the last that is not 0
/// decides.
inline int sign_of_determinant(Point a, Point b, Point c) {
  double chain[12];
  int length = 0;
  const auto add = [&](double value) {
    for (int k = 0; k < length; ++k) {
      const double sum = value + chain[k], part = sum - value;
      chain[k] = (value - (sum - part)) + (chain[k] - part);
      value = sum;
    }
    chain[length++] = value;
  };
  const auto add_product = [&](double u, double v) {
    const double product = u * v;
    add(std::fma(u, v, -product));
    add(product);
  };
  add_product(a.x, b.y);
  add_product(-a.y, b.x);
  add_product(b.x, c.y);
  add_product(-b.y, c.x);
  add_product(c.x, a.y);
  add_product(-c.y, a.x);
  for (int k = length - 1; k >= 0; --k)
    if (chain[k] != 0) return chain[k] > 0 ? 1 : -1;
  return 0;
}

}  // namespace exact

/// 1 if c is on the left of the line from a to b, -1 if on the right, 0 if on the line.
inline int orientation(Point a, Point b, Point c) {
  constexpr double kBound = 3.3306690738754716e-16;  // (3 + 16 u) u with u = 2^-53
  const double left = (a.x - c.x) * (b.y - c.y), right = (a.y - c.y) * (b.x - c.x), det = left - right;
  if (std::fabs(det) > kBound * (std::fabs(left) + std::fabs(right))) return det > 0 ? 1 : -1;
  return exact::sign_of_determinant(a, b, c);
}

}  // namespace planegraph
