// The idea, the invariants and the cost are described in packed.hpp.
#include "planegraph/tables/packed.hpp"

namespace planegraph {
namespace {

// Constants, not objects made on first use: threads may still read them while the process ends, and a fork may find none half made.
constexpr Packed::WithOffsets kWithOffsets[] = {
#define PLANEGRAPH_OFFSETS(table, core, ...) PLANEGRAPH_IF_##core({&Packed::table##_ptr, Packed::columns(Table::table)}, )
    PLANEGRAPH_SCHEMA(PLANEGRAPH_OFFSETS, PLANEGRAPH_NO_COLUMN, PLANEGRAPH_NO_BYTES)
#undef PLANEGRAPH_OFFSETS
};

}  // namespace

std::span<const Packed::WithOffsets> Packed::tables() { return kWithOffsets; }

void Packed::clear() {
  for_each(*this, [](const char*, auto& array) { array.clear(); });
}

std::size_t Packed::bytes() const {
  std::size_t sum = 0;
  for_each(*this, [&](const char*, const auto& array) { sum += array.capacity() * sizeof(array[0]); });
  return sum;
}

}  // namespace planegraph
