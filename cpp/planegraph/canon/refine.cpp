// The idea, the invariants and the cost are described in refine.hpp.
#include "planegraph/canon/refine.hpp"

#include <algorithm>
#include <array>

#include "planegraph/graph/disjoint_sets.hpp"

namespace planegraph {

void Refiner::release_memory() {
  for (auto* v : {&nodes_,      &node_rank_, &degree_, &face_rank_,  &token_rank_, &element_,         &position_,
                  &class_,      &begin_,     &size_,   &hit_,        &queue_,      &snapshot_,        &touched_,
                  &candidates_, &orbit_,     &code_,   &best_darts_, &darts_,      &position_in_best_})
    release(*v);
  ranker_.release_memory();
}

Start Refiner::choose(const Rigid& rigid, Weinberg& weinberg) {
  stable_ = false;
  rank_nodes(rigid);
  if (rare_candidates(rigid)) return compare_walks(rigid, weinberg);
  initial_partition(rigid);
  stable_ = !few(rigid, size_[smallest_class()]) && refine(rigid, true);
  const i32 c = smallest_class();
  candidates_of(c);
  if (!stable_) return compare_walks(rigid, weinberg);
  best_ = 0;
  const i32 state = candidates_[0];
  return {rigid.first + (state >> 1), (state & 1) != 0, candidates_.size() > 1};
}

void Refiner::append_tied(std::vector<i32>& states) {
  states.push_back(candidates_[best_]);
  for (i32 k = 0; k < static_cast<i32>(candidates_.size()); ++k)
    if (k != best_ && (stable_ || find(orbit_, k) == find(orbit_, best_))) states.push_back(candidates_[k]);
}

/// A dart goes to another exactly if one of its two states does.
void Refiner::dart_orbits(const Rigid& rigid, i32 base, i32* first) {
  grow_fill(hit_, num_classes_, -1);
  for (i32 k = 0; k < rigid.num_darts; ++k) {
    i32& first_of_class = hit_[std::min(class_[2 * k], class_[2 * k + 1])];
    if (first_of_class < 0) first_of_class = base + k;
    first[k] = first_of_class;
  }
}

void Refiner::classes(const Rigid& rigid, std::vector<i32>& state_class) {
  rank_nodes(rigid);
  initial_partition(rigid);
  refine(rigid, false);
  state_class.assign(class_.begin(), class_.begin() + 2 * static_cast<std::size_t>(rigid.num_darts));
}

/// Ranks the nodes by (degree, colour).
void Refiner::rank_nodes(const Rigid& rigid) {
  i32 bound = 0;
  for (i32 d = rigid.first; d < rigid.first + rigid.num_darts; ++d) bound = std::max(bound, rigid.end(d) + 1);
  grow(degree_, bound);
  grow(node_rank_, bound);
  nodes_.clear();
  for (i32 d = rigid.first; d < rigid.first + rigid.num_darts; ++d) degree_[rigid.end(d)] = 0;
  for (i32 d = rigid.first; d < rigid.first + rigid.num_darts; ++d)
    if (degree_[rigid.end(d)]++ == 0) nodes_.push_back(rigid.end(d));
  ranker_.clear();
  for (const i32 v : nodes_) {
    ranker_.push(degree_[v]);
    ranker_.push(rigid.colours(v));
    ranker_.close();
  }
  num_node_ranks_ = ranker_.finish();
  for (std::size_t k = 0; k < nodes_.size(); ++k) node_rank_[nodes_[k]] = ranker_.rank(static_cast<i32>(k));
}

/// Stage 1: candidates among the darts that leave the kind of node with the fewest darts. False if that leaves too many.
bool Refiner::rare_candidates(const Rigid& rigid) {
  grow_fill(size_, num_node_ranks_, 0);
  for (const i32 v : nodes_) size_[node_rank_[v]] += degree_[v];
  const i32 rarest = static_cast<i32>(std::min_element(size_.begin(), size_.begin() + num_node_ranks_) - size_.begin());
  if (i64{size_[rarest]} > std::max<i64>(64, rigid.num_darts / 8)) return false;
  candidates_.clear();
  ranker_.clear();
  for (i32 k = 0; k < rigid.num_darts; ++k) {
    const i32 d = rigid.first + k;
    if (node_rank_[rigid.end(d)] != rarest) continue;
    for (i32 mirror = 0; mirror < 2; ++mirror) {
      const i32 turn = rigid.turn(d, mirror != 0);
      candidates_.push_back(2 * k + mirror);
      ranker_.push(node_rank_[rigid.end(d ^ 1)]);
      ranker_.push(rigid.token(d));
      ranker_.push(node_rank_[rigid.end(turn ^ 1)]);
      ranker_.push(rigid.token(turn));
      ranker_.close();
    }
  }
  const i32 kinds = ranker_.finish();
  grow_fill(size_, kinds, 0);
  for (i32 k = 0; k < ranker_.count(); ++k) ++size_[ranker_.rank(k)];
  const i32 best = static_cast<i32>(std::min_element(size_.begin(), size_.begin() + kinds) - size_.begin());
  if (!few(rigid, size_[best])) return false;
  std::size_t kept = 0;
  for (std::size_t k = 0; k < candidates_.size(); ++k)
    if (ranker_.rank(static_cast<i32>(k)) == best) candidates_[kept++] = candidates_[k];
  candidates_.resize(kept);
  return true;
}

/// Ranks of the sizes of the faces to one side of each dart: orbits of d -> next[reverse(d)].
void Refiner::face_ranks(const Rigid& rigid) {
  grow_fill(face_rank_, rigid.num_darts, 0);
  grow_fill(position_, static_cast<std::size_t>(rigid.num_darts) + 1, 0);  // sizes that occur
  const i32 first = rigid.first;
  for (i32 k = 0; k < rigid.num_darts; ++k) {
    if (face_rank_[k] != 0) continue;
    i32 size = 0;
    for (i32 d = first + k;;) {
      ++size;
      d = rigid.turn(d ^ 1, false);
      if (d == first + k) break;
    }
    for (i32 d = first + k;;) {
      face_rank_[d - first] = size;
      d = rigid.turn(d ^ 1, false);
      if (d == first + k) break;
    }
    position_[size] = 1;
  }
  num_face_ranks_ = 0;
  for (i32 size = 1; size <= rigid.num_darts; ++size)
    if (position_[size]) position_[size] = num_face_ranks_++;
  for (i32 k = 0; k < rigid.num_darts; ++k) face_rank_[k] = position_[face_rank_[k]];
}

/// Stage 2: classes by (kind of source node, size of the face beside the dart, token), in this order of importance.
void Refiner::initial_partition(const Rigid& rigid) {
  const i32 darts = rigid.num_darts, states = 2 * darts;
  grow(position_, states);
  grow(element_, states);
  grow(class_, states);
  face_ranks(rigid);
  grow(token_rank_, darts);
  bool uniform = true;
  for (i32 k = 0; k < darts && uniform; ++k) uniform = rigid.token(rigid.first + k) == rigid.token(rigid.first);
  if (uniform) {
    std::fill_n(token_rank_.begin(), darts, 0);
    num_token_ranks_ = 1;
  } else {
    ranker_.clear();
    for (i32 k = 0; k < darts; ++k) {
      ranker_.push(rigid.token(rigid.first + k));
      ranker_.close();
    }
    num_token_ranks_ = ranker_.finish();
    for (i32 k = 0; k < darts; ++k) token_rank_[k] = ranker_.rank(k);
  }
  // the face beside (d, mirror) is the one beside (reverse(d), embedding)
  const auto kind = [&](i32 s) {
    const i32 k = s >> 1;
    return std::array<i32, 3>{node_rank_[rigid.end(rigid.first + k)], face_rank_[k ^ (s & 1)], token_rank_[k]};
  };
  const auto key = [&](i32 s) {
    const auto [node, face, token] = kind(s);
    return (static_cast<i64>(node) * num_face_ranks_ + face) * num_token_ranks_ + token;
  };
  const double possible_keys = static_cast<double>(num_node_ranks_) * num_face_ranks_ * num_token_ranks_;
  num_classes_ = 0;
  begin_.clear();
  size_.clear();
  const auto open_class = [&](i32 begin, i32 size) {
    begin_.push_back(begin);
    size_.push_back(size);
    ++num_classes_;
  };
  if (possible_keys <= 4.0 * states + 1024) {
    const i64 keys = static_cast<i64>(possible_keys);
    std::vector<i32>& place = position_;  // by key, until the elements are in place
    grow_fill(place, keys + 1, 0);
    for (i32 s = 0; s < states; ++s) ++place[key(s)];
    i32 at = 0;
    for (i64 k = 0; k < keys; ++k) {
      const i32 size = place[k];
      place[k] = at;
      if (size > 0) open_class(at, size);
      at += size;
    }
    for (i32 s = 0; s < states; ++s) element_[place[key(s)]++] = s;
  } else {
    for (i32 s = 0; s < states; ++s) element_[s] = s;
    std::sort(element_.begin(), element_.begin() + states, [&](i32 a, i32 b) { return kind(a) < kind(b); });
    for (i32 at = 0, from = 0; at < states; from = at) {
      while (at < states && kind(element_[at]) == kind(element_[from])) ++at;
      open_class(from, at - from);
    }
  }
  grow(position_, states);
  for (i32 c = 0; c < num_classes_; ++c) {
    for (i32 p = begin_[c]; p < begin_[c] + size_[c]; ++p) {
      position_[element_[p]] = p;
      class_[element_[p]] = c;
    }
  }
}

i32 Refiner::smallest_class() const {
  return static_cast<i32>(std::min_element(size_.begin(), size_.begin() + num_classes_) - size_.begin());
}

/// Stage 3. True if the partition became stable; false if it stopped early because a class has few states.
bool Refiner::refine(const Rigid& rigid, bool stop_early) {
  hit_.assign(num_classes_, 0);
  queue_.clear();
  queue_head_ = 0;
  // all classes but the largest (the first such): what leads into it is what leads into none of the others
  const i32 largest = static_cast<i32>(std::max_element(size_.begin(), size_.begin() + num_classes_) - size_.begin());
  for (i32 c = 0; c < num_classes_; ++c)
    if (c != largest) queue_.push_back(c);
  const i32 first = rigid.first;
  while (queue_head_ < queue_.size()) {
    const i32 splitter = queue_[queue_head_++];
    if (queue_head_ > 4096 && 2 * queue_head_ > queue_.size()) {
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(queue_head_));
      queue_head_ = 0;
    }
    // the splitter may itself be split by its first move; the second must still use the old whole
    snapshot_.assign(element_.begin() + begin_[splitter], element_.begin() + begin_[splitter] + size_[splitter]);
    const i32 classes_before = num_classes_;
    for (i32 move = 0; move < 2; ++move) {
      touched_.clear();
      for (const i32 s : snapshot_) {
        // the state that this move takes to s: turning in the embedding is undone by turning in the mirror image
        const i32 d = first + (s >> 1);
        const i32 source = move == 0 ? 2 * (rigid.turn(d, (s & 1) == 0) - first) + (s & 1) : s ^ 2;
        const i32 c = class_[source];
        if (size_[c] == 1) continue;
        if (hit_[c] == 0) touched_.push_back(c);
        const i32 p = position_[source], q = begin_[c] + hit_[c]++;
        const i32 other = element_[q];
        element_[q] = source;
        element_[p] = other;
        position_[source] = q;
        position_[other] = p;
      }
      split_touched();
    }
    if (!stop_early) continue;
    for (i32 c = classes_before; c < num_classes_; ++c)
      if (few(rigid, size_[c])) return false;
  }
  return true;
}

