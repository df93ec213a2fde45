#include "ranker.hpp"

namespace planegraph {

int Ranker::compare(i32 a, i32 b) const {
  const std::size_t la = length(a), lb = length(b);
  if (la != lb) return la < lb ? -1 : 1;
  const i32 *x = begin(a), *y = begin(b);
  for (std::size_t i = 0; i < la; ++i)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}

void Ranker::make_unique() {
  const i32 n = count();
  unique_.clear();
  if (n <= 8) {  // too few to hash
    for (i32 k = 0; k < n; ++k) {
      i32 j = 0;
      while (j < static_cast<i32>(unique_.size()) && compare(unique_[j], k) != 0) ++j;
      if (j == static_cast<i32>(unique_.size())) unique_.push_back(k);
      rank_[k] = j;
    }
    return;
  }
  std::size_t capacity = 16;
  while (capacity < 2 * static_cast<std::size_t>(n)) capacity *= 2;
  grow_fill(table_, capacity, -1);
  for (i32 k = 0; k < n; ++k) {
    u64 h = length(k);
    const i32* x = begin(k);
    for (std::size_t i = 0, l = length(k); i < l; ++i) h = (h ^ static_cast<u32>(x[i])) * 0x9E3779B97F4A7C15ull, h ^= h >> 29;
    std::size_t slot = h & (capacity - 1);
    while (table_[slot] >= 0 && compare(unique_[table_[slot]], k) != 0) slot = (slot + 1) & (capacity - 1);
    if (table_[slot] < 0) {
      table_[slot] = static_cast<i32>(unique_.size());
      unique_.push_back(k);
    }
    rank_[k] = table_[slot];
  }
}

i32 Ranker::finish() {
  const i32 n = count();
  grow(rank_, n);
  if (n <= 1) {
    if (n == 1) rank_[0] = 0;
    return n;
  }
  make_unique();
  const i32 distinct = static_cast<i32>(unique_.size());
  if (distinct == 1) return 1;
  grow(position_, distinct);
  // sort the representatives; position_ first holds them in order, then is inverted through rank_
  for (i32 j = 0; j < distinct; ++j) position_[j] = j;
  std::sort(position_.begin(), position_.begin() + distinct,
            [this](i32 a, i32 b) { return compare(unique_[a], unique_[b]) < 0; });
  grow(table_, distinct);
  for (i32 r = 0; r < distinct; ++r) table_[position_[r]] = r;
  for (i32 k = 0; k < n; ++k) rank_[k] = table_[rank_[k]];
  return distinct;
}

}  // namespace planegraph
