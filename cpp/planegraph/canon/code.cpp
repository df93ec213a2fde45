// The idea, the invariants and the cost are described in code.hpp.
#include "planegraph/canon/code.hpp"

#include <algorithm>

#include "planegraph/graph/memory.hpp"
#include "planegraph/graph/small_sort.hpp"

namespace planegraph {
namespace {

constexpr u8 kVersion = 1;
constexpr std::size_t kMany = 4096;  // neighbours of a hub
constexpr i32 kAhead = 8;            // darts by which memory is fetched ahead

/// Writes bytes through a pointer that is checked once per item, not once per byte.
class Writer {
 public:
  explicit Writer(Array<u8>& out) : out_(out), at_(out.size()) { out_.resize(std::max<std::size_t>(out_.capacity(), at_ + 64)); }
  ~Writer() { out_.resize(at_); }
  void byte(u8 x) {
    room();
    out_[at_++] = x;
  }
  void varint(u64 x) {
    room();
    while (x >= 0x80) {
      out_[at_++] = static_cast<u8>(x | 0x80);
      x >>= 7;
    }
    out_[at_++] = static_cast<u8>(x);
  }
  void label(i64 key, bool is_float) {
    if (!is_float) {
      varint((static_cast<u64>(key) << 1) ^ static_cast<u64>(key >> 63));  // zigzag
      return;
    }
    // keys of floats are their bits, with the lower 63 flipped where the sign is set; the same step leads back
    u64 bits = static_cast<u64>(key);
    if (key < 0) bits ^= 0x7FFFFFFFFFFFFFFFull;
    room();
    for (int shift = 56; shift >= 0; shift -= 8) out_[at_++] = static_cast<u8>(bits >> shift);
  }
  void row(const i64* values, i32 width, bool is_float) {
    for (i32 k = 0; k < width; ++k) label(values[k], is_float);
  }

 private:
  void room() {
    if (out_.size() - at_ < 16) out_.resize(2 * out_.size() + 64);
  }
  Array<u8>& out_;
  std::size_t at_;
};

bool has_two_way_labels(const GraphView& view) {
  const LabelView& labels = view.edge_labels;
  if (view.rows_per_edge == 1 || labels.width == 0) return false;
  const i64 width = labels.width;
  for (i64 e = 0; e < view.num_edges; ++e)
    if (!std::equal(labels.rows + 2 * e * width, labels.rows + (2 * e + 1) * width, labels.rows + (2 * e + 1) * width)) return true;
  return false;
}

}  // namespace

void Coder::append(const GraphView& view, const Graph& g, const std::vector<i32>& canonical, Array<u8>& out) {
  const bool two_way = has_two_way_labels(view);
  const LabelView &nodes = view.node_labels, &edges = view.edge_labels;
  Writer w(out);
  w.byte(kVersion);
  w.byte(static_cast<u8>((nodes.is_float && nodes.width > 0) | (edges.is_float && edges.width > 0) << 1 | two_way << 2));
  w.varint(static_cast<u64>(g.n));
  w.varint(static_cast<u64>(g.m));
  w.varint(static_cast<u64>(nodes.width));
  w.varint(static_cast<u64>(edges.width));

  grow(node_at_, g.n);
  for (i32 v = 0; v < g.n; ++v) node_at_[canonical[v]] = v;
  if (nodes.width > 0)
    for (i32 i = 0; i < g.n; ++i) w.row(nodes.rows + i64{g.node_of[node_at_[i]]} * nodes.width, nodes.width, nodes.is_float);

  grow(darts_, g.m);
  i32 written = 0;
  for (i32 i = 0; i < g.n; ++i) {
    const i32 v = node_at_[i];
    neighbours_.clear();
    for (i32 k = g.ptr[v]; k < g.ptr[v + 1]; ++k) {
      if (k + 2 * kAhead < 2 * g.m) {  // neighbours lie anywhere
        prefetch(&g.end[g.out[k + 2 * kAhead] ^ 1]);
        prefetch(&canonical[g.end[g.out[k + kAhead] ^ 1]]);
      }
      const i32 d = g.out[k], j = canonical[g.end[d ^ 1]];
      if (j > i) neighbours_.push_back(static_cast<u64>(j) << 32 | static_cast<u32>(d));
    }
    if (neighbours_.size() > kMany) {
      sort_by_key(neighbours_, spare_, static_cast<u64>(g.n));
    } else {
      small_sort(neighbours_.begin(), neighbours_.end());
    }
    w.varint(neighbours_.size());
    i32 previous = i;
    for (const u64 item : neighbours_) {
      const i32 j = static_cast<i32>(item >> 32);
      w.varint(static_cast<u64>(j - previous - 1));
      previous = j;
      darts_[written++] = static_cast<i32>(item & 0xFFFFFFFFu);
    }
  }
  if (edges.width == 0) return;
  for (i32 k = 0; k < g.m; ++k) {
    const i32 d = darts_[k], e = g.edge_of[d >> 1];
    if (view.rows_per_edge == 1) {
      w.row(edges.rows + i64{e} * edges.width, edges.width, edges.is_float);
      continue;
    }
    const i64 way = view.edges[2 * i64{e}] == g.node_of[g.end[d]] ? 0 : 1;
    w.row(edges.rows + (2 * i64{e} + way) * edges.width, edges.width, edges.is_float);
    if (two_way) w.row(edges.rows + (2 * i64{e} + 1 - way) * edges.width, edges.width, edges.is_float);
  }
}

}  // namespace planegraph
