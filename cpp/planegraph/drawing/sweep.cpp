// The idea and the cost are described in sweep.hpp.
#include "planegraph/drawing/sweep.hpp"

#include <algorithm>
#include <set>

#include "planegraph/graph/disjoint_sets.hpp"

namespace planegraph {
namespace {

/// An edge that the line meets, from left to right.
struct Segment {
  Point from, to;
  i32 dart;        // from left to right
  i32 begin, end;  // ranks of the ends in the order of the sweep
};

struct Below {
  using is_transparent = void;
  /// At a time when the line meets both.
  bool operator()(const Segment& s, const Segment& t) const {
    if (s.begin == t.begin) return orientation(s.from, s.to, t.to) > 0;
    if (s.begin < t.begin) return orientation(s.from, s.to, t.from) > 0;
    return orientation(t.from, t.to, s.from) < 0;
  }
  bool operator()(const Segment& s, Point p) const { return orientation(s.from, s.to, p) > 0; }
};

class Sweep {
 public:
  Sweep(i32 num_nodes, i32 num_edges, const i64* edges, const Point* points)
      : n_(num_nodes), m_(num_edges), edges_(edges), points_(points) {}

  Drawing run(const KeepGoing& keep_going) {
    sort_nodes();
    if (drawing_.flaw != Drawing::kNone) return std::move(drawing_);
    build_lists();
    drawing_.next.resize(2 * static_cast<std::size_t>(m_));
    for (i32 rank = 0; rank < n_; ++rank) {
      if (rank % 4096 == 0 && !keep_going()) throw Cancelled();
      pass(rank);
      if (drawing_.flaw != Drawing::kNone) return std::move(drawing_);
    }
    find_outer_darts();
    return std::move(drawing_);
  }

 private:
  i32 source(i32 dart) const { return static_cast<i32>(edges_[dart]); }
  i32 target(i32 dart) const { return static_cast<i32>(edges_[dart ^ 1]); }

  void fail(Drawing::Flaw flaw, i32 a, i32 b) {
    if (drawing_.flaw != Drawing::kNone) return;
    drawing_.flaw = flaw;
    drawing_.a = a;
    drawing_.b = b;
  }

  void sort_nodes() {
    node_at_.resize(n_);
    for (i32 v = 0; v < n_; ++v) node_at_[v] = v;
    const auto key = [&](i32 v) { return std::pair(points_[v].x, points_[v].y); };
    std::sort(node_at_.begin(), node_at_.end(), [&](i32 u, i32 v) { return key(u) < key(v); });
    rank_.resize(n_);
    for (i32 k = 0; k < n_; ++k) {
      rank_[node_at_[k]] = k;
      if (k > 0 && key(node_at_[k - 1]) == key(node_at_[k])) fail(Drawing::kNodesMeet, node_at_[k - 1], node_at_[k]);
    }
  }

  /// The darts of each node that lead to the right.
  void build_lists() {
    ptr_.assign(static_cast<std::size_t>(n_) + 2, 0);
    right_.resize(m_);
    const auto rightwards = [&](i32 e) { return 2 * e + (rank_[edges_[2 * e]] > rank_[edges_[2 * e + 1]]); };
    for (i32 e = 0; e < m_; ++e) ++ptr_[source(rightwards(e)) + 2];
    for (i32 v = 0; v < n_; ++v) ptr_[v + 2] += ptr_[v + 1];
    for (i32 e = 0; e < m_; ++e) right_[ptr_[source(rightwards(e)) + 1]++] = rightwards(e);
  }

