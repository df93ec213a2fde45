// Sorting that is quick on the few items which most bonds, cut nodes and neighbourhoods have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <vector>

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

/// Sorts pairs (key << 32 | value) by their keys, which are below `bound`, when there are very many: a pass per 11 bits of the key.
inline void sort_by_key(std::vector<std::uint64_t>& items, std::vector<std::uint64_t>& spare, std::uint64_t bound) {
  constexpr int kBits = 11;
  spare.resize(items.size());
  for (int shift = 32; bound >> (shift - 32) > 0; shift += kBits) {
    std::size_t start[(1 << kBits) + 1] = {};
    const auto digit = [&](std::uint64_t item) { return (item >> shift) & ((1 << kBits) - 1); };
    for (const std::uint64_t item : items) ++start[digit(item) + 1];
    for (int k = 0; k < 1 << kBits; ++k) start[k + 1] += start[k];
    for (const std::uint64_t item : items) spare[start[digit(item)]++] = item;
    items.swap(spare);
  }
}

}  // namespace planegraph
