// What every test of the core shares: a counter of checks, reproducible randomness, graphs and batches that own their arrays, relabelling.
//
// No framework: a test is a main() that calls Tally::check and ends with Tally::finish, which prints 'N passed, N failed'. A check that
// fails prints the graph at hand, as graph6 where that is possible, so that it can become a named regression test.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planegraph/tables/batch.hpp"

namespace planegraph::test {

/// splitmix64: equal on all machines, unlike the distributions of <random>.
class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}
  u64 bits() {
    u64 z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  /// In [0, bound); bound is at least 1.
  i64 below(i64 bound) { return static_cast<i64>(bits() % static_cast<u64>(bound)); }
  /// In [low, high].
  i64 between(i64 low, i64 high) { return low + below(high - low + 1); }
  bool percent(int p) { return below(100) < p; }
  template <class T>
  const T& pick(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(below(static_cast<i64>(items.size())))];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[static_cast<std::size_t>(below(static_cast<i64>(i)))]);
  }
  std::vector<i64> permutation(i64 n) {
    std::vector<i64> p(static_cast<std::size_t>(n));
    std::iota(p.begin(), p.end(), i64{0});
    shuffle(p);
    return p;
  }

 private:
  u64 state_;
};

/// One graph that owns what a GraphView points to.
struct Input {
  i64 n = 0;
  std::vector<i64> edges;  // pairs
  std::vector<i64> node_rows, edge_rows;
  i32 node_width = 0, edge_width = 0, rows_per_edge = 1;
  bool node_float = false, edge_float = false;

  i64 m() const { return static_cast<i64>(edges.size() / 2); }
  void add(i64 u, i64 v) {
    edges.push_back(u);
    edges.push_back(v);
  }
  GraphView view() const {
    return {n,
            m(),
            edges.data(),
            {node_rows.data(), node_width, node_float},
            {edge_rows.data(), edge_width, edge_float},
            rows_per_edge};
  }
  /// The label row of dart d = 2e + k.
  const i64* dart_row(i64 d) const { return edge_rows.data() + (rows_per_edge == 2 ? d : d / 2) * edge_width; }
};

inline std::string graph6(const Input& g) {
  std::string text(1, static_cast<char>(63 + g.n));
  std::vector<u8> bit(static_cast<std::size_t>(g.n * (g.n - 1) / 2 + 6), 0);
  for (i64 e = 0; e < g.m(); ++e) {
    const i64 u = std::min(g.edges[2 * e], g.edges[2 * e + 1]), v = std::max(g.edges[2 * e], g.edges[2 * e + 1]);
    bit[v * (v - 1) / 2 + u] = 1;
  }
  for (i64 at = 0; at < g.n * (g.n - 1) / 2; at += 6) {
    int x = 0;
    for (int k = 0; k < 6; ++k) x = 2 * x + bit[at + k];
    text.push_back(static_cast<char>(63 + x));
  }
  return text;
}

/// For a person to read: graph6 if the graph is small and simple, the edges in input order and the labels.
inline std::string describe(const Input& g) {
  constexpr std::size_t kMost = 400;
  bool simple = g.n <= 62;
  for (i64 e = 0; e < g.m(); ++e)
    for (const i64 v : {g.edges[2 * e], g.edges[2 * e + 1]}) simple &= v >= 0 && v < g.n && g.edges[2 * e] != g.edges[2 * e + 1];
  std::string text = "n=" + std::to_string(g.n) + " m=" + std::to_string(g.m());
  if (simple) text += " graph6 " + graph6(g);
  const auto list = [&](const char* name, const std::vector<i64>& values) {
    if (values.empty()) return;
    text += std::string("\n  ") + name + " [";
    for (std::size_t k = 0; k < std::min(values.size(), kMost); ++k) text += (k ? "," : "") + std::to_string(values[k]);
    text += values.size() > kMost ? ",...]" : "]";
  };
  list("edges", g.edges);
  if (g.node_width) list(("node labels, width " + std::to_string(g.node_width)).c_str(), g.node_rows);
  if (g.edge_width)
    list(("edge labels, width " + std::to_string(g.edge_width) + ", rows per edge " + std::to_string(g.rows_per_edge)).c_str(),
         g.edge_rows);
  return text;
}

