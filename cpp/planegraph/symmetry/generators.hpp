// Generators of the group: one or a few for each tie, as sparse permutations of nodes.
//
// A generator is a symmetry of one skeleton, or the exchange of two equal subtrees, extended to what hangs there: a stack of pairs of
// skeletons, cuts and blocks whose walks are followed side by side. What stays where it is, is not looked at. Ties are those of the
// first skeleton of each orbit (orbits.hpp); conjugates of their symmetries are those of the others. Of k equal subtrees neighbours are
// exchanged, k - 1 pairs.
//
// All generators together move O(n log n) nodes. A subtree that is moved to another place has a partner of its size, so a node meets that
// O(log n) times on its way up; at a root with a group of g elements at most log2 g generators move it, and it has about g partners. A subtree
// that is only flipped may be as large as the one it hangs in. But if a hanging rigid node has a reflection that fixes its virtual edge and
// flips such a subtree, then that lies opposite, and the reflection that flips the virtual edge fixes it. So where a rigid node can be flipped
// in two ways, the reflection is taken, and a chain of flips ends where the next generator's begins.
#pragma once

#include "planegraph/symmetry/orbits.hpp"

namespace planegraph {

class Generators {
 public:
  /// Appends the generators of one graph, given its ties.
  void append(const Parts& x, const Orbits& orbits, const KeepGoing& keep_going, Symmetries& out);

 private:
  /// What goes where: a skeleton from one start to another, or a block or cut (without starts).
  struct Pair {
    enum Kind : u8 { kSkeleton, kBlock, kCut };
    Kind kind;
    i32 from, to;
    Start start, image;
  };
  void append_of(const Parts& x, const Orbits& orbits, const Tie& tie, Symmetries& out);
  void begin(bool both_ways);
  void finish(const Parts& x, const Orbits& orbits, Symmetries& out);
  void move(const Parts& x, i32 v, i32 w, i32 parent_node);
  void move_block(const Parts& x, const Pair& pair);
  void move_skeleton(const Parts& x, const Pair& pair);
  static Pair skeletons(i32 from, const Start& start, i32 to, const Start& image) {
    return {Pair::kSkeleton, from, to, start, image};
  }
  static Pair flipped(const Parts& x, i32 c, i32 side);

  std::vector<Pair> stack_;
  std::vector<std::pair<i32, i32>> moves_;  // of the generator at hand, in the numbers of the input
  bool both_ways_ = false;
  std::vector<i32> last_moved_;  // per node: the number of the last generator that met it
  i32 number_ = 0;
  WalkLister lister_;
  RootGroup root_group_;
  std::vector<i32> darts_, images_;
};

}  // namespace planegraph
