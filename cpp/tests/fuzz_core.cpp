// Fuzzing: arbitrary arrays into check_batch, Engine::run and Engine::symmetries.
//
// An iteration makes a batch of good, mutated and nonsensical graphs, damages offsets, ids or lengths, and draws options. One in a hundred has
// thousands of tiny graphs, which keep several threads at work. What must hold:
// bad offsets are refused; nothing but InvalidGraph, NotPlanar and Cancelled is thrown, for a reason and with the right index; a witness is a
// Kuratowski subdivision; tables keep their promises, codes decode to the graph, generators are automorphisms with the orbits that are given,
// and a random relabelling changes none of this.
// Arrays are exactly as long as their contents, so that AddressSanitizer sees every step beyond. Iteration k depends on (seed, k) alone, but for
// the memory that the engine keeps.
#include "planegraph/planarity/embedding.hpp"
#include "tests/brute.hpp"
#include "tests/families.hpp"
#include "tests/fuzz.hpp"
#include "tests/symmetries.hpp"
#include "tests/tables.hpp"

namespace planegraph::test {
namespace {

i64 any_id(i64 n, Random& random) {
  static const std::vector<i64> odd{-1,           -2,           INT64_MIN,       INT64_MAX, INT64_MIN + 1,
                                    i64{1} << 31, i64{1} << 32, -(i64{1} << 32), INT32_MAX, INT32_MIN,
                                    i64{1} << 28, i64{1} << 62};
  switch (random.below(4)) {
    case 0: return random.pick(odd);
    case 1: return n + random.below(2);
    case 2: return static_cast<i64>(random.bits());
    default: return n > 0 ? random.below(n) : 0;
  }
}

/// Any 64 bits, with a liking for the patterns of NaN, infinities, zeros and extremes.
i64 any_label(Random& random) {
  static const std::vector<u64> odd{0,
                                    0x8000000000000000ull,
                                    0x7FF0000000000000ull,
                                    0xFFF0000000000000ull,
                                    0x7FF8000000000000ull,
                                    0xFFF8000000000001ull,
                                    0x7FFFFFFFFFFFFFFFull,
                                    0xFFFFFFFFFFFFFFFFull,
                                    0x3FF0000000000000ull,
                                    1,
                                    0x000FFFFFFFFFFFFFull,
                                    0x800FFFFFFFFFFFFFull,
                                    0x40000000ull,
                                    0x3FFFFFFFull};
  switch (random.below(3)) {
    case 0: return static_cast<i64>(random.pick(odd));
    case 1: return static_cast<i64>(random.bits());
    default: return random.between(-2, 2);
  }
}

Input any_graph(Random& random) {
  switch (random.below(14)) {
    case 0: return Input{};
    case 1: return random_graph(random.between(1, 12), static_cast<int>(random.between(5, 90)), random);
    case 2: return random_planar(random.between(1, 60), static_cast<int>(random.between(30, 100)), random);
    case 3: return random_cactus(random.between(1, 60), random);
    case 4: return random_tree(random.between(1, 60), random);
    case 5: return random_biconnected(random.between(1, 8), random);
    case 6: return random_composite(random.between(1, 10), random);
    case 7: return random_two_centred(random);
    case 8: return random_nonplanar_composite(random.between(1, 6), random);
    case 9: return nested_k4(random.between(1, 30));
    case 10: return copies(random_composite(random.between(1, 2), random), random.between(2, 4));
    case 11: {
      static const std::vector<Named> named = families();
      return random.pick(named).second;
    }
    case 12:
      return random.percent(5) ? random_planar(random.between(200, 2500), static_cast<int>(random.between(50, 100)), random)
                               : prism(random.between(3, 60));
    default: {  // pairs of ids with no plan
      Input g;
      g.n = random.below(9);
      for (i64 k = random.below(12); k > 0; --k) g.add(any_id(g.n, random), any_id(g.n, random));
      return g;
    }
  }
}

/// A few edges more, fewer or elsewhere. Self-loops and parallel edges are welcome.
void mutate(Input& g, Random& random) {
  for (i64 k = random.between(1, 4); k > 0 && g.n > 0; --k) {
    const i64 e = g.m() > 0 ? random.below(g.m()) : 0;
    const i64 way = g.m() > 0 ? random.below(5) : 0;
    const auto at = g.edges.begin() + 2 * e;
    if (way == 0) g.add(random.below(g.n), random.below(g.n));
    if (way == 1) g.edges.erase(at, at + 2);
    if (way == 2) g.edges[2 * e + random.below(2)] = random.below(g.n);
    if (way == 3) std::swap(g.edges[2 * e], g.edges[2 * e + 1]);
    if (way == 4 && random.percent(20)) g.edges[2 * e + random.below(2)] = any_id(g.n, random);
  }
}

Batch any_batch(Random& random) {
  Input shape;
  shape.node_width = static_cast<i32>(random.below(4)), shape.edge_width = static_cast<i32>(random.below(4));
  shape.rows_per_edge = static_cast<i32>(random.between(1, 2));
  shape.node_float = random.percent(50), shape.edge_float = random.percent(50);
  const bool few = random.percent(60);  // labels that repeat keep symmetries alive
  Batch batch;
  const bool many = random.percent(1);
  for (i64 k = many ? random.between(4000, 20000) : random.percent(3) ? random.below(400) : random.below(6); k > 0; --k) {
    Input g = many ? path(random.below(3)) : any_graph(random);
    if (random.percent(many ? 0 : 30)) mutate(g, random);
    g.node_width = shape.node_width, g.edge_width = shape.edge_width, g.rows_per_edge = shape.rows_per_edge;
    g.node_float = shape.node_float, g.edge_float = shape.edge_float;
    g.node_rows.resize(static_cast<std::size_t>(g.n * g.node_width));
    g.edge_rows.resize(static_cast<std::size_t>(g.m() * g.rows_per_edge * g.edge_width));
    for (auto* rows : {&g.node_rows, &g.edge_rows})
      for (i64& x : *rows) x = few ? random.percent(90) ? 0 : random.between(-1, 1) : any_label(random);
    if (is_simple(g) && random.percent(70) && std::all_of(g.edges.begin(), g.edges.end(), [&](i64 v) { return v >= 0 && v < g.n; }))
      g = relabelled(g, random);
    batch.add(g);
  }
  return batch;
}

void damage_offsets(std::vector<i64>& ptr, Random& random) {
  const std::size_t k = static_cast<std::size_t>(random.below(static_cast<i64>(ptr.size())));
  switch (random.below(5)) {
    case 0: ptr[k] = any_id(ptr.back(), random); break;
    case 1: ptr[k] += random.between(-2, 2); break;
    case 2: ptr.back() += random.between(1, 3); break;
    case 3: std::swap(ptr[k], ptr[static_cast<std::size_t>(random.below(static_cast<i64>(ptr.size())))]); break;
    default: ptr[0] = random.between(-1, 1);
  }
}

bool good_offsets(const std::vector<i64>& ptr, i64 total) {
  return ptr[0] == 0 && ptr.back() == total && std::is_sorted(ptr.begin(), ptr.end());
}

/// Graph k of a batch with good offsets.
Input graph_of(const Batch& batch, i64 k) {
  const Input& all = batch.all;
  Input g;
  g.node_width = all.node_width, g.edge_width = all.edge_width, g.rows_per_edge = all.rows_per_edge;
  g.node_float = all.node_float, g.edge_float = all.edge_float;
  const i64 v0 = batch.node_ptr[k], v1 = batch.node_ptr[k + 1], e0 = batch.edge_ptr[k], e1 = batch.edge_ptr[k + 1];
  g.n = v1 - v0;
  g.edges.assign(batch.all.edges.begin() + 2 * e0, batch.all.edges.begin() + 2 * e1);
  g.node_rows.assign(batch.all.node_rows.begin() + v0 * g.node_width, batch.all.node_rows.begin() + v1 * g.node_width);
  const i64 per = g.rows_per_edge * g.edge_width;
  g.edge_rows.assign(batch.all.edge_rows.begin() + e0 * per, batch.all.edge_rows.begin() + e1 * per);
  return g;
}

bool is_valid(const Input& g) {
  return std::all_of(g.edges.begin(), g.edges.end(), [&](i64 v) { return v >= 0 && v < g.n; }) && is_simple(g);
}

bool is_planar(const Input& g) {
  std::vector<i32> eu, ev;
  for (i64 e = 0; e < g.m(); ++e) {
    eu.push_back(static_cast<i32>(g.edges[2 * e]));
    ev.push_back(static_cast<i32>(g.edges[2 * e + 1]));
  }
  return Embedder().run(static_cast<i32>(g.n), static_cast<i32>(g.m()), eu.data(), ev.data(), nullptr);
}

class Fuzzer {
 public:
  explicit Fuzzer(Tally& tally) : tally_(tally) {}

