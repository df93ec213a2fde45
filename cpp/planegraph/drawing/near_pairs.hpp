// Pairs of segments that are near each other and share no end, among them all such that meet: a kd-tree whose boxes are halved while that
// separates their segments.
//
// A segment is in every box that it may touch, so a pair can come more than once. Boxes around a node of high degree cannot separate its
// segments. So those at the node with the most segments in a box, its hub, are not paired, and do not decide about halving.
#pragma once

#include <algorithm>

#include "planegraph/drawing/orientation.hpp"
#include "planegraph/graph/types.hpp"

namespace planegraph {

struct Segment {
  Point a, b;
  i32 from, to;  // the nodes there
};

class NearPairs {
 public:
  NearPairs(const std::vector<Segment>& segments, i32 num_nodes) : segments_(segments), count_(num_nodes, 0) {}

  /// Calls visit(i, j) for indices i != j of segments that share no end and may meet.
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
      const bool wide = node.box.high.x - node.box.low.x > node.box.high.y - node.box.low.y;
      if (node.items.size() > kFew) put_hub_last(node);
      if (node.apart > kFew && (halve(node, wide, low, high) || halve(node, !wide, low, high))) {
        stack.push_back(std::move(low));
        stack.push_back(std::move(high));
        continue;
      }
      std::size_t looks = 0;
      for (std::size_t i = 0; i < node.apart; ++i) {
        looks += node.items.size() - i;
        if (looks > kLooks) {
          if (!keep_going()) throw Cancelled();
          looks = 0;
        }
        for (std::size_t j = i + 1; j < node.items.size(); ++j)
          if (!share_end(node.items[i], node.items[j])) visit(node.items[i], node.items[j]);
      }
    }
  }

 private:
  static constexpr std::size_t kLooks = 1 << 20;  // pairs between two questions whether to go on
  struct Box {
    Point low, high;
  };
  struct Node {
    Box box;
    std::vector<i32> items;  // those at the hub last
    std::size_t apart = 0;   // how many are not at it
  };

  static double coordinate(Point p, bool x) { return x ? p.x : p.y; }
  static std::pair<double, double> range(const Segment& s, bool x) { return std::minmax({coordinate(s.a, x), coordinate(s.b, x)}); }

  Node root() const {
    Node node;
    if (segments_.empty()) return node;
    node.box = {segments_[0].a, segments_[0].a};
    node.apart = segments_.size();
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      node.items.push_back(static_cast<i32>(i));
      for (const Point p : {segments_[i].a, segments_[i].b}) {
        node.box.low = {std::min(node.box.low.x, p.x), std::min(node.box.low.y, p.y)};
        node.box.high = {std::max(node.box.high.x, p.x), std::max(node.box.high.y, p.y)};
      }
    }
    return node;
  }

  bool share_end(i32 i, i32 j) const {
    const Segment &s = segments_[i], &t = segments_[j];
    return s.from == t.from || s.from == t.to || s.to == t.from || s.to == t.to;
  }

  void put_hub_last(Node& node) {
    i32 hub = segments_[node.items[0]].from;
    for (const i32 i : node.items) {
      for (const i32 v : {segments_[i].from, segments_[i].to})
        if (++count_[v] > count_[hub]) hub = v;
    }
    for (const i32 i : node.items) count_[segments_[i].from] = count_[segments_[i].to] = 0;
    const auto at_hub = std::partition(node.items.begin(), node.items.end(),
                                       [&](i32 i) { return segments_[i].from != hub && segments_[i].to != hub; });
    node.apart = static_cast<std::size_t>(at_hub - node.items.begin());
  }

  /// Splits a box at the median of the middles of its segments that are not at the hub; false if that does not separate these.
  bool halve(const Node& node, bool x, Node& low, Node& high) {
    const double from = coordinate(node.box.low, x), to = coordinate(node.box.high, x);
    middles_.clear();
    for (std::size_t k = 0; k < node.apart; ++k) {
      const auto [least, most] = range(segments_[node.items[k]], x);
      middles_.push_back((std::max(least, from) + std::min(most, to)) / 2);
    }
    const auto median = middles_.begin() + static_cast<std::ptrdiff_t>(middles_.size() / 2);
    std::nth_element(middles_.begin(), median, middles_.end());
    const double cut = std::fabs(*median) < kLeast ? 0 : *median;
    low.box = high.box = node.box;
    (x ? low.box.high.x : low.box.high.y) = (x ? high.box.low.x : high.box.low.y) = cut;
    low.items.clear();
    high.items.clear();
    low.apart = high.apart = 0;
    for (std::size_t k = 0; k < node.items.size(); ++k) {
      const i32 i = node.items[k];
      const auto [least, most] = range(segments_[i], x);
      if (most < cut || (least <= cut && may_touch(segments_[i], low.box))) low.items.push_back(i);
      if (least > cut || (most >= cut && may_touch(segments_[i], high.box))) high.items.push_back(i);
      if (k + 1 == node.apart) {
        low.apart = low.items.size();
        high.apart = high.items.size();
        if (std::max(low.apart, high.apart) == node.apart || 2 * (low.apart + high.apart) >= 3 * node.apart) return false;
      }
    }
    return true;
  }

  /// Whether the segment's box and line both meet the box.
  static bool may_touch(const Segment& s, const Box& box) {
    const auto [left, right] = std::minmax(s.a.x, s.b.x);
    const auto [bottom, top] = std::minmax(s.a.y, s.b.y);
    if (right < box.low.x || left > box.high.x || top < box.low.y || bottom > box.high.y) return false;
    const bool rises = (s.a.x < s.b.x) == (s.a.y < s.b.y);  // then these two corners are the farthest on either side of the line
    const Point p = rises ? Point{box.low.x, box.high.y} : box.low, q = rises ? Point{box.high.x, box.low.y} : box.high;
    return orientation(s.a, s.b, p) * orientation(s.a, s.b, q) <= 0;
  }

  static constexpr double kLeast = 6.223015277861142e-61;  // 2^-200: what is closer to 0 could lose bits in a determinant
  const std::vector<Segment>& segments_;
  std::vector<double> middles_;
  std::vector<i32> count_;  // per node: segments of a box
};

}  // namespace planegraph
