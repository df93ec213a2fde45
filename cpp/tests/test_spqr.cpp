// Split components and SPQR trees against their definitions.
#include "planegraph/spqr/spqr.hpp"
#include "tests/brute.hpp"
#include "tests/families.hpp"

namespace planegraph::test {
namespace {

/// The skeleton with the given darts, nodes renamed 0, 1, ...
template <class Ends>
Input skeleton(i32 first, i32 last, Ends&& end_of_dart) {
  Input g;
  std::map<i32, i64> name;
  for (i32 x = first; x < last; ++x)
    for (i32 side = 0; side < 2; ++side)
      g.edges.push_back(name.insert({end_of_dart(2 * x + side), static_cast<i64>(name.size())}).first->second);
  g.n = static_cast<i64>(name.size());
  return g;
}

bool is_cycle(const Input& g) {
  std::vector<int> degree(static_cast<std::size_t>(g.n), 0);
  for (const i64 v : g.edges) ++degree[v];
  return g.m() >= 3 && g.n == g.m() && count_components(g) == 1 &&
         std::all_of(degree.begin(), degree.end(), [](int d) { return d == 2; });
}

const char* skeleton_problem(i32 type, const Input& g, i32 least_bond) {
  switch (type) {
    case kS: return is_cycle(g) ? nullptr : "skeleton: S is not a cycle";
    case kP: return g.n == 2 && g.m() >= least_bond ? nullptr : "skeleton: P is not a bond";
    case kQ: return g.n == 2 && g.m() == 1 ? nullptr : "skeleton: Q is not an edge";
    default: return is_triconnected(g) ? nullptr : "skeleton: R is not simple and 3-connected";
  }
}

const char* split_problem(const Input& g, const SplitComponents& split) {
  std::vector<int> uses(static_cast<std::size_t>(split.num_edges()), 0);
  for (i32 c = 0; c < split.num_components(); ++c) {
    for (i32 k = split.ptr[c]; k < split.ptr[c + 1]; ++k) ++uses[split.component_edges[k]];
    const Input part = skeleton(split.ptr[c], split.ptr[c + 1], [&](i32 d) {
      const i32 e = split.component_edges[d / 2];
      return d % 2 ? split.target(e) : split.source(e);
    });
    if (split.type[c] != kR && part.m() != 3) return "split: a bond or triangle that has not three edges";
    if (const char* problem = skeleton_problem(split.type[c], part, 3)) return problem;
  }
  for (i32 e = 0; e < split.num_edges(); ++e) {
    if (uses[e] != (e < split.num_real ? 1 : 2)) return "split: an edge in the wrong number of components";
    if (e < split.num_real && std::minmax<i64>(split.source(e), split.target(e)) != std::minmax(g.edges[2 * e], g.edges[2 * e + 1]))
      return "split: a real edge has other ends";
  }
  if (split.num_components() != split.num_edges() - split.num_real + 1) return "split: the components are not a tree";
  return nullptr;
}

i64 entries_in_nodes(const Spqr& spqr) {
  i64 sum = 0;
  for (const SpqrNode& node : spqr.nodes) sum += node.size();
  return sum;
}

const char* entries_problem(const Graph& g, const Blocks& blocks, const Spqr& spqr) {
  std::vector<i32> block_of_edge(g.m), seen(g.m, 0);
  for (i32 b = 0; b < blocks.count; ++b)
    for (i32 k = blocks.edge_ptr[b]; k < blocks.edge_ptr[b + 1]; ++k) block_of_edge[blocks.edges[k]] = b;
  if (entries_in_nodes(spqr) != spqr.num_entries()) return "spqr: entries do not add up";
  for (i32 c = 0; c < spqr.count(); ++c) {
    for (i32 x = spqr.nodes[c].first; x < spqr.nodes[c].last; ++x) {
      if (spqr.owner(x) != c) return "spqr: owner";
      const i32 e = spqr.entries[x].real, t = spqr.entries[x].twin;
      if (e >= 0) {
        if (t != -1) return "spqr: a real edge with a twin";
        if (block_of_edge[e] != spqr.nodes[c].block) return "spqr: a real edge in the wrong block";
        if (spqr.end(2 * x) != g.end[2 * e] || spqr.end(2 * x + 1) != g.end[2 * e + 1]) return "spqr: a real edge has other ends";
        ++seen[e];
        continue;
      }
      if (e != -1 || t < 0 || t >= spqr.num_entries() || spqr.entries[t].twin != x) return "spqr: twins";
      if (spqr.end(2 * t) != spqr.end(2 * x) || spqr.end(2 * t + 1) != spqr.end(2 * x + 1)) return "spqr: twins have other poles";
      const i32 d = spqr.owner(t);
      if (d == c || spqr.nodes[d].block != spqr.nodes[c].block) return "spqr: a twin in the wrong node";
      if (spqr.nodes[c].type == spqr.nodes[d].type && spqr.nodes[c].type != kR) return "spqr: S-S or P-P";
    }
  }
  for (i32 e = 0; e < g.m; ++e)
    if (seen[e] != 1) return "spqr: a real edge is not in exactly one skeleton";
  return nullptr;
}

const char* skeletons_problem(const Spqr& spqr, bool brute) {
  for (i32 c = 0; c < spqr.count(); ++c) {
    const i32 first = spqr.nodes[c].first, last = spqr.nodes[c].last;
    const Input part = skeleton(first, last, [&](i32 d) { return spqr.end(d); });
    if (brute || spqr.nodes[c].type != kR)
      if (const char* problem = skeleton_problem(spqr.nodes[c].type, part, 3)) return problem;
    if (spqr.nodes[c].type != kS) continue;
    for (i32 x = first; x < last; ++x) {
      const i32 y = x + 1 == last ? first : x + 1;
      if (spqr.end(2 * x + spqr.entries[x].forward) != spqr.end(2 * y + 1 - spqr.entries[y].forward))
        return "spqr: S entries not in the order of the cycle";
    }
  }
  return nullptr;
}

/// One tree per block; gluing gives a node back once: the skeletons with node v form a subtree.
const char* gluing_problem(const Blocks& blocks, const Spqr& spqr) {
  std::vector<i32> nodes(blocks.count, 0), links(blocks.count, 0);
  std::map<std::pair<i32, i32>, i32> balance;  // (block, node): skeletons minus virtual edges at it
  for (i32 c = 0; c < spqr.count(); ++c) {
    ++nodes[spqr.nodes[c].block];
    std::set<i32> in;
    for (i32 x = spqr.nodes[c].first; x < spqr.nodes[c].last; ++x) {
      for (i32 side = 0; side < 2; ++side) {
        const i32 v = spqr.end(2 * x + side);
        in.insert(v);
        if (spqr.entries[x].twin > x) --balance[{spqr.nodes[c].block, v}];
      }
      if (spqr.entries[x].twin > x) ++links[spqr.nodes[c].block];
    }
    for (const i32 v : in) ++balance[{spqr.nodes[c].block, v}];
  }
  for (i32 b = 0; b < blocks.count; ++b)
    if (nodes[b] != links[b] + 1) return "spqr: not one tree per block";
  for (const auto& [key, value] : balance)
    if (value != 1) return "spqr: the skeletons of a node are not a subtree";
  if (static_cast<i32>(balance.size()) != blocks.node_ptr[blocks.count]) return "spqr: nodes of a block are missing";
  const Forest& forest = spqr.forest;
  i64 parents = 0;
  for (i32 c = 0; c < spqr.count(); ++c) {
    if (forest.parent[c] < 0) continue;
    ++parents;
    bool adjacent = false;
    for (i32 x = spqr.nodes[c].first; x < spqr.nodes[c].last; ++x)
      adjacent |= spqr.entries[x].twin >= 0 && spqr.across(x) == forest.parent[c];
    if (!adjacent) return "spqr: the parent is not a neighbour";
  }
  if (parents != spqr.count() - blocks.count) return "spqr: not one root per block";
  return nullptr;
}

/// A palm tree of a biconnected graph by plain recursion, its nodes renamed in preorder.
class Palm {
 public:
  explicit Palm(const Input& g) : g_(g), number_(static_cast<std::size_t>(g.n), -1) {
    tree_.n = static_cast<i32>(g.n);
    tree_.m = static_cast<i32>(g.m());
    visit(0, -1);
    for (const i64 v : g.edges) tree_.end.push_back(number_[v]);
  }
  const PalmTree& tree() const { return tree_; }
  /// The graph in the names of the tree.
  Input renamed() const {
    Input h;
    h.n = g_.n;
    h.edges.assign(tree_.end.begin(), tree_.end.end());
    return h;
  }