  void iterate(Random random) {
    Batch batch = any_batch(random);
    if (batch.size() > 0 && random.percent(12)) damage_offsets(random.percent(50) ? batch.node_ptr : batch.edge_ptr, random);
    if (random.percent(4)) {  // arrays that end too soon
      Input& all = batch.all;
      if (random.percent(50) && all.m() > 0) {
        all.edges.resize(all.edges.size() - 2);
        all.edge_rows.resize(static_cast<std::size_t>(all.m() * all.rows_per_edge * all.edge_width));
      } else if (all.n > 0) {
        all.n -= 1;
        all.node_rows.resize(static_cast<std::size_t>(all.n * all.node_width));
      }
    }
    fit(batch);
    const bool good = good_offsets(batch.node_ptr, batch.all.n) && good_offsets(batch.edge_ptr, batch.all.m());
    try {
      check_batch(batch.view(), batch.all.n, batch.all.m());
      if (!tally_.check(good, "bad offsets were accepted", batch.all)) return;
    } catch (const InvalidGraph&) {
      tally_.check(!good, "good offsets were refused", batch.all);
      ++refused_;
      return;
    }
    const Options options{random.percent(50), random.percent(75), random.percent(60), static_cast<int>(random.between(1, 3))};
    run_batch(batch, options, random);
  }

