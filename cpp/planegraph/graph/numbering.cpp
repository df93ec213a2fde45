// The idea, the invariants and the cost are described in numbering.hpp.
#include "planegraph/graph/numbering.hpp"

#include <algorithm>

#include "planegraph/graph/disjoint_sets.hpp"
#include "planegraph/graph/memory.hpp"

namespace planegraph {
namespace {

constexpr i32 kLarge = 1 << 17;  // nodes from which on the arrays of a search outgrow the caches
constexpr i32 kFronts = 1024;    // they end one by one; enough must be open until near the end to hide the latency of memory
constexpr i32 kHub = 64;         // neighbours from which on a node is a hub
constexpr i32 kAhead = 16;       // places of the queue by which memory is fetched ahead

}  // namespace

void Numbering::number(i32 n, const std::vector<i32>& ptr, const std::vector<Arc>& arcs) {
  grow(node_of, n);
  grow(component, n);
  grow_fill(id_of_, n, i32{-1});
  num_components = 0;
  if (n < kLarge) {
    breadth_first(n, ptr, arcs);
  } else {
    by_fronts(n, ptr, arcs);
    number_fronts(n);
  }
}

void Numbering::breadth_first(i32 n, const std::vector<i32>& ptr, const std::vector<Arc>& arcs) {
  i32 found = 0, scanned = 0;
  for (i32 start = 0; start < n; ++start) {
    if (id_of_[start] >= 0) continue;
    id_of_[start] = found;
    node_of[found++] = start;
    for (; scanned < found; ++scanned) {
      component[scanned] = num_components;
      const i32 u = node_of[scanned];
      for (i32 k = ptr[u]; k < ptr[u + 1]; ++k) {
        i32& id = id_of_[arcs[k].node];
        if (id >= 0) continue;
        id = found;
        node_of[found++] = arcs[k].node;
      }
    }
    ++num_components;
  }
}

i32 Numbering::add_front() {
  joined_.push_back(static_cast<i32>(joined_.size()));
  return joined_.back();
}

/// Reaches every node: id_of_[v] is the front that reached v.
void Numbering::by_fronts(i32 n, const std::vector<i32>& ptr, const std::vector<Arc>& arcs) {
  grow(queue_, n);
  grow(front_of_, n);
  hubs_.clear();
  joined_.clear();
  i32 found = 0, scanned = 0;
  const auto reach = [&](i32 v, i32 front) {
    id_of_[v] = front;
    front_of_[found] = front;
    queue_[found++] = v;
  };
  const auto expand = [&](i32 u, i32 front) {
    for (i32 k = ptr[u]; k < ptr[u + 1]; ++k) {
      const i32 v = arcs[k].node, other = id_of_[v];
      if (other < 0) {
        reach(v, front);
      } else if (other != front) {
        joined_[find(joined_, front)] = find(joined_, other);
      }
    }
  };
  const auto fetch_ahead = [&] {
    if (scanned + 3 * kAhead >= found) return;
    prefetch(&ptr[queue_[scanned + 3 * kAhead]]);
    prefetch(arcs.data() + ptr[queue_[scanned + 2 * kAhead]]);
    const i32 soon = queue_[scanned + kAhead];
    for (i32 k = ptr[soon]; k < std::min(ptr[soon + 1], ptr[soon] + 4); ++k) prefetch(&id_of_[arcs[k].node]);
  };
  const auto search = [&] {
    for (;;) {
      for (; scanned < found; ++scanned) {
        fetch_ahead();
        const i32 u = queue_[scanned];
        if (ptr[u + 1] - ptr[u] > kHub) {
          hubs_.push_back(scanned);
        } else {
          expand(u, front_of_[scanned]);
        }
      }
      if (hubs_.empty()) return;
      const i32 hub = hubs_.back();
      hubs_.pop_back();
      expand(queue_[hub], front_of_[hub]);
    }
  };
  for (i32 k = 0; k < kFronts; ++k) reach(n / kFronts * k, add_front());
  search();
  for (i32 start = 0; start < n; ++start) {
    if (id_of_[start] >= 0) continue;
    reach(start, add_front());
    search();
  }
}

/// Numbers the nodes component by component and front by front, those of one front in the order in which they were reached.
void Numbering::number_fronts(i32 n) {
  const i32 fronts = static_cast<i32>(joined_.size());
  grow_fill(size_, fronts, i32{0});
  grow(start_, fronts);
  for (i32 k = 0; k < n; ++k) ++size_[front_of_[k]];
  i32 next = 0;
  std::vector<i32> head(fronts, -1), after(fronts, -1);  // the fronts of each component as a list
  for (i32 f = fronts - 1; f >= 0; --f) {
    const i32 r = find(joined_, f);
    after[f] = head[r];
    head[r] = f;
  }
  for (i32 r = 0; r < fronts; ++r) {
    if (head[r] < 0) continue;
    const i32 first = next;
    for (i32 f = head[r]; f >= 0; f = after[f]) {
      start_[f] = next;
      next += size_[f];
    }
    std::fill(component.begin() + first, component.begin() + next, num_components++);
  }
  for (i32 k = 0; k < n; ++k) {
    const i32 id = start_[front_of_[k]]++;
    node_of[id] = queue_[k];
    id_of_[queue_[k]] = id;
  }
}

}  // namespace planegraph