  void pass(i32 rank) {
    const i32 v = node_at_[rank];
    const Point p = points_[v];
    around_.clear();
    auto above = line_.lower_bound(p);
    while (above != line_.end() && orientation(above->from, above->to, p) == 0) {
      if (above->end != rank) return fail(Drawing::kNodeOnEdge, v, above->dart >> 1);
      around_.push_back(above->dart ^ 1);
      above = line_.erase(above);
    }
    const auto first = right_.begin() + ptr_[v], last = right_.begin() + ptr_[v + 1];
    std::sort(first, last, [&](i32 c, i32 d) { return orientation(p, points_[target(c)], points_[target(d)]) > 0; });
    for (auto d = first; last - d > 1; ++d)
      if (orientation(p, points_[target(d[0])], points_[target(d[1])]) == 0)
        return fail(Drawing::kEdgesCross, d[0] >> 1, d[1] >> 1);
    const bool has_below = above != line_.begin();
    const auto below = has_below ? std::prev(above) : line_.end();
    auto lowest = above;
    for (auto d = first; d < last; ++d) {
      const auto added = line_.insert(above, {p, points_[target(*d)], *d, rank, rank_[target(*d)]});
      if (d == first) lowest = added;
    }
    if (has_below && lowest != line_.end()) compare(*below, *lowest);
    if (first < last && above != line_.end()) compare(*std::prev(above), *above);
    // counter-clockwise: to the right from bottom to top, then to the left from top to bottom
    std::reverse(around_.begin(), around_.end());
    around_.insert(around_.begin(), first, last);
    for (std::size_t k = 0; k < around_.size(); ++k) drawing_.next[around_[k]] = around_[k + 1 < around_.size() ? k + 1 : 0];
  }

  /// Two neighbours of the line; they may meet at a node at which both end.
  void compare(const Segment& s, const Segment& t) {
    if (s.begin == t.begin || s.end == t.end) return;
    const int t_from = orientation(s.from, s.to, t.from), t_to = orientation(s.from, s.to, t.to);
    if (t_from * t_to > 0) return;
    const int s_from = orientation(t.from, t.to, s.from), s_to = orientation(t.from, t.to, s.to);
    if (s_from * s_to > 0) return;
    if (t_from == 0) return fail(Drawing::kNodeOnEdge, source(t.dart), s.dart >> 1);
    if (t_to == 0) return fail(Drawing::kNodeOnEdge, target(t.dart), s.dart >> 1);
    if (s_from == 0) return fail(Drawing::kNodeOnEdge, source(s.dart), t.dart >> 1);
    if (s_to == 0) return fail(Drawing::kNodeOnEdge, target(s.dart), t.dart >> 1);
    fail(Drawing::kEdgesCross, std::min(s.dart, t.dart) >> 1, std::max(s.dart, t.dart) >> 1);
  }

  /// The leftmost node of a component has its outer face on the left of its last dart.
  void find_outer_darts() {
    std::vector<i32> set(n_), first(n_, -1);
    for (i32 v = 0; v < n_; ++v) set[v] = v;
    for (i32 e = 0; e < m_; ++e) set[find(set, source(2 * e))] = find(set, target(2 * e));
    for (i32 rank = 0; rank < n_; ++rank) {
      const i32 v = node_at_[rank], root = find(set, v);
      if (first[root] < 0 && ptr_[v] < ptr_[v + 1]) first[root] = right_[ptr_[v + 1] - 1];
    }
    for (i32 v = 0; v < n_; ++v) {
      i32& dart = first[find(set, v)];
      if (dart < 0) continue;
      drawing_.outer.push_back(dart);
      dart = -1;
    }
  }

  i32 n_, m_;
  const i64* edges_;
  const Point* points_;
  std::vector<i32> node_at_, rank_;  // the order of the sweep and its inverse
  std::vector<i32> ptr_, right_;     // darts of node v to the right: right_[ptr_[v] .. ptr_[v + 1])
  std::vector<i32> around_;
  std::set<Segment, Below> line_;
  Drawing drawing_;
};

}  // namespace

Drawing read_drawing(i32 num_nodes, i32 num_edges, const i64* edges, const Point* points, const KeepGoing& keep_going) {
  return Sweep(num_nodes, num_edges, edges, points).run(keep_going);
}

}  // namespace planegraph
