// The idea and the cost are described in arrangement.hpp.
#include "planegraph/drawing/arrangement.hpp"

#include <algorithm>
#include <numeric>

#include "planegraph/drawing/near_pairs.hpp"
#include "planegraph/graph/disjoint_sets.hpp"

namespace planegraph {
namespace {

using Pair = std::pair<i32, i32>;

bool before(Point p, Point q) { return p.x < q.x || (p.x == q.x && p.y < q.y); }

/// On which side of a line a point is, and how far, with a bound of the error.
struct Side {
  Side(Point a, Point b, Point c) {
    const double left = (a.x - c.x) * (b.y - c.y), right = (a.y - c.y) * (b.x - c.x);
    value = left - right;
    error = 4e-16 * (std::fabs(left) + std::fabs(right));
  }
  double value, error;
};

class Arranger {
 public:
  Arranger(i32 num_nodes, i32 num_edges, const i64* edges, const Point* points, const KeepGoing& keep_going)
      : n_(num_nodes), m_(num_edges), edges_(edges), points_(points), keep_going_(keep_going) {}

  Arrangement run() {
    if (two_nodes_meet()) return std::move(made_);
    find_meetings();
    list_events();
    for (i32 e = 0; e < m_; ++e) {
      if (e % 4096 == 0 && !keep_going_()) throw Cancelled();
      sort_events(e);
    }
    number_crossings();
    cut_edges();
    drop_repeated_parts();
    order_darts();
    return std::move(made_);
  }

 private:
  // An event on an edge: node v as v, crossing c as ~c.

  i32 from(i32 e) const { return static_cast<i32>(edges_[2 * e]); }
  i32 to(i32 e) const { return static_cast<i32>(edges_[2 * e + 1]); }
  Point start(i32 e) const { return points_[from(e)]; }
  Point end(i32 e) const { return points_[to(e)]; }
  i32 other_edge(i32 event, i32 e) const {
    return crossing_[~event].first == e ? crossing_[~event].second : crossing_[~event].first;
  }

  bool two_nodes_meet() {
    std::vector<i32> order(n_);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](i32 u, i32 v) { return before(points_[u], points_[v]); });
    for (i32 k = 1; k < n_; ++k) {
      if (before(points_[order[k - 1]], points_[order[k]])) continue;
      made_.first_at_same_point = std::min(order[k - 1], order[k]);
      made_.second_at_same_point = std::max(order[k - 1], order[k]);
      return true;
    }
    return false;
  }

  // ---- who meets whom

