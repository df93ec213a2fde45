// Bindings of the collation (planegraph/collate/collate.hpp, planegraph/tables/depths.hpp).
//
// Tables keeps the arrays of a dataset alive and checked for type and shape, so that a batch costs one call with the ids. The GIL is
// released while the core works, and held only to let the caller allocate the buffer (pinned memory, for instance).
#include "planegraph/collate/collate.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "bindings/gil.hpp"
#include "planegraph/tables/depths.hpp"
#include "planegraph/tables/returns.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace planegraph;

namespace {

using Offsets = nb::ndarray<const i64, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Column = nb::ndarray<const i32, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Pairs = nb::ndarray<const i32, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Buffer = nb::ndarray<i32, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const u8, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutBytes = nb::ndarray<u8, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// graphs, nodes, edges, walks, node_spqr, node_block, max_position, and the widths of the slices of SPQR nodes below the roots,
/// of blocks and of cuts, deepest first.
using ShapeTuple = std::tuple<i64, i64, i64, i64, i64, i64, i64, std::vector<i64>, std::vector<i64>, std::vector<i64>>;

template <class Array>
auto span_of(const Array& array) {
  return std::span(array.data(), array.size());
}
std::span<const i64> span_of(const std::optional<Offsets>& array) { return array ? span_of(*array) : std::span<const i64>(); }

template <class Vector>
nb::object to_numpy(Vector&& values) {
  auto held = std::make_unique<Vector>(std::move(values));
  nb::capsule owner(held.get(), [](void* p) noexcept { delete static_cast<Vector*>(p); });
  Vector& kept = *held.release();
  return nb::cast(nb::ndarray<nb::numpy, typename Vector::value_type, nb::ndim<1>>(kept.data(), {kept.size()}, owner));
}

/// Runs `work` without the GIL; what is wrong with the tables becomes planegraph.errors.FormatError.
template <class Work>
auto without_gil(Work&& work) {
  try {
    const WithoutGil without;
    return work();
  } catch (const DamagedTables& e) {
    nb::object type = nb::module_::import_("planegraph.errors").attr("FormatError");
    PyErr_SetString(type.ptr(), e.what());
    throw nb::python_error();
  }
}

// ---- the tables of a dataset -------------------------------------------------------------------------------------------------

struct Tables {
  TablesView view;
  std::vector<nb::object> kept;  // keeps the arrays alive
  using Rows1 = Column;
  using Rows2 = Pairs;

  explicit Tables(nb::object tables) {
#define PLANEGRAPH_OFFSETS(table, core, file, batch) PLANEGRAPH_IF_##batch(view.table##_ptr = take<Offsets>(tables, #table "_ptr");)
#define PLANEGRAPH_COLUMN(name, table, width, of, none, core, file, batch) \
  PLANEGRAPH_IF_##batch(view.name = take<Rows##width>(tables, #name);)
    PLANEGRAPH_SCHEMA(PLANEGRAPH_OFFSETS, PLANEGRAPH_COLUMN, PLANEGRAPH_NO_BYTES)
#undef PLANEGRAPH_COLUMN
#undef PLANEGRAPH_OFFSETS
    without_gil([&] { check_tables(view); });
  }

