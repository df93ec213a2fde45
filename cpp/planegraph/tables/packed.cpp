// The idea, the invariants and the cost are described in packed.hpp.
#include "planegraph/tables/packed.hpp"

namespace planegraph {
namespace {

// Constants, not objects made on first use: threads may still read them while the process ends, and a fork may find none half made.
using P = Packed;
using Column = Array<i32> Packed::*;
constexpr Column kWalkColumns[] = {&P::walk_node, &P::walk_edge, &P::walk_other, &P::walk_kappa, &P::walk_pos, &P::walk_spqr};
constexpr Column kSpqrColumns[] = {&P::spqr_type, &P::spqr_set, &P::spqr_parent, &P::spqr_theta, &P::spqr_level, &P::spqr_block};
constexpr Column kBlockColumns[] = {&P::block_root, &P::block_level, &P::block_parent_cut};
constexpr Column kCutColumns[] = {&P::cut_node, &P::cut_level, &P::cut_parent_block};
constexpr Column kNodeSpqrColumns[] = {&P::node_spqr_node, &P::node_spqr_spqr};
constexpr Column kNodeBlockColumns[] = {&P::node_block_node, &P::node_block_block};
constexpr Packed::Table kTables[] = {
    {&P::walk_ptr, kWalkColumns},
    {&P::spqr_ptr, kSpqrColumns},
    {&P::block_ptr, kBlockColumns},
    {&P::cut_ptr, kCutColumns},
    {&P::node_spqr_ptr, kNodeSpqrColumns},
    {&P::node_block_ptr, kNodeBlockColumns},
};

template <class Given, class Visit>
void for_each_array(Given& packed, Visit&& visit) {
  for (const Packed::Table& table : Packed::tables()) {
    visit(packed.*table.ptr);
    for (const auto column : table.columns) visit(packed.*column);
  }
  visit(packed.node_component);
  visit(packed.labelling);
  visit(packed.code_ptr);
  visit(packed.code);
}

}  // namespace

std::span<const Packed::Table> Packed::tables() { return kTables; }

void Packed::clear() {
  for_each_array(*this, [](auto& array) { array.clear(); });
}

std::size_t Packed::bytes() const {
  std::size_t sum = 0;
  for_each_array(*this, [&](const auto& array) { sum += array.capacity() * sizeof(array[0]); });
  return sum;
}

}  // namespace planegraph