 private:
  std::set<i32> visit(i64 v, i32 father) {  // the node and what fronds from its subtree reach
    const i32 x = number_[v] = static_cast<i32>(tree_.parent.size());
    tree_.parent.push_back(father);
    tree_.low1.push_back(0);
    tree_.low2.push_back(0);
    std::set<i32> reached;
    for (i64 d = 0; d < 2 * g_.m(); ++d) {
      if (g_.edges[d] != v) continue;
      const i64 w = g_.edges[d ^ 1];
      if (number_[w] < 0)
        reached.merge(visit(w, x));
      else if (number_[w] < x && number_[w] != father)
        reached.insert(number_[w]);
    }
    std::set<i32> all = reached;
    all.insert(x);
    tree_.low1[x] = *all.begin();
    tree_.low2[x] = tree_.low1[x] == x ? x : *std::next(all.begin());
    return reached;
  }
  const Input& g_;
  std::vector<i32> number_;
  PalmTree tree_;
};

/// The separation pairs of a biconnected graph: ends of virtual edges, and nodes of an S cycle that are not adjacent on it.
std::set<std::pair<i64, i64>> pairs_of_tree(const Spqr& spqr) {
  std::set<std::pair<i64, i64>> pairs;
  for (i32 c = 0; c < spqr.count(); ++c) {
    const i32 first = spqr.nodes[c].first, last = spqr.nodes[c].last;
    for (i32 x = first; x < last; ++x)
      if (spqr.entries[x].real < 0) pairs.insert(std::minmax<i64>(spqr.end(2 * x), spqr.end(2 * x + 1)));
    if (spqr.nodes[c].type != kS) continue;
    const auto node = [&](i32 x) { return spqr.end(2 * x + 1 - spqr.entries[x].forward); };
    for (i32 x = first; x < last; ++x)
      for (i32 y = x + 2; y < last; ++y)
        if (y - x != last - first - 1) pairs.insert(std::minmax<i64>(node(x), node(y)));
  }
  return pairs;
}

class Tester {
 public:
  explicit Tester(Tally& tally) : tally_(tally) {}