 private:
  template <class Kind>
  std::span<const typename Kind::Scalar> take(const nb::object& tables, const char* name) {
    nb::object value = tables[name];
    Kind array;
    if (!nb::try_cast<Kind>(value, array, false)) {
      const char* wanted = std::is_same_v<Kind, Offsets> ? "(graphs + 1,), int64"
                           : std::is_same_v<Kind, Pairs> ? "(edges, 2), int32"
                                                         : "(rows,), int32";
      throw nb::type_error((std::string(name) + " must be a contiguous numpy array of shape " + wanted).c_str());
    }
    kept.push_back(std::move(value));
    return {array.data(), array.size()};
  }
};

// ---- shapes ------------------------------------------------------------------------------------------------------------------

std::vector<i64> reversed(std::vector<i64> values) {
  std::reverse(values.begin(), values.end());
  return values;
}

ShapeTuple to_tuple(const Shape& s) {
  return {s.graphs,           s.nodes,         s.edges, s.walks, s.node_spqr, s.node_block, s.max_position, reversed(s.spqr),
          reversed(s.blocks), reversed(s.cuts)};
}

Shape to_shape(const ShapeTuple& given) {
  Shape s;
  std::tie(s.graphs, s.nodes, s.edges, s.walks, s.node_spqr, s.node_block, s.max_position, s.spqr, s.blocks, s.cuts) = given;
  for (auto* widths : {&s.spqr, &s.blocks, &s.cuts}) *widths = reversed(std::move(*widths));
  if (s.blocks.size() != s.cuts.size() + 1) throw nb::value_error("a capacity needs one slice of blocks more than of cut nodes");
  constexpr i64 kMost = INT32_MAX;
  const auto check = [](i64 value) {
    if (value < 0 || value > kMost) throw nb::value_error("the sizes of a capacity must be between 0 and 2^31 - 1");
  };
  for (const i64 value : {s.graphs, s.nodes, s.edges, s.walks, s.node_spqr, s.node_block, s.max_position}) check(value);
  for (const auto* widths : {&s.spqr, &s.blocks, &s.cuts}) std::for_each(widths->begin(), widths->end(), check);
  for (const i64 value : {2 * s.edges, s.num_spqr(), s.num_cuts()}) check(value);
  return s;
}

// ---- calls -------------------------------------------------------------------------------------------------------------------

nb::object allocated(const nb::object& allocate, i64 length) {
  if (allocate.is_none()) return to_numpy(Array<i32>(static_cast<std::size_t>(length)));
  return allocate(length);
}

/// (buffer, shape), or (None, shape) if the capacity does not hold the batch.
nb::object collate(const Tables& tables, const Offsets& ids, i32 rows_per_edge, const std::optional<ShapeTuple>& capacity,
                   const std::optional<Offsets>& pool_ptr, const nb::object& allocate) {
  if (rows_per_edge < 0 || rows_per_edge > 2) throw nb::value_error("rows_per_edge must be 0, 1 or 2");
  if (pool_ptr && pool_ptr->size() == 0) throw nb::value_error("pool_ptr needs at least one offset");
  const Gathered batch = without_gil([&] { return gather(tables.view, span_of(ids), span_of(pool_ptr)); });
  const Shape capacity_shape = capacity ? to_shape(*capacity) : Shape();
  if (capacity && !holds(capacity_shape, batch.need)) return nb::make_tuple(nb::none(), to_tuple(batch.need));
  const Shape& shape = capacity ? capacity_shape : batch.need;
  nb::object index = allocated(allocate, buffer_length(shape, rows_per_edge));
  Buffer out;
  if (!nb::try_cast<Buffer>(index, out, false)) throw nb::type_error("allocate must return a writable array of int32");
  without_gil([&] { fill(batch, shape, rows_per_edge, std::span(out.data(), out.size())); });
  return nb::make_tuple(index, to_tuple(batch.need));
}

void gather_features(const Bytes& from, const std::optional<Offsets>& ptr, const Offsets& ids, const OutBytes& to) {
  if (from.shape(1) != to.shape(1)) throw nb::value_error("both matrices must have the same width");
  const i64 width = static_cast<i64>(from.shape(1));
  without_gil([&] { gather_rows(span_of(from), width, span_of(ptr), span_of(ids), std::span(to.data(), to.size())); });
}

nb::object depths(const Offsets& spqr_ptr, const Column& spqr_parent, const Offsets& block_ptr, const Column& block_parent_cut,
                  const Offsets& cut_ptr, const Column& cut_parent_block) {
  Array<i32> spqr;
  BlockCutDepths tree;
  without_gil([&] {
    spqr = spqr_depths(span_of(spqr_ptr), span_of(spqr_parent));
    tree = block_cut_depths(span_of(block_ptr), span_of(block_parent_cut), span_of(cut_ptr), span_of(cut_parent_block));
  });
  return nb::make_tuple(to_numpy(std::move(spqr)), to_numpy(std::move(tree.block)), to_numpy(std::move(tree.cut)));
}

nb::object returns(const Tables& tables, i64 steps) {
  return to_numpy(without_gil([&] { return return_probabilities(tables.view, steps); }));
}

/// (name, unit) of each space.
nb::list spaces() {
  nb::list result;
  for (const SpaceInfo& s : kSpaces) result.append(nb::make_tuple(s.name, s.unit_name));
  return result;
}

/// (name, space, content, target or None, entries beyond one per row, only with edge features) of each section after `counts`.
nb::list sections() {
  const auto name = [](Space s) { return kSpaces[static_cast<std::size_t>(s)].name; };
  nb::list result;
  for (const Section& s : kSections) {
    const nb::object target = s.target == Space::none ? nb::none() : nb::cast(name(s.target));
    result.append(nb::make_tuple(s.name, name(s.space), s.content_name, target, s.extra(), s.with_rows_only));
  }
  return result;
}

}  // namespace

void bind_collate(nb::module_& m) {
  nb::class_<Tables>(m, "Tables", "The tables of a packed dataset, by name; keeps the arrays.")
      .def(nb::init<nb::object>(), "tables"_a);
  m.def("collate", &collate, "tables"_a, "ids"_a.noconvert(), "rows_per_edge"_a, "capacity"_a.none() = nb::none(),
        "pool_ptr"_a.noconvert().none() = nb::none(), "allocate"_a.none() = nb::none(),
        "The buffer of a batch and its shape; (None, shape) if the capacity does not hold it.");
  m.def("gather_rows", &gather_features, "from_"_a.noconvert(), "ptr"_a.noconvert().none(), "ids"_a.noconvert(), "to"_a.noconvert(),
        "Copy the rows of the chosen graphs, one after another; the rest of `to` becomes zero.");
  m.def("depths", &depths, "spqr_ptr"_a.noconvert(), "spqr_parent"_a.noconvert(), "block_ptr"_a.noconvert(),
        "block_parent_cut"_a.noconvert(), "cut_ptr"_a.noconvert(), "cut_parent_block"_a.noconvert(),
        "Depths of SPQR nodes, blocks and cut nodes from their parents.");
  m.def("returns", &returns, "tables"_a, "steps"_a,
        "Probabilities that a random walk is back where it began after 1 to `steps` steps, node by node.");
  m.attr("SPACES") = spaces();
  m.attr("SECTIONS") = sections();
}
