// The tables of a packed dataset as their readers see them: arrays that somebody else owns, and about which nothing is assumed.
#pragma once

#include <span>

#include "planegraph/tables/schema.hpp"

namespace planegraph {

/// Something in the tables cannot be; `what()` says what was found and where.
class DamagedTables : public std::runtime_error {
 public:
  explicit DamagedTables(const std::string& message) : std::runtime_error(message) {}
};

/// The arrays of a packed dataset that batches are made of; a column of two integers per row lies here as pairs.
struct TablesView {
  using Offsets = std::span<const i64>;
  using Column = std::span<const i32>;

#define PLANEGRAPH_OFFSETS(table, core, file, batch) PLANEGRAPH_IF_##batch(Offsets table##_ptr;)
#define PLANEGRAPH_COLUMN(name, table, width, of, none, core, file, batch) PLANEGRAPH_IF_##batch(Column name;)
  PLANEGRAPH_SCHEMA(PLANEGRAPH_OFFSETS, PLANEGRAPH_COLUMN, PLANEGRAPH_NO_BYTES)
#undef PLANEGRAPH_COLUMN
#undef PLANEGRAPH_OFFSETS

  i64 num_graphs() const { return static_cast<i64>(node_ptr.size()) - 1; }
};

}  // namespace planegraph
