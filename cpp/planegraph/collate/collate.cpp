// The second step of the collation: sort and transpose. The order of everything and the padding are described in collate.hpp.
#include "planegraph/collate/collate.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace planegraph {
namespace {

i64 total(const std::vector<i64>& widths) { return std::accumulate(widths.begin(), widths.end(), i64{0}); }

bool holds_slices(const std::vector<i64>& capacity, const std::vector<i64>& need) {
  if (capacity.size() < need.size()) return false;
  for (std::size_t k = 0; k < need.size(); ++k)
    if (capacity[k] < need[k]) return false;
  return true;
}

}  // namespace

// ---- shapes ------------------------------------------------------------------------------------------------------------------

i64 Shape::num_blocks() const { return total(blocks); }
i64 Shape::num_cuts() const { return total(cuts); }
i64 Shape::num_spqr() const { return total(spqr) + total(blocks); }

bool holds(const Shape& capacity, const Shape& need) {
  const bool tables = capacity.graphs >= need.graphs && capacity.nodes > need.nodes && capacity.edges > need.edges &&
                      capacity.walks > need.walks && capacity.node_spqr > need.node_spqr && capacity.node_block > need.node_block &&
                      capacity.max_position >= need.max_position;
  const bool slices = holds_slices(capacity.spqr, need.spqr) && holds_slices(capacity.blocks, need.blocks) &&
                      holds_slices(capacity.cuts, need.cuts);
  if (!tables || !slices || capacity.blocks[0] <= need.blocks[0]) return false;
  return capacity.cuts.empty() || capacity.cuts[0] > (need.cuts.empty() ? 0 : need.cuts[0]);
}

std::array<i64, kUnits> lengths(const Shape& s, i32 rows_per_edge) {
  return {s.graphs,     s.nodes,     2 * s.edges, rows_per_edge * s.edges, s.walks, s.num_spqr(), s.num_blocks(),
          s.num_cuts(), s.node_spqr, s.node_block};
}

i64 buffer_length(const Shape& shape, i32 rows_per_edge) {
  const auto units = lengths(shape, rows_per_edge);
  i64 length = static_cast<i64>(kUnits);
  for (const Section& section : kSections) length += section.length(units, rows_per_edge);
  return length;
}

// ---- filling -----------------------------------------------------------------------------------------------------------------

namespace {

/// The nodes of one kind in all trees of the batch.
struct Tree {
  std::span<const i32> parent, depth, parent_depth;
  Table table;
  const char* parent_name;
  i32 root_depth, step;  // depths are root_depth, root_depth + step, ...; step is 1 or 2

  std::vector<i32> row{};    // of each node
  std::vector<i32> order{};  // the nodes by depth, roots first
  std::vector<i64> first{};  // where each depth begins in `order`
  std::vector<i64> start{};  // the first row of each slice
};

class Filler {
 public:
  Filler(const Gathered& batch, const Shape& shape, i32 rows_per_edge, i32* out)
      : in_(batch), shape_(shape), rows_(rows_per_edge), real_(lengths(batch.need, rows_per_edge)),
        size_(lengths(shape, rows_per_edge)), out_(out) {
    const std::array<i32**, std::size(kSections)> pointers = {
#define PLANEGRAPH_SECTION(name, ...) &name,
        PLANEGRAPH_SECTIONS(PLANEGRAPH_SECTION)
#undef PLANEGRAPH_SECTION
    };
    end_ = out + kUnits;
    for (std::size_t k = 0; k < pointers.size(); ++k) {
      *pointers[k] = end_;
      end_ += kSections[k].length(size_, rows_);
    }
  }

  void run() {
    if (&shape_ != &in_.need) std::fill(out_, end_, -1);  // otherwise every entry is written below
    for (std::size_t k = 0; k < kUnits; ++k) out_[k] = static_cast<i32>(real_[k]);
    place_nodes();
    place_darts();
    place_blocks_and_cuts();
    place_spqr();
    place_walks();
    place_incidences(in_.node_spqr_node, in_.node_spqr_spqr, spqr_.row, node_spqr_ptr, node_spqr, spqr_node_ptr, spqr_node,
                     size(Unit::spqr));
    place_incidences(in_.node_block_node, in_.node_block_block, blocks_.row, node_block_ptr, node_block, block_node_ptr, block_node,
                     size(Unit::blocks));
  }

 private:
  i64 size(Unit unit) const { return size_[static_cast<std::size_t>(unit)]; }
  i64 real(Unit unit) const { return real_[static_cast<std::size_t>(unit)]; }

