// Ranks of integer sequences: equal sequences get equal ranks, and ranks follow a fixed total order.
//
// Sequences are written one after the other into one arena. The order is by hash, then length, then lexicographic: any order that depends on
// the contents alone is canonical, and the hash settles nearly every comparison at once. A collision costs time and never an
// answer, since equality is always decided by comparing in full. Only the distinct sequences are sorted.
// O(total length) plus O(distinct length * log distinct); if hashes crowd together, O(total length * log count).
#pragma once

#include <algorithm>

#include "planegraph/graph/memory.hpp"

namespace planegraph {

class Ranker {
 public:
  void clear() {
    data_.clear();
    start_.assign(1, 0);
  }
  void push(i32 x) { data_.push_back(x); }
  /// Room for k more values of the open sequence, to be written by the caller.
  i32* extend(std::size_t k) {
    data_.resize(data_.size() + k);
    return data_.data() + data_.size() - k;
  }
  void close() { start_.push_back(data_.size()); }
  i32 count() const { return static_cast<i32>(start_.size()) - 1; }
  std::vector<i32>& data() { return data_; }
  const i32* begin(i32 k) const { return data_.data() + start_[k]; }
  std::size_t length(i32 k) const { return start_[k + 1] - start_[k]; }

  /// Fills rank(0 .. count) and returns the number of distinct sequences.
  i32 finish();
  i32 rank(i32 k) const { return rank_[k]; }

  void release_memory() {
    release(data_);
    release(start_);
    release(rank_);
    release(hash_);
    release(unique_);
    release(table_);
    release(position_);
    start_.assign(1, 0);
  }

 private:
  u64 hash(i32 k) const;
  bool equal(i32 a, i32 b) const;
  bool less(i32 a, i32 b) const;
  void make_unique();
  bool make_unique_by_table();
  void make_unique_by_sorting();

  std::vector<i32> data_;
  std::vector<std::size_t> start_{0};
  std::vector<i32> rank_;  // during finish(): index into unique_, then the rank
  std::vector<u64> hash_;
  std::vector<i32> unique_;    // one representative of each distinct sequence
  std::vector<i32> table_;     // open addressing: index into unique_ or -1; then index into unique_ -> rank
  std::vector<i32> position_;  // indices into unique_ in order
};

}  // namespace planegraph
