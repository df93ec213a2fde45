// What the automorphisms of many graphs come to, as flat arrays plus offsets.
//
// Ids are local to their graph. The order of the group of graph g is the product of its factors, rows factor_ptr[g] .. factor_ptr[g + 1]:
// base^times, or (base!)^times where `factorial` is set, in ascending order of (factorial, base). It can have millions of digits, so the
// core does not multiply. Generators are sparse: generator k moves the nodes move_node[move_ptr[k] .. move_ptr[k + 1]), ascending, to
// move_image[...] and leaves all others where they are.
#pragma once

#include "planegraph/graph/array.hpp"
#include "planegraph/graph/types.hpp"

namespace planegraph {

struct Symmetries {
  Array<i32> node_orbit, edge_orbit;  // numbered by first appearance in each graph
  Array<i64> factor_ptr;
  Array<u8> factorial;
  Array<i32> factor_base, factor_times;
  Array<u8> reflects;           // per graph: does an automorphism turn a rigid part into its mirror image?
  Array<i64> generator_ptr;     // per graph; this and what follows only if generators were asked for
  Array<i64> move_ptr{i64{0}};  // per generator
  Array<i32> move_node, move_image;

  /// Appends the graphs of another part of a batch.
  void append(const Symmetries& part) {
    const auto rows = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    const auto offsets = [](Array<i64>& to, const Array<i64>& from) {
      const i64 base = to.empty() ? 0 : to.back();
      for (std::size_t k = 1; k < from.size(); ++k) to.push_back(base + from[k]);
    };
    rows(node_orbit, part.node_orbit);
    rows(edge_orbit, part.edge_orbit);
    offsets(factor_ptr, part.factor_ptr);
    rows(factorial, part.factorial);
    rows(factor_base, part.factor_base);
    rows(factor_times, part.factor_times);
    rows(reflects, part.reflects);
    offsets(generator_ptr, part.generator_ptr);
    offsets(move_ptr, part.move_ptr);
    rows(move_node, part.move_node);
    rows(move_image, part.move_image);
  }

  /// Calls visit(name, array) for all arrays.
  template <class Visit>
  void for_each(Visit&& visit) {
    visit("node_orbit", node_orbit);
    visit("edge_orbit", edge_orbit);
    visit("factor_ptr", factor_ptr);
    visit("factorial", factorial);
    visit("factor_base", factor_base);
    visit("factor_times", factor_times);
    visit("reflects", reflects);
    visit("generator_ptr", generator_ptr);
    visit("move_ptr", move_ptr);
    visit("move_node", move_node);
    visit("move_image", move_image);
  }
};

}  // namespace planegraph