  /// Turns counts, that of key k at ptr[k + 1], into offsets, and keeps a copy of them in cursor_ for placing.
  void to_offsets(i32* ptr, i64 keys) {
    cursor_.resize(static_cast<std::size_t>(keys));
    i32 sum = 0;
    for (i64 k = 0; k < keys; ++k) {
      cursor_[k] = sum;
      sum += ptr[k + 1];
      ptr[k + 1] = sum;
    }
  }

  /// items[ptr[k] .. ptr[k + 1]) are the positions i, ascending, with key[i] == k; those with key -1 are left out.
  void transpose(const i32* key, i64 count, i64 keys, i32* ptr, i32* items) {
    std::fill_n(ptr, keys + 1, 0);
    for (i64 i = 0; i < count; ++i)
      if (key[i] >= 0) ++ptr[key[i] + 1];
    to_offsets(ptr, keys);
    for (i64 i = 0; i < count; ++i)
      if (key[i] >= 0) items[cursor_[key[i]]++] = static_cast<i32>(i);
  }

  void place_nodes() {
    const i64 n = real(Unit::nodes), graphs = real(Unit::graphs);
    const bool pooled = !in_.pool_ptr.empty();
    for (i64 g = 0; g < graphs; ++g) {
      const i64 from = pooled ? in_.pool_ptr[g] : in_.pieces[g].rows[Table::node].at;
      const i64 to = pooled ? in_.pool_ptr[g + 1] : from + in_.pieces[g].rows[Table::node].count;
      node_ptr[g] = static_cast<i32>(from);
      std::fill(node_graph + from, node_graph + to, static_cast<i32>(g));
    }
    std::fill(node_ptr + graphs, node_ptr + size(Unit::graphs) + 1, static_cast<i32>(n));
  }

  /// Dart 2e + k leaves end k of edge e.
  void place_darts() {
    const i64 darts = real(Unit::darts), keys = size(Unit::nodes);
    const i32* ends = in_.edges.data();
    std::fill_n(dart_ptr, keys + 1, 0);
    for (i64 d = 0; d < darts; ++d) ++dart_ptr[ends[d] + 1];
    to_offsets(dart_ptr, keys);
    for (i64 d = 0; d < darts; d += 2) {
      const i32 u = ends[d], v = ends[d + 1];
      if (u == v) damaged(in_, Table::edge, "edges", d / 2, "joins a node to itself");
      const i32 there = cursor_[v]++, back = cursor_[u]++;
      dart_source[there] = dart_target[back] = u;
      dart_target[there] = dart_source[back] = v;
      dart_reverse[there] = back;
      dart_reverse[back] = there;
      if (rows_ > 0) place_rows(d, there, back);
    }
    if (rows_ == 0) return;
    const i64 rows = real(Unit::rows), share = rows_ == 1 ? 2 : 1;
    for (i64 r = 0; r < rows; ++r) row_dart_ptr[r] = static_cast<i32>(share * r);
    std::fill(row_dart_ptr + rows, row_dart_ptr + size(Unit::rows) + 1, static_cast<i32>(darts));
  }

  /// A row of edge features belongs to both darts of an edge or to one of them.
  void place_rows(i64 dart, i32 there, i32 back) {
    dart_row[there] = row_of_dart(dart);
    dart_row[back] = row_of_dart(dart + 1);
    if (rows_ == 1 && back < there) std::swap(there, back);
    row_dart[dart] = there;
    row_dart[dart + 1] = back;
  }

  i32 row_of_dart(i64 dart) const { return static_cast<i32>(rows_ == 1 ? dart >> 1 : dart); }

  // -- trees --

  /// Sorts the nodes by depth. A parent must be one depth higher, so there can be no cycle.
  void sort(Tree& tree, const std::vector<i64>& depths, const std::vector<i64>& widths) const {
    const std::size_t count = tree.parent.size();
    tree.row.resize(count);
    tree.order.resize(count);
    tree.first.assign(depths.size() + 1, 0);
    std::partial_sum(depths.begin(), depths.end(), tree.first.begin() + 1);
    tree.start.assign(widths.size(), 0);
    for (std::size_t k = widths.size(); k-- > 1;) tree.start[k - 1] = tree.start[k] + widths[k];
    std::vector<i64> next(tree.first.begin(), tree.first.end() - 1);
    for (std::size_t v = 0; v < count; ++v) {
      const i32 depth = tree.depth[v], parent = tree.parent[v];
      if (parent < 0 ? depth != tree.root_depth : tree.parent_depth[parent] != depth - 1)
        damaged(in_, tree.table, tree.parent_name, static_cast<i64>(v),
                "is not one step above a node of depth " + std::to_string(depth));
      tree.order[next[(depth - tree.root_depth) >> (tree.step - 1)]++] = static_cast<i32>(v);
    }
  }