  void print() const {
    std::printf("fuzz_core: %lld graphs decomposed, %lld bad offsets, %lld invalid, %lld not planar, %lld cancelled\n",
                static_cast<long long>(accepted_), static_cast<long long>(refused_), static_cast<long long>(invalid_),
                static_cast<long long>(not_planar_), static_cast<long long>(cancelled_));
  }

 private:
  /// No spare capacity behind the arrays.
  static void fit(Batch& batch) {
    for (auto* array : {&batch.node_ptr, &batch.edge_ptr, &batch.all.edges, &batch.all.node_rows, &batch.all.edge_rows})
      std::vector<i64>(*array).swap(*array);
  }

  void run_batch(const Batch& batch, const Options& options, Random& random) {
    const bool refuse = options.codes || !options.nonplanar_as_set;
    const i64 polls = random.percent(4) ? random.below(3) : INT64_MAX;
    i64 asked = 0;
    const auto poll = [&] { return asked++ < polls; };
    Engine fresh;
    Engine& engine = random.percent(90) ? engine_ : fresh;
    try {
      const Packed packed = engine.run(batch.view(), options, poll);
      tally_.check(asked <= polls, "a cancelled run returned", batch.all);
      for (i64 k = 0; k < batch.size(); ++k) check_result(batch, packed, k, options, refuse, random);
    } catch (const InvalidGraph& error) {
      ++invalid_;
      check_error(batch, error.graph, refuse, false, {});
    } catch (const NotPlanar& error) {
      ++not_planar_;
      check_error(batch, error.graph, refuse, true, error.witness);
    } catch (const Cancelled&) {
      ++cancelled_;
      tally_.check(asked > polls, "cancelled without a reason", batch.all);
    } catch (const std::exception& error) {
      tally_.check(false, std::string("an unexpected exception: ") + error.what(), batch.all);
    }
  }

