// The packed result of decomposing many graphs: the arrays of the schema that the core computes (docs/arrays.md).
//
// Every id is local to its graph: graph g owns rows ptr[g] .. ptr[g + 1] of a table, and ids count from 0 within that range.
// Rows are in canonical order: SPQR nodes, blocks and cut nodes stand in the order in which the canonical labelling meets them,
// so two isomorphic graphs have equal tables once node and edge ids are translated by their canonical labellings.
#pragma once

#include <algorithm>
#include <span>

#include "planegraph/graph/array.hpp"
#include "planegraph/tables/schema.hpp"

namespace planegraph {

struct Packed {
#define PLANEGRAPH_OFFSETS(table, core, ...) PLANEGRAPH_IF_##core(Array<i64> table##_ptr;)
#define PLANEGRAPH_COLUMN(name, table, width, of, none, core, ...) PLANEGRAPH_IF_##core(Array<i32> name;)
#define PLANEGRAPH_BYTES(table, core, ...) PLANEGRAPH_IF_##core(Array<i64> table##_ptr; Array<u8> table;)
  PLANEGRAPH_SCHEMA(PLANEGRAPH_OFFSETS, PLANEGRAPH_COLUMN, PLANEGRAPH_BYTES)
#undef PLANEGRAPH_BYTES
#undef PLANEGRAPH_COLUMN
#undef PLANEGRAPH_OFFSETS

  /// The columns of a table. Those of `node` have the offsets of the batch's nodes.
  using Columns = std::span<Array<i32> Packed::* const>;
  static consteval Columns columns(Table table);

  /// A table with its own offsets.
  struct WithOffsets {
    Array<i64> Packed::* ptr;
    Columns columns;
  };
  /// All of these but the codes, whose rows are bytes.
  static std::span<const WithOffsets> tables();

  /// Calls visit(name, array) for all arrays of a (const or not) Packed, in the order of the schema.
  template <class Given, class Visit>
  static void for_each(Given& packed, Visit&& visit) {
#define PLANEGRAPH_OFFSETS(table, core, ...) PLANEGRAPH_IF_##core(visit(#table "_ptr", packed.table##_ptr);)
#define PLANEGRAPH_COLUMN(name, table, width, of, none, core, ...) PLANEGRAPH_IF_##core(visit(#name, packed.name);)
#define PLANEGRAPH_BYTES(table, core, ...) \
  PLANEGRAPH_IF_##core(visit(#table "_ptr", packed.table##_ptr); visit(#table, packed.table);)
    PLANEGRAPH_SCHEMA(PLANEGRAPH_OFFSETS, PLANEGRAPH_COLUMN, PLANEGRAPH_BYTES)
#undef PLANEGRAPH_BYTES
#undef PLANEGRAPH_COLUMN
#undef PLANEGRAPH_OFFSETS
  }

  bool operator==(const Packed&) const = default;

  /// Empties all arrays; they keep their memory.
  void clear();
  /// The memory that the arrays hold.
  std::size_t bytes() const;
};

namespace detail {

// the columns of Packed and the table of each; those of one table stand together
#define PLANEGRAPH_COLUMN(name, table, width, of, none, core, ...) PLANEGRAPH_IF_##core(&Packed::name, )
inline constexpr Array<i32> Packed::* kPackedColumns[] = {
    PLANEGRAPH_SCHEMA(PLANEGRAPH_NO_OFFSETS, PLANEGRAPH_COLUMN, PLANEGRAPH_NO_BYTES)};
#undef PLANEGRAPH_COLUMN
#define PLANEGRAPH_COLUMN(name, table, width, of, none, core, ...) PLANEGRAPH_IF_##core(Table::table, )
inline constexpr Table kPackedTables[] = {PLANEGRAPH_SCHEMA(PLANEGRAPH_NO_OFFSETS, PLANEGRAPH_COLUMN, PLANEGRAPH_NO_BYTES)};
#undef PLANEGRAPH_COLUMN

}  // namespace detail

consteval Packed::Columns Packed::columns(Table table) {
  const auto* const first = std::find(std::begin(detail::kPackedTables), std::end(detail::kPackedTables), table);
  return {detail::kPackedColumns + (first - detail::kPackedTables),
          static_cast<std::size_t>(std::count(first, std::end(detail::kPackedTables), table))};
}

}  // namespace planegraph
