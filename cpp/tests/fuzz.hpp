// What the fuzzers share: their command line and their loop.
//
//   fuzz_NAME SECONDS [SEED [ITERATION]]     with ITERATION: only that one
//
// Iteration k depends on (seed, k) alone, but for the memory that is kept between iterations; whatever ends the process says both.
#pragma once

#include <csignal>
#include <cstdlib>

#include "tests/support.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace planegraph::test {

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