/// Splits each touched class into its hit and its missed states.
void Refiner::split_touched() {
  std::sort(touched_.begin(), touched_.end());
  for (const i32 c : touched_) {
    const i32 hits = hit_[c], misses = size_[c] - hits;
    hit_[c] = 0;
    if (misses == 0) continue;
    const i32 fresh = num_classes_++;
    if (hits <= misses) {
      begin_.push_back(begin_[c]);
      size_.push_back(hits);
      begin_[c] += hits;
      size_[c] = misses;
    } else {
      begin_.push_back(begin_[c] + hits);
      size_.push_back(misses);
      size_[c] = hits;
    }
    hit_.push_back(0);
    queue_.push_back(fresh);
    for (i32 p = begin_[fresh]; p < begin_[fresh] + size_[fresh]; ++p) class_[element_[p]] = fresh;
  }
}

void Refiner::candidates_of(i32 c) { candidates_.assign(element_.begin() + begin_[c], element_.begin() + begin_[c] + size_[c]); }

/// Walks from every candidate and keeps the smallest code.
Start Refiner::compare_walks(const Rigid& rigid, Weinberg& weinberg) {
  const i32 count = static_cast<i32>(candidates_.size());
  std::sort(candidates_.begin(), candidates_.end());  // so that unite_orbits can search
  orbit_.resize(count);
  for (i32 k = 0; k < count; ++k) orbit_[k] = k;
  code_.clear();
  i32 best = 0;
  if (count > 1) {
    compare_walk(rigid, weinberg, candidates_[0]);
    best_darts_.swap(darts_);
    position_in_best_.clear();
  }
  for (i32 k = 1; k < count; ++k) {
    if (find(orbit_, k) != k) continue;  // an automorphism takes it to an earlier candidate
    const int order = compare_walk(rigid, weinberg, candidates_[k]);
    if (order < 0) {
      best = k;
      best_darts_.swap(darts_);
      position_in_best_.clear();
    } else if (order == 0) {
      unite_orbits(rigid, best, k);
    }
  }
  bool tied = false;
  for (i32 k = 0; k < count; ++k) tied |= k != best && find(orbit_, k) == find(orbit_, best);
  best_ = best;
  const i32 state = candidates_[best];
  return {rigid.first + (state >> 1), (state & 1) != 0, tied};
}

