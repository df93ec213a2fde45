// The idea, the invariants and the cost are described in packed.hpp.
#include "packed.hpp"

namespace planegraph {
namespace {

template <class P, class Visit>
void for_each_array(P& packed, Visit&& visit) {
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

const std::vector<Packed::Table>& Packed::tables() {
  using P = Packed;
  static const std::vector<Table> all{
      {&P::walk_ptr, {&P::walk_node, &P::walk_edge, &P::walk_other, &P::walk_kappa, &P::walk_pos, &P::walk_spqr}},
      {&P::spqr_ptr, {&P::spqr_type, &P::spqr_set, &P::spqr_parent, &P::spqr_theta, &P::spqr_level, &P::spqr_block}},
      {&P::block_ptr, {&P::block_root, &P::block_level, &P::block_parent_cut}},
      {&P::cut_ptr, {&P::cut_node, &P::cut_level, &P::cut_parent_block}},
      {&P::node_spqr_ptr, {&P::node_spqr_node, &P::node_spqr_spqr}},
      {&P::node_block_ptr, {&P::node_block_node, &P::node_block_block}},
  };
  return all;
}

void Packed::clear() {
  for_each_array(*this, [](auto& array) { array.clear(); });
}

std::size_t Packed::bytes() const {
  std::size_t sum = 0;
  for_each_array(*this, [&](const auto& array) { sum += array.capacity() * sizeof(array[0]); });
  return sum;
}

}  // namespace planegraph