/// Counts checks; says what failed, where, and on which graph.
class Tally {
 public:
  explicit Tally(std::string_view name) : name_(name), start_(std::chrono::steady_clock::now()) {}
  bool check(bool ok, std::string_view what, const Input* graph = nullptr,
             const std::source_location where = std::source_location::current()) {
    if (ok) {
      ++passed_;
      return true;
    }
    if (++failed_ <= kShown) {
      std::printf("FAILED %s:%u %.*s\n", where.file_name(), static_cast<unsigned>(where.line()), static_cast<int>(what.size()),
                  what.data());
      if (graph) std::printf("  %s\n", describe(*graph).c_str());
      std::fflush(stdout);
    }
    return false;
  }
  bool check(bool ok, std::string_view what, const Input& graph,
             const std::source_location where = std::source_location::current()) {
    return check(ok, what, &graph, where);
  }
  /// For oracles that return what is wrong, or null.
  bool accept(const char* problem, const Input& graph, const std::source_location where = std::source_location::current()) {
    return check(problem == nullptr, problem ? problem : "", &graph, where);
  }
  void count_graphs(i64 k = 1) { graphs_ += k; }
  /// A line on how long the part since the last one took.
  void part(const char* what) {
    const auto now = std::chrono::steady_clock::now();
    std::printf("%.*s: %s, %lld graphs, %.2f s\n", static_cast<int>(name_.size()), name_.data(), what,
                static_cast<long long>(graphs_ - graphs_before_), std::chrono::duration<double>(now - start_).count());
    std::fflush(stdout);
    start_ = now;
    graphs_before_ = graphs_;
  }
  i64 failed() const { return failed_; }
  int finish() const {
    std::printf("%.*s: %lld graphs\n%lld passed, %lld failed\n", static_cast<int>(name_.size()), name_.data(),
                static_cast<long long>(graphs_), static_cast<long long>(passed_), static_cast<long long>(failed_));
    return failed_ > 0 ? 1 : 0;
  }

 private:
  static constexpr i64 kShown = 10;
  std::string_view name_;
  std::chrono::steady_clock::time_point start_;
  i64 passed_ = 0, failed_ = 0, graphs_ = 0, graphs_before_ = 0;
};

/// The same graph with other node ids, edges in another order and some of them turned round.
inline Input relabelled(const Input& g, Random& random) {
  Input h = g;
  const std::vector<i64> node = random.permutation(g.n), edge = random.permutation(g.m());
  for (i64 v = 0; v < g.n; ++v)
    std::copy_n(g.node_rows.begin() + v * g.node_width, g.node_width, h.node_rows.begin() + node[v] * g.node_width);
  for (i64 e = 0; e < g.m(); ++e) {
    const i64 turn = random.below(2);
    for (i64 k = 0; k < 2; ++k) {
      h.edges[2 * edge[e] + (k ^ turn)] = node[g.edges[2 * e + k]];
      if (g.rows_per_edge == 1 && k == 1) continue;
      const i64 to = g.rows_per_edge == 2 ? 2 * edge[e] + (k ^ turn) : edge[e];
      std::copy_n(g.dart_row(2 * e + k), g.edge_width, h.edge_rows.begin() + to * g.edge_width);
    }
  }
  return h;
}

/// Random label rows: `values` distinct ones, in [-values / 2, values / 2) times `step`.
inline void label_nodes(Input& g, i32 width, i64 values, Random& random, i64 step = 1) {
  g.node_width = width;
  g.node_rows.resize(static_cast<std::size_t>(g.n * width));
  for (i64& x : g.node_rows) x = (random.below(values) - values / 2) * step;
}
inline void label_edges(Input& g, i32 width, i32 rows_per_edge, i64 values, Random& random, i64 step = 1) {
  g.edge_width = width;
  g.rows_per_edge = rows_per_edge;
  g.edge_rows.resize(static_cast<std::size_t>(g.m() * rows_per_edge * width));
  for (i64& x : g.edge_rows) x = (random.below(values) - values / 2) * step;
}

/// Many graphs that own what a BatchView points to. All have the label shapes of the first.
struct Batch {
  std::vector<i64> node_ptr{0}, edge_ptr{0};
  Input all;

  Batch() = default;
  explicit Batch(const std::vector<Input>& graphs) {
    for (const Input& g : graphs) add(g);
  }
  void add(const Input& g) {
    if (size() == 0) {
      all.node_width = g.node_width, all.edge_width = g.edge_width, all.rows_per_edge = g.rows_per_edge;
      all.node_float = g.node_float, all.edge_float = g.edge_float;
    }
    all.n += g.n;
    for (const auto& [to, from] : {std::pair{&all.edges, &g.edges}, {&all.node_rows, &g.node_rows}, {&all.edge_rows, &g.edge_rows}})
      to->insert(to->end(), from->begin(), from->end());
    node_ptr.push_back(all.n);
    edge_ptr.push_back(all.m());
  }
  i64 size() const { return static_cast<i64>(node_ptr.size()) - 1; }
  BatchView view() const {
    const GraphView v = all.view();
    return {size(), node_ptr.data(), edge_ptr.data(), v.edges, v.node_labels, v.edge_labels, v.rows_per_edge};
  }
};

inline bool always() { return true; }

inline Packed run(Engine& engine, const Input& g, const Options& options) {
  const std::vector<Input> one{g};
  const Batch batch(one);
  return engine.run(batch.view(), options, always);
}

}  // namespace planegraph::test