  void find_meetings() {
    std::vector<u8> joined(n_, 0);
    std::vector<Segment> segments;
    for (i32 e = 0; e < m_; ++e) {
      segments.push_back({start(e), end(e), from(e), to(e)});
      joined[from(e)] = joined[to(e)] = 1;
    }
    std::vector<i32> alone;  // nodes without edges are segments too: they can lie on edges
    for (i32 v = 0; v < n_; ++v) {
      if (joined[v]) continue;
      alone.push_back(v);
      segments.push_back({points_[v], points_[v], v, v});
    }
    NearPairs(segments, n_).run(keep_going_, [&](i32 i, i32 j) {
      if (i >= m_) std::swap(i, j);
      if (i >= m_ || apart(segments[i], segments[j])) return;
      if (j >= m_) {
        meet_node(i, alone[j - m_], orientation(start(i), end(i), segments[j].a));
      } else {
        meet(std::min(i, j), std::max(i, j));
      }
    });
    find_overlaps_at_nodes();
    for (auto* list : {&on_edge_, &crossing_}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
  }

  /// Edges that share a node meet elsewhere only if they leave it in the same direction.
  void find_overlaps_at_nodes() {
    std::vector<i32> ptr(static_cast<std::size_t>(n_) + 2, 0), darts(2 * static_cast<std::size_t>(m_));
    for (i32 d = 0; d < 2 * m_; ++d) ++ptr[edges_[d] + 2];
    for (i32 v = 0; v < n_; ++v) ptr[v + 2] += ptr[v + 1];
    for (i32 d = 0; d < 2 * m_; ++d) darts[ptr[edges_[d] + 1]++] = d;
    for (i32 v = 0; v < n_; ++v) {
      if (v % 4096 == 0 && !keep_going_()) throw Cancelled();
      const Point center = points_[v];
      const auto far = [&](i32 d) { return points_[edges_[d ^ 1]]; };
      const auto turns_left = [&](i32 c, i32 d) {
        const bool c_right = before(center, far(c)), d_right = before(center, far(d));
        return c_right != d_right ? c_right : orientation(center, far(c), far(d)) > 0;
      };
      const auto last = darts.begin() + ptr[v + 1];
      std::sort(darts.begin() + ptr[v], last, turns_left);
      for (auto k = darts.begin() + ptr[v]; k < last; ++k)
        for (auto l = k + 1; l < last && !turns_left(*k, *l); ++l) meet(*k >> 1, *l >> 1);
    }
  }

  static bool apart(const Segment& s, const Segment& t) {
    const auto [s_left, s_right] = std::minmax(s.a.x, s.b.x);
    const auto [t_left, t_right] = std::minmax(t.a.x, t.b.x);
    if (s_right < t_left || t_right < s_left) return true;
    const auto [s_low, s_high] = std::minmax(s.a.y, s.b.y);
    const auto [t_low, t_high] = std::minmax(t.a.y, t.b.y);
    return s_high < t_low || t_high < s_low;
  }

  void meet(i32 e, i32 f) {
    const int f_from = orientation(start(e), end(e), start(f)), f_to = orientation(start(e), end(e), end(f));
    if (f_from * f_to > 0) return;
    const int e_from = orientation(start(f), end(f), start(e)), e_to = orientation(start(f), end(f), end(e));
    if (f_from * f_to < 0 && e_from * e_to < 0) crossing_.emplace_back(e, f);
    meet_node(e, from(f), f_from);
    meet_node(e, to(f), f_to);
    meet_node(f, from(e), e_from);
    meet_node(f, to(e), e_to);
  }

  void meet_node(i32 e, i32 v, int side) {
    if (side != 0 || v == from(e) || v == to(e)) return;
    if (before(start(e), points_[v]) == before(points_[v], end(e))) on_edge_.emplace_back(e, v);
  }

  // ---- in which order, along each edge

  void list_events() {
    ptr_.assign(static_cast<std::size_t>(m_) + 2, 0);
    for (const auto& [e, v] : on_edge_) ++ptr_[e + 2];
    for (const auto& [e, f] : crossing_) ++ptr_[e + 2], ++ptr_[f + 2];
    for (i32 e = 0; e < m_; ++e) ptr_[e + 2] += ptr_[e + 1];
    event_.resize(ptr_[m_ + 1]);
    for (const auto& [e, v] : on_edge_) event_[ptr_[e + 1]++] = v;
    for (i32 c = 0; c < static_cast<i32>(crossing_.size()); ++c) {
      event_[ptr_[crossing_[c].first + 1]++] = ~c;
      event_[ptr_[crossing_[c].second + 1]++] = ~c;
    }
    set_.resize(crossing_.size());
    std::iota(set_.begin(), set_.end(), 0);
    node_at_.assign(crossing_.size(), -1);
  }

  /// Events of edge e in its direction; those at one point become one.
  void sort_events(i32 e) {
    const auto first = event_.begin() + ptr_[e], last = event_.begin() + ptr_[e + 1];
    std::sort(first, last, [&](i32 a, i32 b) { return compare(e, a, b) < 0; });
    for (auto k = first; last - k > 1; ++k) {
      if (compare(e, k[0], k[1]) == 0) unite(k[0], k[1]);
    }
  }

  /// -1, 0 or 1: event a is before, at or after event b on edge e.
  int compare(i32 e, i32 a, i32 b) const {
    if (a == b) return 0;
    if (a >= 0 && b >= 0) return before(points_[a], points_[b]) == before(start(e), end(e)) ? -1 : 1;
    if (a < 0 && b < 0) return compare_crossings(e, other_edge(a, e), other_edge(b, e));
    if (a < 0) return -compare(e, b, a);
    const i32 f = other_edge(b, e);
    const int side = orientation(start(f), end(f), points_[a]);
    return side == 0 ? 0 : side == orientation(start(f), end(f), start(e)) ? -1 : 1;
  }

  /// Edge f is met at N / (N + M) of the way, where N and M are how far the ends of e are from the line of f, times the length of f.
  int compare_crossings(i32 e, i32 f, i32 g) const {
    const Side nf(start(f), end(f), start(e)), mf(start(f), end(f), end(e));
    const Side ng(start(g), end(g), start(e)), mg(start(g), end(g), end(e));
    const double near = std::fabs(nf.value * mg.value), far = std::fabs(ng.value * mf.value);
    const double error = nf.error * std::fabs(mg.value) + std::fabs(nf.value) * mg.error + nf.error * mg.error +
                         ng.error * std::fabs(mf.value) + std::fabs(ng.value) * mf.error + ng.error * mf.error;
    if (std::fabs(near - far) > 1.01 * error + 4e-16 * (near + far)) return near < far ? -1 : 1;
    const auto exact_nf = exact_determinant(start(f), end(f), start(e)), exact_mf = exact_determinant(start(f), end(f), end(e));
    const auto exact_ng = exact_determinant(start(g), end(g), start(e)), exact_mg = exact_determinant(start(g), end(g), end(e));
    ExactSum<576> difference;
    for (const double u : exact_nf)
      for (const double v : exact_mg) difference.add_product(u, v);
    for (const double u : exact_ng)
      for (const double v : exact_mf) difference.add_product(-u, v);
    return -difference.sign() * exact_nf.sign() * exact_ng.sign();  // both products have the sign of -N M of the other edge
  }

  void unite(i32 a, i32 b) {
    if (a >= 0) std::swap(a, b);
    const i32 c = find(set_, ~a);
    if (b >= 0) {
      node_at_[c] = b;
      return;
    }
    const i32 d = find(set_, ~b);
    const i32 low = std::min(c, d), high = std::max(c, d);
    set_[high] = low;
    node_at_[low] = std::max(node_at_[low], node_at_[high]);
  }

  // ---- the pieces

  void number_crossings() {
    i32 count = n_;
    for (i32 c = 0; c < static_cast<i32>(crossing_.size()); ++c) {
      const i32 root = find(set_, c);
      if (node_at_[root] < 0) {
        node_at_[root] = count++;
        const auto [e, f] = crossing_[c];
        const double t = position(e, ~c);
        made_.crossings.push_back(start(e).x + t * (end(e).x - start(e).x));
        made_.crossings.push_back(start(e).y + t * (end(e).y - start(e).y));
      }
      node_at_[c] = node_at_[root];
    }
    num_nodes_ = count;
  }

  double position(i32 e, i32 event) const {
    if (event >= 0) {
      const Point a = start(e), b = end(e), p = points_[event];
      return std::fabs(b.x - a.x) > std::fabs(b.y - a.y) ? (p.x - a.x) / (b.x - a.x) : (p.y - a.y) / (b.y - a.y);
    }
    const i32 f = other_edge(event, e);
    const double near = std::fabs(exact_determinant(start(f), end(f), start(e)).rounded());
    return near / (near + std::fabs(exact_determinant(start(f), end(f), end(e)).rounded()));
  }

  void cut_edges() {
    made_.ptr.assign(1, 0);
    for (i32 e = 0; e < m_; ++e) {
      i32 here = from(e);
      double place = 0;
      const auto cut = [&](i32 node, double at) {
        if (node == here) return;
        at = std::max(at, place);  // rounded positions keep the order
        made_.edges.insert(made_.edges.end(), {here, node});
        made_.along.insert(made_.along.end(), {place, at});
        made_.source.push_back(e);
        here = node;
        place = at;
      };
      for (i32 k = ptr_[e]; k < ptr_[e + 1]; ++k) {
        const i32 event = event_[k];
        cut(event >= 0 ? event : node_at_[~event], std::min(position(e, event), 1.0));
      }
      cut(to(e), 1);
      made_.ptr.push_back(static_cast<i32>(made_.source.size()));
    }
  }

  /// Pieces between the same nodes lie on each other: all but the first of them go.
  void drop_repeated_parts() {
    const i32 count = static_cast<i32>(made_.source.size());
    std::vector<i32> order(count);
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](i32 k) { return std::minmax({made_.edges[2 * k], made_.edges[2 * k + 1]}); };
    std::sort(order.begin(), order.end(), [&](i32 k, i32 l) { return key(k) != key(l) ? key(k) < key(l) : k < l; });
    made_.parts.resize(count);
    for (i32 i = 0; i < count; ++i)
      made_.parts[order[i]] = i > 0 && key(order[i - 1]) == key(order[i]) ? made_.parts[order[i - 1]] : order[i];
    std::vector<i32> number(count);
    i32 kept = 0;
    for (i32 k = 0; k < count; ++k) {
      if (made_.parts[k] == k) {
        for (const i32 side : {0, 1}) {
          made_.edges[2 * kept + side] = made_.edges[2 * k + side];
          made_.along[2 * kept + side] = made_.along[2 * k + side];
        }
        made_.source[kept] = made_.source[k];
        number[k] = kept++;
      }
      made_.parts[k] = number[made_.parts[k]];
    }
    made_.edges.resize(2 * static_cast<std::size_t>(kept));
    made_.along.resize(2 * static_cast<std::size_t>(kept));
    made_.source.resize(kept);
  }

