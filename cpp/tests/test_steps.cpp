// The steps that need no planarity, each on its own: loading, blocks, rooted forests, ranks, least rotations.
#include "planegraph/canon/ranker.hpp"
#include "planegraph/canon/rotation_of_sequence.hpp"
#include "planegraph/graph/blocks.hpp"
#include "tests/brute.hpp"
#include "tests/families.hpp"

namespace planegraph::test {
namespace {

bool is_permutation(const std::vector<i32>& p, i64 n) {
  std::vector<u8> seen(static_cast<std::size_t>(n), 0);
  for (i64 k = 0; k < n; ++k)
    if (p[k] < 0 || p[k] >= n || seen[p[k]]++) return false;
  return true;
}

// ---- Graph::load

const char* load_problem(const Input& g, const Graph& h) {
  if (h.n != g.n || h.m != g.m()) return "load: sizes";
  if (!is_permutation(h.node_of, g.n) || !is_permutation(h.edge_of, g.m())) return "load: renumbering is no bijection";
  if (h.num_components != count_components(g)) return "load: number of components";
  Sets sets = components_without(g, -1);
  for (i32 v = 0; v < h.n; ++v) {
    if (v > 0 && h.component[v] < h.component[v - 1]) return "load: components are not ascending";
    if (v > 0 && (h.component[v] == h.component[v - 1]) != (sets.find(h.node_of[v]) == sets.find(h.node_of[v - 1])))
      return "load: components";
    for (i32 k = h.ptr[v]; k < h.ptr[v + 1]; ++k)
      if (h.end[h.out[k]] != v) return "load: out lists";
  }
  if (h.ptr[0] != 0 || h.ptr[h.n] != 2 * h.m) return "load: out lists do not cover the darts";
  for (i32 e = 0; e < h.m; ++e) {
    if (h.end[2 * e] >= h.end[2 * e + 1]) return "load: ends are not ascending";
    const i64 u = h.node_of[h.end[2 * e]], v = h.node_of[h.end[2 * e + 1]], x = h.edge_of[e];
    if (std::minmax(u, v) != std::minmax(g.edges[2 * x], g.edges[2 * x + 1])) return "load: an edge has other ends";
  }
  return nullptr;
}

/// Labels and tokens order nodes and darts as the label rows do.
const char* label_problem(const Input& g, const Graph& h) {
  const auto order = [](auto a, auto b) { return a < b ? -1 : b < a ? 1 : 0; };
  std::vector<std::vector<i64>> node(h.n), dart(2 * static_cast<std::size_t>(h.m));
  for (i32 v = 0; v < h.n; ++v) {
    const i64* row = g.node_rows.data() + i64{h.node_of[v]} * g.node_width;
    node[v].assign(row, row + g.node_width);
  }
  for (i32 d = 0; d < 2 * h.m; ++d) {
    const i64 e = h.edge_of[d / 2], input = 2 * e + (g.edges[2 * e] == h.node_of[h.end[d]] ? 0 : 1);
    dart[d].assign(g.dart_row(input), g.dart_row(input) + g.edge_width);
    dart[d].insert(dart[d].end(), g.dart_row(input ^ 1), g.dart_row(input ^ 1) + g.edge_width);
    if (h.token[d] < 0 || h.token[d] >= h.num_tokens) return "load: token out of range";
  }
  for (i32 u = 0; u < h.n; ++u) {
    if (h.label[u] < 0 || h.label[u] >= (1 << 30)) return "load: label out of range";
    for (i32 v = 0; v < u; ++v)
      if (order(h.label[u], h.label[v]) != order(node[u], node[v])) return "load: labels do not order the nodes";
  }
  for (i32 c = 0; c < 2 * h.m; ++c)
    for (i32 d = 0; d < c; ++d)
      if (order(h.token[c], h.token[d]) != order(dart[c], dart[d])) return "load: tokens do not order the darts";
  return nullptr;
}

void test_load(Tally& tally, Random& random) {
  Graph h;
  const std::vector<i64> steps{1, 3, i64{1} << 29, i64{1} << 31, i64{1} << 40, i64{1} << 59};
  for (int k = 0; k < 4000; ++k, tally.count_graphs()) {
    Input g = k % 2 ? random_graph(random.between(0, 14), static_cast<int>(random.between(5, 60)), random)
                    : relabelled(random_composite(random.between(1, 4), random), random);
    if (g.n > 0) label_nodes(g, static_cast<i32>(random.below(4)), random.between(1, 9), random, random.pick(steps));
    label_edges(g, static_cast<i32>(random.below(4)), static_cast<i32>(random.between(1, 2)), random.between(1, 9), random,
                random.pick(steps));
    h.load(g.view());
    tally.accept(load_problem(g, h), g);
    if (g.m() <= 30) tally.accept(label_problem(g, h), g);
  }
  // extreme labels, whose differences do not fit 64 bits
  Input g = path(4);
  g.node_width = g.edge_width = 1;
  g.node_rows = {INT64_MAX, INT64_MIN, 0, INT64_MIN};
  g.edge_rows = {INT64_MIN, INT64_MAX, INT64_MIN, INT64_MIN, -1, INT64_MAX};
  g.rows_per_edge = 2;
  h.load(g.view());
  tally.accept(label_problem(g, h), g);
}

void test_load_errors(Tally& tally, Random& random) {
  Graph h;
  const auto refused = [&](const Input& g, const char* word) {
    try {
      h.load(g.view());
    } catch (const InvalidGraph& error) {
      return std::string(error.what()).find(word) != std::string::npos;
    }
    return false;
  };
  const std::vector<i64> bad{-1, -2, INT64_MIN, INT64_MAX, i64{1} << 31, i64{1} << 32, (i64{1} << 32) + 1, -(i64{1} << 32)};
  for (int k = 0; k < 2000; ++k, tally.count_graphs()) {
    const Input g = relabelled(random_composite(random.between(1, 3), random), random);
    const i64 e = random.below(g.m()), side = random.below(2);
    Input out = g, loop = g, twice = g;
    out.edges[2 * e + side] = random.percent(20) ? g.n : random.pick(bad);
    tally.check(refused(out, "outside"), "an id out of range must be refused", out);
    loop.edges[2 * e + side] = loop.edges[2 * e + 1 - side];
    tally.check(refused(loop, "self-loop"), "a self-loop must be refused", loop);
    const i64 u = g.edges[2 * e], v = g.edges[2 * e + 1], at = 2 * random.between(0, g.m());
    const std::vector<i64> copy = random.percent(50) ? std::vector<i64>{u, v} : std::vector<i64>{v, u};
    twice.edges.insert(twice.edges.begin() + at, copy.begin(), copy.end());
    tally.check(refused(twice, "repeats"), "a parallel edge must be refused", twice);
    h.load(g.view());  // an error must leave the object usable
    tally.accept(load_problem(g, h), g);
  }
  GraphView view = Input{}.view();
  for (const i64 count : {i64{-1}, INT64_MIN, INT64_MAX, (i64{1} << 28) + 1}) {
    for (const bool nodes : {false, true}) {
      view.num_nodes = nodes ? count : 0;
      view.num_edges = nodes ? 0 : count;
      bool thrown = false;
      try {
        h.load(view);
      } catch (const InvalidGraph&) {
        thrown = true;
      }
      tally.check(thrown, "impossible counts must be refused");
    }
  }
}

// ---- Blocks

const char* blocks_problem(const Graph& g, const Blocks& blocks) {
  Input h;  // the graph in the numbers of g
  h.n = g.n;
  h.edges.assign(g.end.begin(), g.end.begin() + 2 * g.m);
  const std::vector<i64> expected = blocks_by_definition(h);
  std::map<i64, i32> block_of_class;
  i64 edges = 0;
  for (i32 b = 0; b < blocks.count; ++b) {
    std::set<i32> ends;
    for (i32 k = blocks.edge_ptr[b]; k < blocks.edge_ptr[b + 1]; ++k, ++edges) {
      const i32 e = blocks.edges[k];
      const auto [it, fresh] = block_of_class.insert({expected[e], b});
      if (it->second != b || (fresh && k > blocks.edge_ptr[b])) return "blocks: not the edge classes";
      ends.insert(g.end[2 * e]);
      ends.insert(g.end[2 * e + 1]);
    }
    const std::set<i32> listed(blocks.nodes.begin() + blocks.node_ptr[b], blocks.nodes.begin() + blocks.node_ptr[b + 1]);
    if (listed != ends || static_cast<i32>(listed.size()) != blocks.node_ptr[b + 1] - blocks.node_ptr[b])
      return "blocks: node list";
  }
  if (edges != g.m || static_cast<i32>(block_of_class.size()) != blocks.count) return "blocks: edges missing";
  const i64 whole = count_components(h);
  for (i32 v = 0; v < g.n; ++v) {
    const bool cuts = count_components(h, v) > whole;
    if (cuts != (blocks.cut_of[v] >= 0)) return "blocks: a cut node is one whose removal leaves more components";
    if (cuts && blocks.cut_node[blocks.cut_of[v]] != v) return "blocks: cut_node and cut_of disagree";
  }
  return nullptr;
}

/// Parents, heights and centres of the block-cut trees.
const char* block_tree_problem(const Blocks& blocks) {
  const i32 total = blocks.num_tree_nodes();
  std::vector<std::vector<i32>> child_heights(total);
  const auto height = [&](i32 t) { return t < blocks.count ? blocks.level[t] : blocks.cut_level[t - blocks.count]; };
  const auto parent = [&](i32 t) {
    return t >= blocks.count          ? blocks.cut_parent[t - blocks.count]
           : blocks.parent_cut[t] < 0 ? -1
                                      : blocks.count + blocks.parent_cut[t];
  };
  const auto in_block = [&](i32 b, i32 v) {
    return std::count(blocks.nodes.begin() + blocks.node_ptr[b], blocks.nodes.begin() + blocks.node_ptr[b + 1], v) == 1;
  };
  i64 links = 0, memberships = 0;
  for (i32 t = 0; t < total; ++t) {
    const i32 p = parent(t);
    if (p < 0) continue;
    ++links;
    child_heights[p].push_back(height(t));
    if (t < blocks.count ? !in_block(t, blocks.cut_node[p - blocks.count]) : !in_block(p, blocks.cut_node[t - blocks.count]))
      return "block-cut tree: a link between strangers";
  }
  for (i32 b = 0; b < blocks.count; ++b)
    for (i32 k = blocks.node_ptr[b]; k < blocks.node_ptr[b + 1]; ++k) memberships += blocks.cut_of[blocks.nodes[k]] >= 0;
  if (links != memberships) return "block-cut tree: links are missing";
  for (i32 t = 0; t < total; ++t) {
    auto& below = child_heights[t];
    std::sort(below.rbegin(), below.rend());
    if (height(t) != (below.empty() ? 0 : below[0] + 1)) return "block-cut tree: heights";
    if (height(t) % 2 != (t < blocks.count ? 0 : 1)) return "block-cut tree: parity of heights";
    if (parent(t) < 0 && !below.empty() && (below.size() < 2 || below[1] != below[0]))
      return "block-cut tree: the root is not the centre";
  }
  const std::vector<i32>& order = blocks.by_height();
  for (i32 k = 1; k < total; ++k)
    if (height(order[k - 1]) > height(order[k])) return "block-cut tree: order";
  for (i32 c = 0; c < blocks.num_cuts; ++c)
    for (i32 k = blocks.child_ptr[c]; k < blocks.child_ptr[c + 1]; ++k)
      if (blocks.parent_cut[blocks.child[k]] != c) return "block-cut tree: child lists";
  return nullptr;
}

void test_blocks(Tally& tally, Random& random) {
  Graph g;
  Blocks blocks;
  const auto test = [&](const Input& input) {
    tally.count_graphs();
    g.load(input.view());
    blocks.run(g);
    tally.accept(blocks_problem(g, blocks), input);
    tally.accept(block_tree_problem(blocks), input);
  };
  for (const auto& [name, input] : families()) test(input);
  for (int k = 0; k < 3000; ++k) {
    switch (k % 4) {
      case 0: test(random_graph(random.between(1, 12), static_cast<int>(random.between(5, 50)), random)); break;
      case 1: test(random_cactus(random.between(1, 25), random)); break;
      case 2: test(random_composite(random.between(1, 6), random)); break;
      default: test(random_tree(random.between(1, 20), random));
    }
  }
}

// ---- Forest

void test_forest(Tally& tally, Random& random) {
  Forest forest;
  for (int k = 0; k < 3000; ++k, tally.count_graphs()) {
    Input g = random_tree(random.between(1, 30), random);
    for (i64 more = random.below(3); more > 0; --more)
      g = disjoint(g, random.percent(50) ? path(random.between(1, 9)) : random_tree(random.between(1, 9), random));
    g = relabelled(g, random);
    forest.reset(static_cast<i32>(g.n));
    std::vector<std::vector<i64>> near(static_cast<std::size_t>(g.n));
    for (i64 e = 0; e < g.m(); ++e) {
      forest.add_edge(static_cast<i32>(g.edges[2 * e]), static_cast<i32>(g.edges[2 * e + 1]));
      near[g.edges[2 * e]].push_back(g.edges[2 * e + 1]);
      near[g.edges[2 * e + 1]].push_back(g.edges[2 * e]);
    }
    forest.peel();
    // eccentricity of each node, by a search from it
    std::vector<i64> far(static_cast<std::size_t>(g.n), 0);
    for (i64 v = 0; v < g.n; ++v) {
      std::vector<std::pair<i64, i64>> stack{{v, -1}}, next;
      for (i64 depth = 0; !stack.empty(); ++depth, stack.swap(next)) {
        next.clear();
        far[v] = depth;
        for (const auto& [x, from] : stack)
          for (const i64 y : near[x])
            if (y != from) next.emplace_back(y, x);
      }
    }
    Sets sets = components_without(g, -1);
    std::map<i64, std::vector<i64>> centres;  // per tree
    for (i64 v = 0; v < g.n; ++v) {
      auto& list = centres[sets.find(v)];
      if (!list.empty() && far[v] > far[list[0]]) continue;
      if (!list.empty() && far[v] < far[list[0]]) list.clear();
      list.push_back(v);
    }
    bool ok = true;
    std::size_t doubles = 0;
    std::vector<i32> height(static_cast<std::size_t>(g.n), 0);
    for (i32 i = 0; i < g.n; ++i) {
      const i32 v = forest.order[i], p = forest.parent[v];
      ok &= i == 0 || forest.height[forest.order[i - 1]] <= forest.height[v];
      const auto& list = centres[sets.find(v)];
      if (p < 0)
        ok &= std::count(list.begin(), list.end(), v) == 1;
      else
        ok &= std::count(near[v].begin(), near[v].end(), p) == 1;
      const bool centre_below = p >= 0 && list.size() == 2 && std::count(list.begin(), list.end(), v) == 1;
      if (p >= 0 && !centre_below) height[p] = std::max(height[p], forest.height[v] + 1);
      ok &= height[v] == forest.height[v];
    }
    for (const auto& [root, list] : centres) doubles += list.size() == 2;
    ok &= doubles == forest.two_centres.size() && is_permutation(forest.order, g.n);
    for (const auto& [first, second] : forest.two_centres)
      ok &= forest.parent[first] == second && forest.parent[second] == -1 && forest.height[first] == forest.height[second];
    tally.check(ok, "forest: centres, parents, heights", g);
  }
}

// ---- Ranker, least rotation

using Sequence = std::vector<i32>;

/// The ranks that `ranker` gives to the sequences; the number of distinct ones goes to `distinct`.
std::vector<i32> ranks(Ranker& ranker, const std::vector<Sequence>& items, i32& distinct) {
  ranker.clear();
  for (const Sequence& item : items) {
    for (const i32 x : item) ranker.push(x);
    ranker.close();
  }
  distinct = ranker.finish();
  std::vector<i32> all;
  for (i32 k = 0; k < ranker.count(); ++k) all.push_back(ranker.rank(k));
  return all;
}

/// Equal ranks for equal sequences and for no others; all of 0 .. distinct - 1; an order that depends on the contents alone.
void test_ranker(Tally& tally, Random& random) {
  Ranker ranker, fresh;
  for (int k = 0; k < 4000; ++k) {
    const i64 count = random.percent(50) ? random.between(0, 9) : random.between(9, 200);
    const i64 values = random.between(1, 5), longest = random.between(0, 6);
    std::vector<Sequence> items(static_cast<std::size_t>(count));
    for (Sequence& item : items) {
      item.resize(static_cast<std::size_t>(random.between(0, longest)));
      for (i32& x : item)
        x = random.percent(5) ? (random.percent(50) ? INT32_MAX : INT32_MIN) : static_cast<i32>(random.below(values)) - 2;
    }
    i32 distinct = 0, distinct2 = 0, distinct3 = 0;
    const std::vector<i32> rank = ranks(ranker, items, distinct);
    std::map<Sequence, i32> of;
    std::set<i32> used;
    bool ok = true;
    for (std::size_t i = 0; i < items.size(); ++i) {
      ok &= of.insert({items[i], rank[i]}).first->second == rank[i];
      used.insert(rank[i]);
    }
    ok &= distinct == static_cast<i32>(of.size()) && used.size() == of.size();
    ok &= used.empty() || (*used.begin() == 0 && *used.rbegin() == distinct - 1);
    tally.check(ok, "ranker: equal ranks are not equal sequences");
    std::vector<Sequence> shuffled = items, some;
    random.shuffle(shuffled);
    const std::vector<i32> again = ranks(random.percent(50) ? ranker : fresh, shuffled, distinct2);
    ok = distinct2 == distinct;
    for (std::size_t i = 0; i < shuffled.size(); ++i) ok &= again[i] == of[shuffled[i]];
    tally.check(ok, "ranker: ranks depend on the order of the input");
    for (const Sequence& item : items)
      if (random.percent(50)) some.push_back(item);
    const std::vector<i32> part = ranks(ranker, some, distinct3);
    ok = true;
    for (std::size_t i = 1; i < some.size(); ++i) ok &= (part[i - 1] < part[i]) == (of[some[i - 1]] < of[some[i]]);
    tally.check(ok, "ranker: the order of two sequences depends on others");
  }
}

void test_least_rotation(Tally& tally, Random& random) {
  for (int k = 0; k < 20000; ++k) {
    const i32 width = static_cast<i32>(random.between(1, 3)), period = static_cast<i32>(random.between(1, 8));
    const i32 repeat = random.percent(30) ? static_cast<i32>(random.between(2, 4)) : 1, length = period * repeat;
    std::vector<std::vector<i32>> items(period);
    const i64 values = random.between(1, 3);
    for (auto& item : items)
      for (i32 j = 0; j < width; ++j) item.push_back(static_cast<i32>(random.below(values)));
    std::vector<i32> data;
    for (i32 i = 0; i < length; ++i) data.insert(data.end(), items[i % period].begin(), items[i % period].end());
    std::vector<std::vector<i32>> rotations;
    for (i32 i = 0; i < length; ++i) {
      std::vector<i32> r(data.begin() + i * width, data.end());
      r.insert(r.end(), data.begin(), data.begin() + i * width);
      rotations.push_back(r);
    }
    const auto least = *std::min_element(rotations.begin(), rotations.end());
    const CyclicSequence s{data.data(), width, length};
    const LeastRotation found = least_rotation(s);
    bool ok = found.start >= 0 && found.start < length && rotations[found.start] == least;
    ok &= found.period * std::count(rotations.begin(), rotations.end(), least) == length;
    const i32 i = static_cast<i32>(random.below(length)), j = static_cast<i32>(random.below(length));
    const int order = rotations[i] < rotations[j] ? -1 : rotations[j] < rotations[i] ? 1 : 0;
    ok &= compare_rotations(s, i, s, j) == order;
    tally.check(ok, "least rotation: not the least of all");
  }
}

}  // namespace
}  // namespace planegraph::test

int main() {
  using namespace planegraph::test;
  Tally tally("steps");
  Random random(1);
  test_load(tally, random);
  test_load_errors(tally, random);
  tally.part("load");
  test_blocks(tally, random);
  tally.part("blocks");
  test_forest(tally, random);
  tally.part("forest");
  test_ranker(tally, random);
  test_least_rotation(tally, random);
  tally.part("ranks and rotations");
  return tally.finish();
}