  /// Gives rows to the nodes of one depth: those without a parent first, then by the row of the parent, ties as they come.
  static void place_slice(Tree& tree, std::size_t level, const std::vector<i32>& parent_row, i64 parents_from, i64 parents_to,
                          i32* parent, i32* begin, i32* end) {
    const std::span<const i32> nodes(tree.order.begin() + tree.first[level], tree.order.begin() + tree.first[level + 1]);
    i32 next = static_cast<i32>(tree.start[level]);
    for (const i32 v : nodes) {
      if (tree.parent[v] >= 0) {
        ++end[parent_row[tree.parent[v]]];
      } else {
        parent[next] = -1;
        tree.row[v] = next++;
      }
    }
    for (i64 p = parents_from; p < parents_to; ++p) {
      if (end[p] == 0) continue;
      begin[p] = next;
      next += end[p];
      end[p] = begin[p];
    }
    for (const i32 v : nodes) {
      if (tree.parent[v] < 0) continue;
      const i32 above = parent_row[tree.parent[v]], row = end[above]++;
      tree.row[v] = row;
      parent[row] = above;
    }
  }

  void place_blocks_and_cuts() {
    for (i32* section : {block_begin, block_end}) std::fill_n(section, size(Unit::blocks), 0);
    for (i32* section : {cut_begin, cut_end}) std::fill_n(section, size(Unit::cuts), 0);
    sort(blocks_, in_.need.blocks, shape_.blocks);
    sort(cuts_, in_.need.cuts, shape_.cuts);
    place_slice(blocks_, 0, cuts_.row, 0, 0, block_parent, cut_begin, cut_end);
    for (std::size_t k = 0; k < in_.need.cuts.size(); ++k) {
      const i64 blocks_from = blocks_.start[k], cuts_from = cuts_.start[k];
      place_slice(cuts_, k, blocks_.row, blocks_from, blocks_from + shape_.blocks[k], cut_parent, block_begin, block_end);
      place_slice(blocks_, k + 1, cuts_.row, cuts_from, cuts_from + shape_.cuts[k], block_parent, cut_begin, cut_end);
    }
    std::fill_n(node_cut, size(Unit::nodes), -1);
    for (i64 c = 0; c < real(Unit::cuts); ++c) {
      const i32 node = in_.cut_node[c];
      if (node_cut[node] >= 0) damaged(in_, Table::cut, "cut_node", c, "is a node that is there before");
      node_cut[node] = cuts_.row[c];
      cut_node[cuts_.row[c]] = node;
    }
  }

  /// Roots stand in the order of the blocks. There are as many (gather), and each is the one that its block names.
  void place_spqr() {
    for (i32* section : {spqr_theta, spqr_begin, spqr_end}) std::fill_n(section, size(Unit::spqr), 0);
    std::vector<i64> depths{in_.need.num_blocks()}, widths{shape_.num_blocks()};
    depths.insert(depths.end(), in_.need.spqr.begin(), in_.need.spqr.end());
    widths.insert(widths.end(), shape_.spqr.begin(), shape_.spqr.end());
    sort(spqr_, depths, widths);
    for (i64 k = 0; k < depths[0]; ++k) {
      const i32 root = spqr_.order[k], block = in_.spqr_block[root];
      if (in_.block_root[block] != root) damaged(in_, Table::block, "block_root", block, "is not the root of its SPQR tree");
      spqr_.row[root] = static_cast<i32>(spqr_.start[0]) + blocks_.row[block];
      spqr_parent[spqr_.row[root]] = -1;
    }
    for (std::size_t k = 1; k < depths.size(); ++k)
      place_slice(spqr_, k, spqr_.row, spqr_.start[k - 1], spqr_.start[k - 1] + widths[k - 1], spqr_parent, spqr_begin, spqr_end);
    for (i64 k = 0; k < real(Unit::spqr); ++k) {
      spqr_type[spqr_.row[k]] = in_.spqr_type[k];
      spqr_theta[spqr_.row[k]] = in_.spqr_theta[k];
    }
  }

  // -- walks and incidences --