  // ---- around the nodes

  /// The input nodes between which a dart's edge lies, in its direction.
  Point tail(i32 d) const { return d & 1 ? end(made_.source[d >> 1]) : start(made_.source[d >> 1]); }
  Point head(i32 d) const { return d & 1 ? start(made_.source[d >> 1]) : end(made_.source[d >> 1]); }
  bool rightwards(i32 d) const { return before(tail(d), head(d)); }

  void order_darts() {
    const i32 num_darts = static_cast<i32>(made_.edges.size());
    std::vector<i32> ptr(static_cast<std::size_t>(num_nodes_) + 2, 0), darts(num_darts);
    for (const i64 v : made_.edges) ++ptr[v + 2];
    for (i32 v = 0; v < num_nodes_; ++v) ptr[v + 2] += ptr[v + 1];
    for (i32 d = 0; d < num_darts; ++d) darts[ptr[made_.edges[d] + 1]++] = d;
    made_.next.resize(num_darts);
    for (i32 v = 0; v < num_nodes_; ++v) {
      const auto first = darts.begin() + ptr[v], last = darts.begin() + ptr[v + 1];
      // Counter-clockwise from downwards. All lines go through this point, so where a dart leads is seen from where it comes from.
      std::sort(first, last, [&](i32 c, i32 d) {
        if (rightwards(c) != rightwards(d)) return rightwards(c);
        return orientation(tail(c), head(c), head(d)) > 0;
      });
      for (auto k = first; k < last; ++k) made_.next[*k] = last - k > 1 ? k[1] : *first;
    }
    find_outer_darts(ptr, darts);
  }

