// Pairs of segments that are near each other, among them all that meet: a kd-tree whose boxes are halved while that separates their segments.
//
// A segment is in every box that it may touch, so a pair can come more than once.
#pragma once

#include <algorithm>

#include "planegraph/drawing/orientation.hpp"
#include "planegraph/graph/types.hpp"

namespace planegraph {

struct Segment {
  Point a, b;
};

class NearPairs {
 public:
  explicit NearPairs(const std::vector<Segment>& segments) : segments_(segments) {}

  /// Calls visit(i, j) for indices i != j of segments that may meet.
  template <class Visit>
  void run(const KeepGoing& keep_going, Visit visit) {
    constexpr std::size_t kFew = 12;
    std::vector<Node> stack;
    stack.push_back(root());
    while (!stack.empty()) {
      Node node = std::move(stack.back());
      stack.pop_back();
      if (!keep_going()) throw Cancelled();
      Node low, high;
      const bool wide = node.box.b.x - node.box.a.x > node.box.b.y - node.box.a.y;
      if (node.items.size() > kFew && (halve(node, wide, low, high) || halve(node, !wide, low, high))) {
        stack.push_back(std::move(low));
        stack.push_back(std::move(high));
        continue;
      }
      for (std::size_t i = 0; i < node.items.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) visit(node.items[j], node.items[i]);
    }
  }

 private:
  struct Node {
    Segment box;  // its lower left and upper right corners
    std::vector<i32> items;
  };

  static double coordinate(Point p, bool x) { return x ? p.x : p.y; }
  static std::pair<double, double> range(const Segment& s, bool x) { return std::minmax({coordinate(s.a, x), coordinate(s.b, x)}); }

  Node root() const {
    Node node;
    if (segments_.empty()) return node;
    node.box = {segments_[0].a, segments_[0].a};
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      node.items.push_back(static_cast<i32>(i));
      for (const Point p : {segments_[i].a, segments_[i].b}) {
        node.box.a = {std::min(node.box.a.x, p.x), std::min(node.box.a.y, p.y)};
        node.box.b = {std::max(node.box.b.x, p.x), std::max(node.box.b.y, p.y)};
      }
    }
    return node;
  }

  /// Splits a box at the median of the middles of its segments; false if that does not separate them.
  bool halve(const Node& node, bool x, Node& low, Node& high) {
    const double from = coordinate(node.box.a, x), to = coordinate(node.box.b, x);
    middles_.clear();
    for (const i32 i : node.items) {
      const auto [least, most] = range(segments_[i], x);
      middles_.push_back((std::max(least, from) + std::min(most, to)) / 2);
    }
    const auto median = middles_.begin() + static_cast<std::ptrdiff_t>(middles_.size() / 2);
    std::nth_element(middles_.begin(), median, middles_.end());
    const double cut = std::fabs(*median) < kLeast ? 0 : *median;
    low.box = high.box = node.box;
    (x ? low.box.b.x : low.box.b.y) = (x ? high.box.a.x : high.box.a.y) = cut;
    low.items.clear();
    high.items.clear();
    for (const i32 i : node.items) {
      const auto [least, most] = range(segments_[i], x);
      if (most < cut || (least <= cut && may_touch(segments_[i], low.box))) low.items.push_back(i);
      if (least > cut || (most >= cut && may_touch(segments_[i], high.box))) high.items.push_back(i);
    }
    const std::size_t size = node.items.size();
    return std::max(low.items.size(), high.items.size()) < size && 2 * (low.items.size() + high.items.size()) < 3 * size;
  }

  /// Whether the segment's box and line both meet the box.
  static bool may_touch(const Segment& s, const Segment& box) {
    const auto [left, right] = std::minmax(s.a.x, s.b.x);
    const auto [bottom, top] = std::minmax(s.a.y, s.b.y);
    if (right < box.a.x || left > box.b.x || top < box.a.y || bottom > box.b.y) return false;
    const bool rises = (s.a.x < s.b.x) == (s.a.y < s.b.y);  // then these two corners are the farthest on either side of the line
    const Point p = rises ? Point{box.a.x, box.b.y} : box.a, q = rises ? Point{box.b.x, box.a.y} : box.b;
    return orientation(s.a, s.b, p) * orientation(s.a, s.b, q) <= 0;
  }

  static constexpr double kLeast = 6.223015277861142e-61;  // 2^-200: what is closer to 0 could lose bits in a determinant
  const std::vector<Segment>& segments_;
  std::vector<double> middles_;
};

}  // namespace planegraph