  void place_walks() {
    const i64 count = real(Unit::walks), rows = size(Unit::rows);
    for (i32* section : {walk_kappa, walk_pos}) std::fill(section + count, section + size(Unit::walks), 0);
    count_walks();
    to_offsets(walk_ptr, size(Unit::spqr));
    for (i64 k = 0, next = 0; k < count; k = next) {
      const i32 row = spqr_.row[in_.walk_spqr[k]], at = walk_ptr[row], length = walk_ptr[row + 1] - at;
      next = k + length;
      std::fill_n(walk_spqr + at, length, row);
      std::copy_n(in_.walk_node.data() + k, length, walk_node + at);
      std::copy_n(in_.walk_kappa.data() + k, length, walk_kappa + at);
      std::copy_n(in_.walk_pos.data() + k, length, walk_pos + at);
      if (rows_ == 0) continue;
      for (i32 i = 0; i < length; ++i) walk_row[at + i] = row_along(k + i);
    }
    transpose(walk_node, count, size(Unit::nodes), node_walk_ptr, node_walk);
    if (rows_ == 0) return;
    transpose(walk_row, count, rows, row_walk_ptr, row_walk);
    std::fill(row_walk + row_walk_ptr[rows], row_walk + count, -1);
  }

  /// Each walk is one run of entries: the ids ascend. Counts go to walk_ptr[row + 1].
  void count_walks() {
    const std::span<const i32> spqr = in_.walk_spqr;
    std::fill_n(walk_ptr, size(Unit::spqr) + 1, 0);
    for (std::size_t k = 0; k < spqr.size(); ++k) {
      if (k > 0 && spqr[k] < spqr[k - 1])
        damaged(in_, Table::walk, "walk_spqr", static_cast<i64>(k), "is less than in the row before");
      ++walk_ptr[spqr_.row[spqr[k]] + 1];
    }
  }

  /// The row of features of the dart that a walk entry leaves its node along, -1 if the edge is virtual.
  i32 row_along(i64 entry) const {
    const i32 edge = in_.walk_edge[entry], node = in_.walk_node[entry];
    if (edge < 0) return -1;
    const i64 dart = 2 * i64{edge};
    const i64 second = in_.edges[dart] != node;
    if (in_.edges[dart + second] != node) damaged(in_, Table::walk, "walk_edge", entry, "is not an edge at walk_node");
    return row_of_dart(dart + second);
  }

  /// Both directions of the pairs (node, other): by node in the order of the table, by the other with nodes ascending.
  void place_incidences(std::span<const i32> nodes, std::span<const i32> others, const std::vector<i32>& row_of, i32* by_node_ptr,
                        i32* by_node, i32* by_other_ptr, i32* by_other, i64 other_keys) {
    const i64 keys = size(Unit::nodes);
    std::fill_n(by_node_ptr, keys + 1, 0);
    std::fill_n(by_other_ptr, other_keys + 1, 0);
    for (const i32 node : nodes) ++by_node_ptr[node + 1];
    to_offsets(by_node_ptr, keys);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const i32 row = row_of[others[k]];
      by_node[cursor_[nodes[k]]++] = row;
      ++by_other_ptr[row + 1];
    }
    to_offsets(by_other_ptr, other_keys);
    for (i64 v = 0; v < keys; ++v)
      for (i32 k = by_node_ptr[v]; k < by_node_ptr[v + 1]; ++k) by_other[cursor_[by_node[k]]++] = static_cast<i32>(v);
  }

  const Gathered& in_;
  const Shape& shape_;
  const i32 rows_;
  const std::array<i64, kUnits> real_, size_;
  i32 *out_, *end_;
#define PLANEGRAPH_SECTION(name, ...) i32* name = nullptr;
  PLANEGRAPH_SECTIONS(PLANEGRAPH_SECTION)
#undef PLANEGRAPH_SECTION
  std::vector<i32> cursor_;
  Tree blocks_{in_.block_parent_cut, in_.block_depth, in_.cut_depth, Table::block, "block_parent_cut", 0, 2};
  Tree cuts_{in_.cut_parent_block, in_.cut_depth, in_.block_depth, Table::cut, "cut_parent_block", 1, 2};
  Tree spqr_{in_.spqr_parent, in_.spqr_depth, in_.spqr_depth, Table::spqr, "spqr_parent", 0, 1};
};

}  // namespace

void fill(const Gathered& batch, const Shape& shape, i32 rows_per_edge, std::span<i32> out) {
  const i64 length = buffer_length(shape, rows_per_edge);
  if (static_cast<i64>(out.size()) != length)
    throw std::invalid_argument("the buffer must have " + std::to_string(length) + " entries; found " + std::to_string(out.size()));
  Filler(batch, shape, rows_per_edge, out.data()).run();
}

}  // namespace planegraph
