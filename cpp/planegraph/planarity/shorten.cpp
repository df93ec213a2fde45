// The idea and the cost are described in shorten.hpp.
#include "planegraph/planarity/shorten.hpp"

#include <algorithm>

#include "planegraph/planarity/incidence.hpp"

namespace planegraph {
namespace {

class Shortening {
 public:
  Shortening(i32 n, i32 m, const i32* eu, const i32* ev, const KeepGoing& keep_going)
      : eu_(eu), ev_(ev), keep_going_(keep_going), owner_(n, kFree), entry_(n, -1) {
    around_.run(n, m, [&](i32 e) { return std::pair(eu[e], ev[e]); });
  }

  std::vector<i32> run(const std::vector<i32>& witness) {
    find_paths(witness);
    for (bool changed = true; changed;) {  // it ends: every change leaves fewer edges
      changed = false;
      for (i32 p = 0; p < static_cast<i32>(paths_.size()); ++p) changed |= shorten(p);
    }
    std::vector<i32> edges;
    for (const Path& path : paths_) edges.insert(edges.end(), path.edges.begin(), path.edges.end());
    std::sort(edges.begin(), edges.end());
    return edges;
  }

 private:
  static constexpr i32 kFree = -1, kBranch = -2;
  struct Path {
    i32 from, to;
    std::vector<i32> edges;
  };

  i32 across(i32 e, i32 v) const { return eu_[e] ^ ev_[e] ^ v; }

  void find_paths(const std::vector<i32>& witness) {
    std::vector<std::pair<i32, i32>> at;  // node, edge
    for (const i32 e : witness) at.insert(at.end(), {{eu_[e], e}, {ev_[e], e}});
    std::sort(at.begin(), at.end());
    const auto first = [&](i32 v) { return std::lower_bound(at.begin(), at.end(), std::pair(v, i32{-1})); };
    const auto degree = [&](i32 v) { return first(v + 1) - first(v); };
    for (const auto& [v, e] : at)
      if (degree(v) > 2) owner_[v] = kBranch;
    for (const auto& [start, start_edge] : at) {
      if (owner_[start] != kBranch) continue;
      Path path{start, across(start_edge, start), {start_edge}};
      while (owner_[path.to] != kBranch) {
        const auto two = first(path.to);
        const i32 e = two->second ^ (two + 1)->second ^ path.edges.back();
        path.edges.push_back(e);
        path.to = across(e, path.to);
      }
      if (path.from < path.to) paths_.push_back(std::move(path));  // each is met from both ends
    }
    for (i32 p = 0; p < static_cast<i32>(paths_.size()); ++p) own_inner_nodes(p, p);
  }

  void own_inner_nodes(i32 p, i32 owner) {
    i32 v = paths_[p].from;
    for (const i32 e : paths_[p].edges) {
      v = across(e, v);
      if (v != paths_[p].to) owner_[v] = owner;
    }
  }

  bool shorten(i32 p) {
    Path& path = paths_[p];
    const std::size_t length = path.edges.size();
    if (length == 1) return false;
    if (!keep_going_()) throw Cancelled();
    std::vector<i32> reached{path.from};
    bool found = false;
    std::size_t head = 0;
    for (std::size_t depth = 1; depth < length && !found; ++depth) {
      for (const std::size_t end = reached.size(); head < end && !found; ++head) {
        const i32 v = reached[head];
        for (i32 k = around_.ptr[v]; k < around_.ptr[v + 1] && !found; ++k) {
          const i32 e = around_.edges[k], w = across(e, v);
          if (w == path.from || entry_[w] >= 0 || (w != path.to && owner_[w] != kFree && owner_[w] != p)) continue;
          entry_[w] = e;
          reached.push_back(w);
          found = w == path.to;
        }
      }
    }
    if (found) {
      own_inner_nodes(p, kFree);
      path.edges.clear();
      for (i32 v = path.to; v != path.from; v = across(entry_[v], v)) path.edges.push_back(entry_[v]);
      std::reverse(path.edges.begin(), path.edges.end());
      own_inner_nodes(p, p);
    }
    for (const i32 v : reached) entry_[v] = -1;
    return found;
  }

  Incidence around_;
  const i32 *eu_, *ev_;
  const KeepGoing& keep_going_;
  std::vector<i32> owner_;  // per node: the path that it is inside of
  std::vector<i32> entry_;  // per node: the edge by which the search came
  std::vector<Path> paths_;
};

}  // namespace

std::vector<i32> shortened(const std::vector<i32>& witness, i32 n, i32 m, const i32* eu, const i32* ev,
                           const KeepGoing& keep_going) {
  return Shortening(n, m, eu, ev, keep_going).run(witness);
}

}  // namespace planegraph
