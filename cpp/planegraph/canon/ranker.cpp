// The idea, the invariants and the cost are described in ranker.hpp.
#include "planegraph/canon/ranker.hpp"

#include <cstring>

namespace planegraph {

u64 Ranker::hash(i32 k) const {
  const i32* x = begin(k);
  const std::size_t n = length(k);
  u64 h = n;
  const auto mix = [&h](u64 value) {
    h = (h ^ value) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 32;
  };
  std::size_t i = 0;
  for (; i + 1 < n; i += 2) mix(static_cast<u64>(static_cast<u32>(x[i + 1])) << 32 | static_cast<u32>(x[i]));
  if (i < n) mix(static_cast<u32>(x[i]));
  return h;
}

bool Ranker::equal(i32 a, i32 b) const {
  return hash_[a] == hash_[b] && length(a) == length(b) && std::memcmp(begin(a), begin(b), length(a) * sizeof(i32)) == 0;
}

bool Ranker::less(i32 a, i32 b) const {
  if (hash_[a] != hash_[b]) return hash_[a] < hash_[b];
  if (length(a) != length(b)) return length(a) < length(b);
  return std::lexicographical_compare(begin(a), begin(a) + length(a), begin(b), begin(b) + length(b));
}

void Ranker::make_unique() {
  const i32 n = count();
  unique_.clear();
  if (n <= 8) {  // too few for a table
    for (i32 k = 0; k < n; ++k) {
      i32 j = 0;
      while (j < static_cast<i32>(unique_.size()) && !equal(unique_[j], k)) ++j;
      if (j == static_cast<i32>(unique_.size())) unique_.push_back(k);
      rank_[k] = j;
    }
    return;
  }
  if (!make_unique_by_table()) make_unique_by_sorting();
}

/// Open addressing. Gives up (false) if labels were chosen so that their hashes crowd together.
bool Ranker::make_unique_by_table() {
  const i32 n = count();
  std::size_t capacity = 16;
  while (capacity < 2 * static_cast<std::size_t>(n)) capacity *= 2;
  grow_fill(table_, capacity, -1);
  i64 patience = 16 * i64{n} + 1024;
  for (i32 k = 0; k < n; ++k) {
    std::size_t slot = hash_[k] & (capacity - 1);
    while (table_[slot] >= 0 && !equal(unique_[table_[slot]], k)) {
      if (--patience < 0) return false;
      slot = (slot + 1) & (capacity - 1);
    }
    if (table_[slot] < 0) {
      table_[slot] = static_cast<i32>(unique_.size());
      unique_.push_back(k);
    }
    rank_[k] = table_[slot];
  }
  return true;
}

void Ranker::make_unique_by_sorting() {
  const i32 n = count();
  unique_.clear();
  grow(position_, n);
  for (i32 k = 0; k < n; ++k) position_[k] = k;
  std::sort(position_.begin(), position_.begin() + n, [this](i32 a, i32 b) { return less(a, b); });
  for (i32 j = 0; j < n; ++j) {
    const i32 k = position_[j];
    if (unique_.empty() || !equal(unique_.back(), k)) unique_.push_back(k);
    rank_[k] = static_cast<i32>(unique_.size()) - 1;
  }
}

i32 Ranker::finish() {
  const i32 n = count();
  grow(rank_, n);
  if (n <= 1) {
    if (n == 1) rank_[0] = 0;
    return n;
  }
  grow(hash_, n);
  for (i32 k = 0; k < n; ++k) hash_[k] = hash(k);
  make_unique();
  const i32 distinct = static_cast<i32>(unique_.size());
  if (distinct == 1) return 1;
  grow(position_, distinct);
  for (i32 j = 0; j < distinct; ++j) position_[j] = j;
  std::sort(position_.begin(), position_.begin() + distinct, [this](i32 a, i32 b) { return less(unique_[a], unique_[b]); });
  grow(table_, distinct);  // index into unique_ -> rank
  for (i32 r = 0; r < distinct; ++r) table_[position_[r]] = r;
  for (i32 k = 0; k < n; ++k) rank_[k] = table_[rank_[k]];
  return distinct;
}

}  // namespace planegraph
