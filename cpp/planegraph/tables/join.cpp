// The idea, the invariants and the cost are described in join.hpp.
#include "planegraph/tables/join.hpp"

#include <algorithm>

namespace planegraph {
namespace {

/// Copies the rows of each chunk from the other workers' columns behind those of the first, and their offsets, shifted.
template <class T>
void join_table(std::vector<Packed>& parts, const std::vector<Chunk>& chunks, const Spread& spread, Array<i64> Packed::* ptr,
                std::span<Array<T> Packed::* const> columns) {
  const bool present = std::any_of(parts.begin(), parts.end(), [&](Packed& p) { return !(p.*ptr).empty(); });
  if (!present) return;
  Packed& whole = parts[0];
  const auto first_row = [&](const Chunk& c) { return (parts[c.worker].*ptr)[c.local_graph]; };
  const auto last_row = [&](const Chunk& c) { return (parts[c.worker].*ptr)[c.local_graph + c.last_graph - c.first_graph]; };
  std::vector<i64> start(chunks.size() + 1, 0);
  for (std::size_t k = 0; k < chunks.size(); ++k) start[k + 1] = start[k] + last_row(chunks[k]) - first_row(chunks[k]);
  (whole.*ptr).resize(static_cast<std::size_t>(chunks.back().last_graph) + 1);
  (whole.*ptr)[0] = 0;
  for (const auto column : columns) (whole.*column).resize(start.back());
  spread(static_cast<i64>(chunks.size()), [&](i64 k) {
    const Chunk& c = chunks[k];
    if (c.worker == 0) return;
    const Packed& part = parts[c.worker];
    const i64 from = first_row(c), to = last_row(c);
    for (const auto column : columns)
      std::copy((part.*column).begin() + from, (part.*column).begin() + to, (whole.*column).begin() + start[k]);
    for (i64 g = c.first_graph; g < c.last_graph; ++g)
      (whole.*ptr)[g + 1] = (part.*ptr)[c.local_graph + g - c.first_graph + 1] - from + start[k];
  });
}

}  // namespace

void join(std::vector<Packed>& parts, const std::vector<Chunk>& chunks, const i64* node_ptr, const Spread& spread) {
  if (parts.size() == 1) return;
  for (const auto& table : Packed::tables()) join_table<i32>(parts, chunks, spread, table.ptr, table.columns);
  constexpr Array<u8> Packed::* kCode[] = {&Packed::code};
  join_table<u8>(parts, chunks, spread, &Packed::code_ptr, kCode);
  for (const auto column : Packed::columns(Table::node)) {
    const bool present = std::any_of(parts.begin(), parts.end(), [&](Packed& p) { return !(p.*column).empty(); });
    if (!present) continue;
    (parts[0].*column).resize(node_ptr[chunks.back().last_graph]);
    spread(static_cast<i64>(chunks.size()), [&](i64 k) {
      const Chunk& c = chunks[k];
      if (c.worker == 0) return;
      const auto from = (parts[c.worker].*column).begin() + c.local_node;
      const i64 count = node_ptr[c.last_graph] - node_ptr[c.first_graph];
      std::copy(from, from + count, (parts[0].*column).begin() + node_ptr[c.first_graph]);
    });
  }
}

}  // namespace planegraph
