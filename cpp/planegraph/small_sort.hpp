// Sorting that is quick on the few items which most bonds, cut nodes and neighbourhoods have.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>

namespace planegraph {

/// Insertion sort up to two dozen items, std::sort above.
template <class Iterator, class Less = std::less<>>
inline void small_sort(Iterator first, Iterator last, Less less = {}) {
  if (last - first > 24) {
    std::sort(first, last, less);
    return;
  }
  if (first == last) return;
  for (Iterator x = first + 1; x < last; ++x) {
    const auto item = *x;
    Iterator y = x;
    for (; y > first && less(item, *(y - 1)); --y) *y = *(y - 1);
    *y = item;
  }
}

}  // namespace planegraph
