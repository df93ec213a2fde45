// What is computed is described in returns.hpp.
#include "planegraph/tables/returns.hpp"

#include <algorithm>

namespace planegraph {
namespace {

constexpr i64 kOne = i64{1} << 62;

/// The walks of one graph at a time.
class Returns {
 public:
  /// Edges of a graph of n nodes, two ids each; DamagedTables if there is no such node.
  void load(i64 graph, i64 n, std::span<const i32> edges) {
    ptr_.assign(static_cast<std::size_t>(n) + 1, 0);
    for (const i32 v : edges) {
      if (v < 0 || v >= n)
        throw DamagedTables("graph " + std::to_string(graph) + " has " + std::to_string(n) + " nodes, and an edge of node " +
                            std::to_string(v) + ". The tables are damaged");
      ++ptr_[v + 1];
    }
    for (i64 v = 0; v < n; ++v) ptr_[v + 1] += ptr_[v];
    neighbour_.resize(edges.size());
    free_.assign(ptr_.begin(), ptr_.end() - 1);
    for (std::size_t k = 0; k < edges.size(); ++k) neighbour_[free_[edges[k]]++] = edges[k ^ 1];
    here_.assign(static_cast<std::size_t>(n), 0);
    next_.assign(static_cast<std::size_t>(n), 0);
  }

  /// Fills out[0 .. steps) for walks that start at v.
  void from(i32 v, std::span<float> out) {
    reached_.assign(1, v);
    here_[v] = kOne;
    for (float& probability : out) {
      step();
      probability = static_cast<float>(static_cast<double>(here_[v]) / static_cast<double>(kOne));
    }
    for (const i32 u : reached_) here_[u] = 0;
  }

 private:
  void step() {
    ahead_.clear();
    for (const i32 u : reached_) {
      const i32 first = ptr_[u], last = ptr_[u + 1];
      const i64 share = first == last ? 0 : here_[u] / (last - first);
      here_[u] = 0;
      if (share == 0) continue;
      for (i32 k = first; k < last; ++k) {
        const i32 w = neighbour_[k];
        if (next_[w] == 0) ahead_.push_back(w);
        next_[w] += share;
      }
    }
    here_.swap(next_);
    reached_.swap(ahead_);
  }

  std::vector<i32> ptr_, neighbour_, free_;
  std::vector<i64> here_, next_;      // next_ is 0 between steps
  std::vector<i32> reached_, ahead_;  // the nodes where here_, and in a step next_, is not 0
};

void check_offsets(const char* name, std::span<const i64> ptr, i64 rows) {
  if (ptr.front() != 0 || !std::is_sorted(ptr.begin(), ptr.end()) || ptr.back() > rows)
    throw DamagedTables(std::string(name) + " must start at 0, never fall, and end at " + std::to_string(rows) +
                        " or before. The tables are damaged");
}

}  // namespace

Array<float> return_probabilities(const TablesView& tables, i64 steps) {
  const auto &node_ptr = tables.node_ptr, &edge_ptr = tables.edge_ptr;
  check_offsets("node_ptr", node_ptr, INT64_MAX / steps);
  check_offsets("edge_ptr", edge_ptr, static_cast<i64>(tables.edges.size() / 2));
  Array<float> found(static_cast<std::size_t>(node_ptr.back() * steps));
  Returns returns;
  for (std::size_t g = 0; g + 1 < node_ptr.size(); ++g) {
    const i64 n = node_ptr[g + 1] - node_ptr[g];
    returns.load(static_cast<i64>(g), n, tables.edges.subspan(2 * edge_ptr[g], 2 * (edge_ptr[g + 1] - edge_ptr[g])));
    for (i64 v = 0; v < n; ++v) returns.from(static_cast<i32>(v), std::span(found).subspan((node_ptr[g] + v) * steps, steps));
  }
  return found;
}

}  // namespace planegraph
