// The batch driver: results that do not depend on threads, an engine shared by several callers, errors, cancellation. Run it under
// ThreadSanitizer too (make tsan).
#include <atomic>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "tests/brute.hpp"
#include "tests/families.hpp"
#include "tests/tables.hpp"

namespace planegraph::test {
namespace {

constexpr int kThreads[] = {1, 2, 4};

/// Small graphs of many kinds, with labels, some of them empty; `nodes` in total, so that there are several chunks.
std::vector<Input> mixture(i64 nodes, Random& random, bool labels) {
  std::vector<Input> graphs;
  for (i64 total = 0; total < nodes; total += graphs.back().n) {
    Input g;
    switch (random.below(7)) {
      case 0: g = Input{}; break;
      case 1: g = path(random.between(1, 9)); break;
      case 2: g = random_cactus(random.between(2, 30), random); break;
      case 3: g = random_planar(random.between(3, 40), 70, random); break;
      case 4: g = random_two_centred(random); break;
      case 5: g = prism(random.between(3, 20)); break;
      default: g = random_composite(random.between(1, 5), random);
    }
    if (labels) {
      label_nodes(g, 1, 3, random);
      label_edges(g, 2, 2, 2, random);
    }
    graphs.push_back(relabelled(g, random));
  }
  return graphs;
}

void test_threads(Tally& tally, Random& random) {
  for (const bool labels : {false, true}) {
    const std::vector<Input> graphs = mixture(20000, random, labels);
    const Batch batch(graphs);
    check_batch(batch.view(), batch.all.n, batch.all.m());
    tally.count_graphs(batch.size());
    for (const auto& [walks, codes] : {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
      Engine engine;
      const Packed expected = engine.run(batch.view(), {false, walks, codes, 1}, always);
      for (const int threads : {0, -1, 2, 3, 4, 1000})
        tally.check(engine.run(batch.view(), {false, walks, codes, threads}, always) == expected, "the result depends on threads");
      if (!walks || !codes) continue;
      for (std::size_t k = 0; k < graphs.size(); ++k) {
        tally.accept(table_problem(graphs[k], expected, static_cast<i64>(k), batch.node_ptr[k]), graphs[k]);
        tally.accept(code_problem(graphs[k], expected, static_cast<i64>(k), batch.node_ptr[k]), graphs[k]);
      }
    }
  }
  // a large graph between small ones, and one that is larger than what an engine keeps
  const std::vector<Input> graphs{path(3),    random_planar(20000, 70, random), Input{}, path(140000), cycle(5), star(9000),
                                  complete(4)};
  const Batch batch(graphs);
  Engine engine;
  const Packed expected = engine.run(batch.view(), {false, true, true, 1}, always);
  for (const int threads : {2, 4})
    tally.check(engine.run(batch.view(), {false, true, true, threads}, always) == expected, "large graphs: threads");
}

/// Several callers use one engine at once, each with its own batch; some of them run into errors or cancel.
void test_shared_engine(Tally& tally, Random& random) {
  constexpr int kCallers = 4, kRounds = 4;
  std::vector<Batch> batches;
  std::vector<Packed> expected;
  for (int k = 0; k < kCallers; ++k) {
    batches.emplace_back(mixture(9000, random, k % 2 == 1));
    expected.push_back(Engine().run(batches.back().view(), {false, true, true, 1}, always));
  }
  Batch bad(mixture(9000, random, false));
  bad.add(complete(5));
  Engine engine;
  std::atomic<int> right{0}, refused{0}, cancelled{0};
  std::vector<std::thread> callers;
  for (int k = 0; k < kCallers; ++k) {
    callers.emplace_back([&, k] {
      for (int round = 0; round < kRounds; ++round) {
        right += engine.run(batches[k].view(), {false, true, true, kThreads[(k + round) % 3]}, always) == expected[k];
        try {
          engine.run(bad.view(), {false, true, false, 2}, always);
        } catch (const NotPlanar& error) {
          refused += error.graph == bad.size() - 1 && error.witness.size() == 10;
        }
        try {
          engine.run(batches[k].view(), {false, true, false, 2}, [] { return false; });
        } catch (const Cancelled&) {
          ++cancelled;
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  tally.check(right == kCallers * kRounds, "shared engine: a wrong result");
  tally.check(refused == kCallers * kRounds, "shared engine: an error was lost");
  tally.check(cancelled == kCallers * kRounds, "shared engine: a run was not cancelled");
}

// ThreadSanitizer lets no child of several threads go on, and AddressSanitizer's allocator has locks that a fork can catch.
#if (defined(__unix__) || defined(__APPLE__)) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define PLANEGRAPH_TEST_FORK
/// A fork while other threads are in the engine: the child can use it, with the same results.
void test_fork(Tally& tally, Random& random) {
  constexpr int kForks = 300;
  const Batch tiny(std::vector<Input>{path(3)});
  const Batch small(mixture(300, random, false));
  const Packed expected = Engine().run(small.view(), {false, true, true, 1}, always);
  Engine engine;
  std::atomic<bool> stop{false};
  std::vector<std::thread> callers;
  for (int k = 0; k < 3; ++k)
    callers.emplace_back([&] {
      while (!stop) engine.run(tiny.view(), {false, false, false, 1}, always);
    });
  int right = 0, stuck = 0;
  for (int k = 0; k < kForks && stuck == 0; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);  // ends a child that waits for a lock
      _exit(engine.run(small.view(), {false, true, true, 1}, always) == expected ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    right += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    stuck += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  tally.check(stuck == 0, "fork: a child was stuck in the engine");
  tally.check(right == kForks, "fork: a wrong result in a child");
}
#endif

/// With several bad graphs, the one with the smallest index is reported, whatever the threads.
void test_errors(Tally& tally, Random& random) {
  Engine engine;
  for (int round = 0; round < 20; ++round) {
    std::vector<Input> graphs = mixture(20000, random, false);
    i64 first = static_cast<i64>(graphs.size());
    for (i64 count = random.between(1, 6); count > 0; --count) {
      const i64 k = random.below(static_cast<i64>(graphs.size()));
      Input& g = graphs[static_cast<std::size_t>(k)];
      g = random.percent(50) ? relabelled(random_nonplanar_composite(2, random), random) : path(4);
      if (g.n == 4) g.add(random.below(2), random.percent(50) ? 1 : 4);  // a self-loop, a parallel edge or an id out of range
      first = std::min(first, k);
    }
    const Input& guilty = graphs[static_cast<std::size_t>(first)];
    const bool invalid = guilty.n == 4;
    const Batch batch(graphs);
    for (const int threads : kThreads) {
      tally.count_graphs();
      try {
        engine.run(batch.view(), {false, true, round % 2 == 0, threads}, always);
        tally.check(false, "a bad graph was not refused");
      } catch (const InvalidGraph& error) {
        tally.check(invalid && error.graph == first, "errors: not the smallest index", guilty);
      } catch (const NotPlanar& error) {
        tally.check(!invalid && error.graph == first, "errors: not the smallest index", guilty);
        tally.accept(kuratowski_problem(guilty, error.witness), guilty);
      }
    }
  }
}

void test_cancel(Tally& tally, Random& random) {
  const Batch batch(mixture(25000, random, false));
  Engine engine;
  const Packed expected = engine.run(batch.view(), {false, true, true, 1}, always);
  for (const int threads : kThreads) {
    for (int allowed = 0; allowed < 8; ++allowed) {
      int calls = 0;
      bool thrown = false, elsewhere = false;
      const std::thread::id caller = std::this_thread::get_id();
      try {
        engine.run(batch.view(), {false, true, true, threads}, [&] {
          elsewhere |= std::this_thread::get_id() != caller;
          return calls++ < allowed;
        });
      } catch (const Cancelled&) {
        thrown = true;
      }
      tally.check(thrown == (calls > allowed), "cancellation: Cancelled is thrown exactly if poll said so");
      tally.check(!elsewhere, "cancellation: poll ran on another thread");
      if (threads == 1) tally.check(calls <= allowed + 1, "cancellation: poll was asked again after it had said no");
    }
    // a poll that throws: the exception comes through, and no thread is left behind
    bool came_through = false;
    try {
      engine.run(batch.view(), {false, true, true, threads}, []() -> bool { throw std::domain_error("from poll"); });
    } catch (const std::domain_error&) {
      came_through = true;
    }
    tally.check(came_through, "an exception from poll");
    tally.check(engine.run(batch.view(), {false, true, true, threads}, always) == expected, "a run after a cancelled one");
  }
}

void test_empty(Tally& tally) {
  Engine engine;
  for (const int threads : kThreads) {
    const Packed none = engine.run(Batch().view(), {false, true, true, threads}, always);
    bool ok = none.code_ptr.size() == 1 && none.labelling.empty();
    for (const auto& table : Packed::tables()) {
      ok &= (none.*table.ptr).size() == 1 && (none.*table.ptr)[0] == 0;
      for (const auto column : table.columns) ok &= (none.*column).empty();
    }
    tally.check(ok, "empty batch: offsets must be [0]");
    for (const std::size_t count : {1, 3, 5000, 20000}) {
      const Batch batch(std::vector<Input>(count, Input{}));
      check_batch(batch.view(), 0, 0);
      const Packed empty = engine.run(batch.view(), {false, true, true, threads}, always);
      ok = empty.code_ptr.size() == count + 1 && empty.labelling.empty() && empty.node_component.empty();
      for (const auto& table : Packed::tables()) ok &= (empty.*table.ptr) == Array<i64>(count + 1, 0);
      for (std::size_t k = 0; ok && k < count; ++k) ok &= code_problem(Input{}, empty, static_cast<i64>(k)) == nullptr;
      tally.check(ok, "empty graphs");
    }
    // isolated nodes only: no walk, no block, yet labels and codes
    const Batch lonely(std::vector<Input>(3000, copies(path(1), 3)));
    const Packed packed = engine.run(lonely.view(), {false, true, true, threads}, always);
    tally.check(packed.labelling.size() == 9000 && packed.walk_node.empty() && packed.walk_ptr.size() == 3001, "isolated nodes");
  }
}

void test_offsets(Tally& tally) {
  const auto refused = [](Batch batch, i64 nodes, i64 edges) {
    try {
      check_batch(batch.view(), nodes, edges);
    } catch (const InvalidGraph&) {
      return true;
    }
    return false;
  };
  const Batch good(std::vector<Input>{path(3), Input{}, cycle(4)});
  tally.check(!refused(good, 7, 6), "good offsets are refused");
  const std::vector<i64> values{-1, 1, 8, INT64_MIN, INT64_MAX, i64{1} << 32};
  for (const i64 x : values) {
    for (std::size_t k = 0; k < good.node_ptr.size(); ++k) {
      Batch nodes = good, edges = good;
      nodes.node_ptr[k] = x;
      edges.edge_ptr[k] = x;
      const bool fits = x == 1 && (k == 1 || k == 2);
      tally.check(refused(nodes, 7, 6) != (fits && k == 1), "node_ptr");
      tally.check(refused(edges, 7, 6) != (fits && k == 1), "edge_ptr");
    }
    tally.check(refused(good, x, 6) && refused(good, 7, x), "totals");
  }
}

}  // namespace
}  // namespace planegraph::test

int main() {
  using namespace planegraph::test;
  Tally tally("batch");
  Random random(5);
  test_threads(tally, random);
  tally.part("threads");
  test_shared_engine(tally, random);
  tally.part("shared engine");
#ifdef PLANEGRAPH_TEST_FORK
  test_fork(tally, random);
  tally.part("fork");
#endif
  test_errors(tally, random);
  tally.part("errors");
  test_cancel(tally, random);
  tally.part("cancellation");
  test_empty(tally);
  test_offsets(tally);
  tally.part("empty batches and offsets");
  return tally.finish();
}
