// What the fuzzers share: graphs of all kinds, their command line and their loop.
//
//   fuzz_NAME SECONDS [SEED [ITERATION]]     with ITERATION: only that one
//
// Iteration k depends on (seed, k) alone, but for the memory that is kept between iterations; whatever ends the process says both.
#pragma once

#include <csignal>
#include <cstdlib>

#include "planegraph/planarity/embedding.hpp"
#include "tests/brute.hpp"
#include "tests/families.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace planegraph::test {

// ---- graphs, good and bad

inline i64 any_id(i64 n, Random& random) {
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

inline Input any_graph(Random& random) {
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
inline void mutate(Input& g, Random& random) {
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

inline bool is_valid(const Input& g) {
  return std::all_of(g.edges.begin(), g.edges.end(), [&](i64 v) { return v >= 0 && v < g.n; }) && is_simple(g);
}

inline bool is_planar(const Input& g) {
  std::vector<i32> eu, ev;
  for (i64 e = 0; e < g.m(); ++e) {
    eu.push_back(static_cast<i32>(g.edges[2 * e]));
    ev.push_back(static_cast<i32>(g.edges[2 * e + 1]));
  }
  return Embedder().run(static_cast<i32>(g.n), static_cast<i32>(g.m()), eu.data(), ev.data(), nullptr);
}

// ---- the loop

inline u64 current_seed = 0, current_iteration = 0;

inline void say_where() {
  std::fprintf(stderr, "while running seed %llu iteration %llu\n", static_cast<unsigned long long>(current_seed),
               static_cast<unsigned long long>(current_iteration));
}

/// Calls iterate(Random) until the time is over, or ten checks have failed; gives the exit code.
template <class Iterate, class Print>
int fuzz(Tally& tally, int argc, char** argv, Iterate&& iterate, Print&& print) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
  const auto start = std::chrono::steady_clock::now();
  current_seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10)
                          : static_cast<u64>(std::chrono::system_clock::now().time_since_epoch().count());
  const bool only_one = argc > 3;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  __sanitizer_set_death_callback(say_where);
#endif
  std::signal(SIGABRT, [](int) { say_where(); });
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::printf("seed %llu\n", static_cast<unsigned long long>(current_seed));
  std::fflush(stdout);
  current_iteration = only_one ? std::strtoull(argv[3], nullptr, 10) : 0;
  for (; elapsed() < seconds; ++current_iteration) {
    const i64 failed = tally.failed();
    iterate(Random(Random(current_seed ^ 0x5851F42D4C957F2Dull * (current_iteration + 1)).bits()));
    if (tally.failed() > failed) say_where();
    if (only_one || tally.failed() >= 10) {
      ++current_iteration;
      break;
    }
  }
  print();
  std::printf("%llu iterations, %.1f seconds, seed %llu\n", static_cast<unsigned long long>(current_iteration), elapsed(),
              static_cast<unsigned long long>(current_seed));
  return tally.finish();
}

}  // namespace planegraph::test
