// KHC's TriCode from a given start: the code of Weinberg's walk, for each dart kappa and token, and at the first visit of its source the node's colour.
#pragma once

#include "planegraph/canon/weinberg.hpp"
#include "planegraph/planarity/rigid.hpp"

namespace planegraph {

/// Compares the code of the walk from `dart` with the one in code[from ..], stopping at the first difference; a smaller one
/// replaces it. Returns the order of the new code to the old: -1, 0 or 1. An empty old code counts as larger.
/// `on_dart(dart)` sees the darts walked.
template <class OnDart>
int improve_walk_code(const Rigid& rigid, Weinberg& weinberg, i32 dart, bool mirror, std::vector<i32>& code, std::size_t from,
                      OnDart&& on_dart) {
  std::size_t at = from;
  int order = code.size() == from ? -1 : 0;
  const auto put = [&](i32 x) {  // false: the walk is larger
    if (order == 0) {
      if (code[at] == x) {
        ++at;
        return true;
      }
      if (code[at] < x) {
        order = 1;
        return false;
      }
      order = -1;
      code.resize(at);
    }
    code.push_back(x);
    return true;
  };
  weinberg.walk(rigid, dart, mirror, [&](i32 d, i32 kappa, bool first) {
    on_dart(d);
    if (!put(kappa) || !put(rigid.token(d))) return false;
    if (!first) return true;
    return put(rigid.colours(rigid.end(d)));
  });
  return order;
}

}  // namespace planegraph
