// A fixed random sequence: equal input gives equal answers.
#pragma once

#include "planegraph/graph/types.hpp"

namespace planegraph {

/// xorshift64 (G. Marsaglia, 2003).
class Random {
 public:
  explicit Random(u64 offset = 0) : state_(0x9E3779B97F4A7C15U + offset) {}

  /// The small bias of the modulus does not matter here.
  u64 below(u64 bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ % bound;
  }

 private:
  u64 state_;
};

}  // namespace planegraph
