// The symmetries of a tied root, a cycle or a rigid skeleton: a few that generate all of them.
//
// The group acts freely on the starts of walks, so it has one element for each start that gives the code of the chosen one (Walks::tied_states).
// A start that no element found so far reaches from the chosen one adds a generator; each at least doubles the group.
#pragma once

#include "planegraph/graph/disjoint_sets.hpp"
#include "planegraph/symmetry/parts.hpp"

namespace planegraph {

class RootGroup {
 public:
  /// Calls visit(start, darts, images) for each generator: it takes the chosen start to `start`, and dart darts[i] to images[i].
  template <class Visit>
  void run(const Parts& x, i32 b, WalkLister& lister, Visit&& visit) {
    const std::span<const i32> tied = x.walks.tied_states(b);
    const i32 c = x.walks.block_root[b], count = static_cast<i32>(tied.size()), first_dart = 2 * x.spqr.nodes[c].first;
    const auto start_of = [&](i32 state) { return Start{first_dart + (state >> 1), (state & 1) != 0, true}; };
    lister.run(x, c, start_of(tied[0]), darts_);
    reached_.resize(count);
    for (i32 k = 0; k < count; ++k) reached_[k] = k;
    for (i32 k = 1; k < count; ++k) {
      if (find(reached_, k) == find(reached_, 0)) continue;
      const Start start = start_of(tied[k]);
      lister.run(x, c, start, images_);
      visit(start, darts_, images_);
      if (count > 2) unite(x, first_dart, tied, (tied[0] ^ tied[k]) & 1);
    }
  }

 private:
  /// Joins each tied state with its image.
  void unite(const Parts& x, i32 first_dart, std::span<const i32> tied, i32 flip) {
    const i32 count = static_cast<i32>(tied.size());
    grow(place_, x.spqr.num_entries());
    grow(index_, 4 * darts_.size());
    for (std::size_t i = 0; i < darts_.size(); ++i) place_[darts_[i] >> 1] = static_cast<i32>(i);
    for (i32 k = 0; k < count; ++k) index_[tied[k]] = k;
    for (i32 k = 0; k < count; ++k) {
      const i32 dart = first_dart + (tied[k] >> 1), at = place_[dart >> 1];
      const i32 image = (images_[at] ^ ((darts_[at] ^ dart) & 1)) - first_dart;
      const i32 a = find(reached_, k), b = find(reached_, index_[2 * image + ((tied[k] & 1) ^ flip)]);
      reached_[std::max(a, b)] = std::min(a, b);
    }
  }

  std::vector<i32> darts_, images_;
  std::vector<i32> reached_;        // tied states as disjoint sets
  std::vector<i32> place_, index_;  // entry -> position in darts_; state -> tied state
};

}  // namespace planegraph