int Refiner::compare_walk(const Rigid& rigid, Weinberg& weinberg, i32 state) {
  darts_.clear();
  return improve_walk_code(rigid, weinberg, rigid.first + (state >> 1), (state & 1) != 0, code_, 0,
                           [&](i32 dart) { darts_.push_back(dart); });
}

/// The walks from candidates `best` and `other` agree: the automorphism between them joins the orbits of candidates.
void Refiner::unite_orbits(const Rigid& rigid, i32 best, i32 other) {
  if (candidates_.size() == 2) {
    orbit_[1] = 0;
    return;
  }
  if (position_in_best_.empty()) {
    position_in_best_.resize(rigid.num_darts);
    for (i32 i = 0; i < rigid.num_darts; ++i) position_in_best_[best_darts_[i] - rigid.first] = i;
  }
  const i32 flip = (candidates_[best] ^ candidates_[other]) & 1;
  for (i32 k = 0; k < static_cast<i32>(candidates_.size()); ++k) {
    const i32 state = candidates_[k];
    const i32 image_dart = darts_[position_in_best_[state >> 1]] - rigid.first;
    const i32 image = 2 * image_dart + ((state & 1) ^ flip);
    const auto it = std::lower_bound(candidates_.begin(), candidates_.end(), image);
    const i32 j = static_cast<i32>(it - candidates_.begin());
    const i32 a = find(orbit_, k), b = find(orbit_, j);
    orbit_[std::max(a, b)] = std::min(a, b);  // the root is the first of its orbit
  }
}

}  // namespace planegraph
