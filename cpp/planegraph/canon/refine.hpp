// The canonical start of the walk of a rigid root in O(n log n).
//
// States are (dart, orientation): state 2k is the k-th dart in the embedding, 2k + 1 the same dart in its mirror image. The moves are
// "next around the node" and "reverse". `Refiner::classes` refines the partition of states until each move maps classes into
// classes, in the manner of Hopcroft's automaton minimisation. With node degree and face size among the initial colours two states are
// in one class exactly when an automorphism of the coloured map takes one to the other (docs/design.md says why), so one walk from any state of
// a canonically chosen class is enough.
//
// Often a rare class is visible long before the partition is stable. Three stages, each decided by invariant counts only:
//   1. darts leaving the rarest kind of node, told apart by what is next to them;
//   2. the initial partition of all states;
//   3. Hopcroft's refinement, canonically ordered: splitters first in, first out; touched classes in the order of their ids; the
//      smaller part (on a tie the touched one) gets the new id.
// As soon as some class has at most kFewStates states, their walks are compared directly. Two walks that agree are an
// automorphism; its orbits on the remaining candidates are skipped.
#pragma once

#include "planegraph/canon/ranker.hpp"
#include "planegraph/canon/walk_code.hpp"
#include "planegraph/planarity/rigid.hpp"

namespace planegraph {

class Refiner {
 public:
  /// A start whose walk is canonical up to automorphism.
  Start choose(const Rigid& rigid, Weinberg& weinberg);

  /// Of the start that `choose` found last: appends all states whose walks give its code, itself first.
  void append_tied(std::vector<i32>& states);
  /// Of the skeleton that `choose` saw last: whether its classes are those of the stable partition.
  bool is_stable() const { return stable_; }
  /// If they are: the first dart of the orbit of each dart, as positions in the skeleton plus `base`.
  void dart_orbits(const Rigid& rigid, i32 base, i32* first);

  /// The stable partition: class of each state, 2 * num_darts entries.
  void classes(const Rigid& rigid, std::vector<i32>& state_class);

  /// Gives large arrays back.
  void release_memory();

 private:
  static constexpr i32 kFewStates = 16;
  static constexpr i64 kFewSteps = 4096;  // comparing walks of this total length is cheaper than refining

  void rank_nodes(const Rigid& rigid);
  bool rare_candidates(const Rigid& rigid);
  void initial_partition(const Rigid& rigid);
  void face_ranks(const Rigid& rigid);
  bool refine(const Rigid& rigid, bool stop_early);
  void split_touched();
  bool few(const Rigid& rigid, i64 states) const { return states <= kFewStates || states * rigid.num_darts <= kFewSteps; }
  i32 smallest_class() const;
  void candidates_of(i32 c);
  Start compare_walks(const Rigid& rigid, Weinberg& weinberg);
  int compare_walk(const Rigid& rigid, Weinberg& weinberg, i32 state);
  void unite_orbits(const Rigid& rigid, i32 best, i32 state);

  Ranker ranker_;
  // nodes of the skeleton in order of first appearance; rank and degree by node id
  std::vector<i32> nodes_, node_rank_, degree_;
  i32 num_node_ranks_ = 0;
  std::vector<i32> face_rank_, token_rank_;  // by dart
  i32 num_face_ranks_ = 0, num_token_ranks_ = 0;
  // partition
  i32 num_classes_ = 0;
  std::vector<i32> element_, position_, class_;  // by position, state, state
  std::vector<i32> begin_, size_, hit_;          // by class
  std::vector<i32> queue_, snapshot_, touched_;
  std::size_t queue_head_ = 0;
  bool stable_ = false;
  // candidates, the best one, and its code
  i32 best_ = 0;
  std::vector<i32> candidates_, orbit_, code_, best_darts_, darts_, position_in_best_;
};

}  // namespace planegraph
