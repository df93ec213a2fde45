// What is computed, and from what, is described in depths.hpp.
#include "planegraph/tables/depths.hpp"

namespace planegraph {
namespace {

constexpr i32 kUnknown = -1;

[[noreturn]] void damaged(const char* column, i64 graph, i64 row, i64 found, i64 count) {
  throw DamagedTables("graph " + std::to_string(graph) + ": " + column + "[" + std::to_string(row) + "] is " +
                      std::to_string(found) + "; expected -1 or a row from 0 to " + std::to_string(count - 1) +
                      ". The tables are damaged");
}

/// The rows of graph g in a table of `size` rows.
std::pair<i64, i64> rows_of(std::span<const i64> ptr, i64 g, std::size_t size, const char* name) {
  const i64 first = ptr[g], last = ptr[g + 1];
  if (first < 0 || first > last || last > static_cast<i64>(size) || last - first > INT32_MAX / 2)
    throw DamagedTables(std::string(name) + " gives graph " + std::to_string(g) + " the rows " + std::to_string(first) + " to " +
                        std::to_string(last) + " of a table of " + std::to_string(size) + ". The tables are damaged");
  return {first, last};
}

/// Fills depth[0 .. n): `parent(v)` is another of these or -1, `root(v)` the depth of v if it has no parent. Follows parents upwards to
/// the first known depth, then fills the same way downwards, so each node is passed twice.
template <class Parent, class Root>
void fill_depths(i64 graph, i32 n, Parent parent, Root root, std::vector<i32>& depth, std::vector<i32>& path) {
  depth.assign(static_cast<std::size_t>(n), kUnknown);
  for (i32 start = 0; start < n; ++start) {
    path.clear();
    i32 v = start;
    while (v >= 0 && depth[v] == kUnknown) {
      if (static_cast<i32>(path.size()) == n)
        throw DamagedTables("graph " + std::to_string(graph) + ": the parents form a cycle. The tables are damaged");
      path.push_back(v);
      v = parent(v);
    }
    for (std::size_t k = path.size(); k-- > 0; v = path[k]) depth[path[k]] = v < 0 ? root(path[k]) : depth[v] + 1;
  }
}

}  // namespace

Array<i32> spqr_depths(std::span<const i64> ptr, std::span<const i32> parent) {
  Array<i32> result(parent.size(), kUnknown);  // for rows of no graph
  std::vector<i32> depth, path;
  for (i64 g = 0; g + 1 < static_cast<i64>(ptr.size()); ++g) {
    const auto [first, last] = rows_of(ptr, g, parent.size(), "spqr_ptr");
    const i32 n = static_cast<i32>(last - first);
    for (i32 v = 0; v < n; ++v)
      if (parent[first + v] < -1 || parent[first + v] >= n) damaged("spqr_parent", g, v, parent[first + v], n);
    fill_depths(g, n, [&](i32 v) { return parent[first + v]; }, [](i32) { return 0; }, depth, path);
    std::copy(depth.begin(), depth.end(), result.begin() + first);
  }
  return result;
}

BlockCutDepths block_cut_depths(std::span<const i64> block_ptr, std::span<const i32> block_parent_cut, std::span<const i64> cut_ptr,
                                std::span<const i32> cut_parent_block) {
  if (block_ptr.size() != cut_ptr.size()) throw DamagedTables("block_ptr and cut_ptr differ in length. The tables are damaged");
  BlockCutDepths result{Array<i32>(block_parent_cut.size(), kUnknown), Array<i32>(cut_parent_block.size(), kUnknown)};
  std::vector<i32> depth, path;
  for (i64 g = 0; g + 1 < static_cast<i64>(block_ptr.size()); ++g) {
    const auto [b0, b1] = rows_of(block_ptr, g, block_parent_cut.size(), "block_ptr");
    const auto [c0, c1] = rows_of(cut_ptr, g, cut_parent_block.size(), "cut_ptr");
    const i32 blocks = static_cast<i32>(b1 - b0), cuts = static_cast<i32>(c1 - c0);
    const i32* of_block = block_parent_cut.data() + b0;
    const i32* of_cut = cut_parent_block.data() + c0;
    for (i32 b = 0; b < blocks; ++b)
      if (of_block[b] < -1 || of_block[b] >= cuts) damaged("block_parent_cut", g, b, of_block[b], cuts);
    for (i32 c = 0; c < cuts; ++c)
      if (of_cut[c] < -1 || of_cut[c] >= blocks) damaged("cut_parent_block", g, c, of_cut[c], blocks);
    // blocks are 0 .. blocks - 1, cut nodes come after them
    const auto parent = [&](i32 v) { return v >= blocks ? of_cut[v - blocks] : of_block[v] < 0 ? -1 : blocks + of_block[v]; };
    fill_depths(g, blocks + cuts, parent, [&](i32 v) { return v < blocks ? 0 : 1; }, depth, path);
    std::copy(depth.begin(), depth.begin() + blocks, result.block.begin() + b0);
    std::copy(depth.begin() + blocks, depth.end(), result.cut.begin() + c0);
  }
  return result;
}

}  // namespace planegraph