  /// The leftmost node of a component is a node of the input; it has the outer face on the left of its last dart.
  void find_outer_darts(const std::vector<i32>& ptr, const std::vector<i32>& darts) {
    std::vector<i32> set(num_nodes_), leftmost(num_nodes_, -1);
    std::iota(set.begin(), set.end(), 0);
    for (std::size_t k = 0; k < made_.edges.size(); k += 2)
      set[find(set, static_cast<i32>(made_.edges[k]))] = find(set, static_cast<i32>(made_.edges[k + 1]));
    for (i32 v = 0; v < n_; ++v) {
      i32& least = leftmost[find(set, v)];
      if (ptr[v] < ptr[v + 1] && (least < 0 || before(points_[v], points_[least]))) least = v;
    }
    for (i32 v = 0; v < n_; ++v) {
      i32& least = leftmost[find(set, v)];
      if (least < 0) continue;
      made_.outer.push_back(darts[ptr[least + 1] - 1]);
      least = -1;
    }
  }

  i32 n_, m_;
  const i64* edges_;
  const Point* points_;
  const KeepGoing& keep_going_;
  std::vector<Pair> on_edge_;       // edge, node
  std::vector<Pair> crossing_;      // two edges, the lower first
  std::vector<i32> ptr_, event_;    // per edge
  std::vector<i32> set_, node_at_;  // per crossing: those at one point, and the node there
  i32 num_nodes_ = 0;
  Arrangement made_;
};

}  // namespace

Arrangement arrange(i32 num_nodes, i32 num_edges, const i64* edges, const Point* points, const KeepGoing& keep_going) {
  return Arranger(num_nodes, num_edges, edges, points, keep_going).run();
}

}  // namespace planegraph