  void test(const Input& input, bool brute = true) {
    tally_.count_graphs();
    g_.load(input.view());
    blocks_.run(g_);
    spqr_.run(g_, blocks_);
    tally_.accept(entries_problem(g_, blocks_, spqr_), input);
    tally_.accept(skeletons_problem(spqr_, brute), input);
    tally_.accept(gluing_problem(blocks_, spqr_), input);
    if (!brute || !is_biconnected(input)) return;
    Input h;
    h.n = g_.n;
    h.edges.assign(g_.end.begin(), g_.end.begin() + 2 * g_.m);
    tally_.check(pairs_of_tree(spqr_) == separation_pairs(h), "spqr: separation pairs", input);
    const Palm palm(input);
    split_.run(palm.tree());
    tally_.accept(split_problem(palm.renamed(), split_), input);
  }

  /// All graphs on n labelled nodes that are biconnected.
  void test_all(i64 n) {
    const Input all = complete(n);
    for (u64 mask = 0; mask < u64{1} << all.m(); ++mask) {
      Input g;
      g.n = n;
      for (i64 e = 0; e < all.m(); ++e)
        if (mask >> e & 1) g.add(all.edges[2 * e], all.edges[2 * e + 1]);
      if (g.m() >= n && is_biconnected(g)) test(g);
    }
  }

 private:
  Tally& tally_;
  Graph g_;
  Blocks blocks_;
  Spqr spqr_;
  SplitComponents split_;
};

}  // namespace
}  // namespace planegraph::test

int main() {
  using namespace planegraph;
  using namespace planegraph::test;
  Tally tally("spqr");
  Random random(2);
  Tester tester(tally);
  for (const auto& [name, g] : families()) tester.test(g);
  for (const i64 n : {3, 4, 5, 6}) tester.test_all(n);
  tally.part("families, and all biconnected graphs on 3 to 6 nodes");
  for (int k = 0; k < 15000; ++k) tester.test(random_graph(random.between(3, 9), static_cast<int>(random.between(25, 75)), random));
  tally.part("random small graphs");
  for (int k = 0; k < 6000; ++k) {
    switch (k % 4) {
      case 0: tester.test(relabelled(random_biconnected(random.between(1, 5), random), random)); break;
      case 1: tester.test(relabelled(random_composite(random.between(1, 6), random), random)); break;
      case 2: tester.test(relabelled(random_two_centred(random), random)); break;
      default: tester.test(relabelled(random_nonplanar_composite(random.between(1, 3), random), random));
    }
  }
  tally.part("glued pieces");
  for (int k = 0; k < 60; ++k) {
    tester.test(relabelled(random_biconnected(random.between(20, 120), random), random), false);
    tester.test(relabelled(random_planar(random.between(50, 600), static_cast<int>(random.between(40, 95)), random), random),
                false);
    tester.test(relabelled(nested_k4(random.between(20, 200)), random), false);
    tester.test(random_graph(random.between(20, 60), static_cast<int>(random.between(5, 12)), random), false);
  }
  tally.part("large");
  return tally.finish();
}