  /// The graph named by an error is bad in the way it says, and all graphs before it are good.
  void check_error(const Batch& batch, i64 index, bool refuse, bool not_planar, const std::vector<i32>& witness) {
    if (!tally_.check(index >= 0 && index < batch.size(), "an error names no graph", batch.all)) return;
    for (i64 k = 0; k < index; ++k) {
      const Input g = graph_of(batch, k);
      tally_.check(is_valid(g) && (!refuse || is_planar(g)), "a bad graph before the reported one", g);
    }
    const Input g = graph_of(batch, index);
    if (!not_planar) {
      tally_.check(!is_valid(g), "InvalidGraph for a simple graph", g);
      return;
    }
    tally_.check(refuse, "NotPlanar although sets are allowed", g);
    if (tally_.check(is_valid(g), "NotPlanar for an invalid graph", g)) tally_.accept(kuratowski_problem(g, witness), g);
  }

  void check_result(const Batch& batch, const Packed& packed, i64 k, const Options& options, bool refuse, Random& random) {
    ++accepted_;
    tally_.count_graphs();
    const Input g = graph_of(batch, k);
    if (!tally_.check(is_valid(g), "an invalid graph was accepted", g)) return;
    const bool planar = is_planar(g);
    tally_.check(planar || !refuse, "a graph that is not planar was accepted", g);
    if (options.walks) tally_.accept(table_problem(g, packed, k, batch.node_ptr[k]), g);
    if (options.codes) tally_.accept(code_problem(g, packed, k, batch.node_ptr[k]), g);
    if (batch.size() > 10 && random.percent(batch.size() > 1000 ? 99 : 90)) return;
    const Input h = relabelled(g, random);
    if (!planar) {
      const Options as_set{true, true, false, 1};
      tally_.check(nameless(g, run(engine_, g, as_set)) == nameless(h, run(engine_, h, as_set)),
                   "as set: a relabelling changes the tables", g);
      check_refusal(g);
      return;
    }
    const Options all{false, true, true, 1};
    const Packed first = run(engine_, g, all), second = run(engine_, h, all);
    tally_.check(first.code == second.code, "a relabelling changes the code", g);
    tally_.check(translated(g, first) == translated(h, second), "a relabelling changes the tables", g);
    if (options.codes)
      tally_.check(std::equal(first.code.begin(), first.code.end(), packed.code.begin() + packed.code_ptr[k],
                              packed.code.begin() + packed.code_ptr[k + 1]),
                   "the code depends on the batch", g);
    const Symmetries found = symmetries(engine_, g);
    tally_.accept(symmetry_problem(g, found), g);
    tally_.check(nameless(g, found) == nameless(h, symmetries(engine_, h)), "a relabelling changes the symmetries", g);
  }

  void check_refusal(const Input& g) {
    try {
      symmetries(engine_, g);
      tally_.check(false, "symmetries of a graph that is not planar", g);
    } catch (const NotPlanar& error) {
      tally_.accept(kuratowski_problem(g, error.witness), g);
    }
  }

  Tally& tally_;
  Engine engine_;
  i64 accepted_ = 0, refused_ = 0, invalid_ = 0, not_planar_ = 0, cancelled_ = 0;
};

}  // namespace
}  // namespace planegraph::test

int main(int argc, char** argv) {
  using namespace planegraph::test;
  Tally tally("fuzz_core");
  Fuzzer fuzzer(tally);
  return fuzz(tally, argc, argv, [&](Random random) { fuzzer.iterate(random); }, [&] { fuzzer.print(); });
}
