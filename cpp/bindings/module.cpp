// planegraph._core: the core's contract as Python functions over numpy arrays.
//
// Thin on purpose: the Python side has already made arrays of the right dtype, shape and layout (anything else is a TypeError
// here), the core checks their content. Results are numpy arrays that own the vectors of the core, without a copy. The GIL is
// released while the core runs; between chunks of small graphs, between the steps of a large one and between the planarity tests of a
// witness the calling thread takes it, at most every 50 ms, to see whether Ctrl-C was pressed.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings/support.hpp"
#include "planegraph/planarity/planarity.hpp"
#include "planegraph/tables/batch.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace planegraph;

namespace {

using Offsets = nb::ndarray<const i64, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NodeKeys = nb::ndarray<const i64, nb::ndim<2>, nb::c_contig, nb::device::cpu>;  // (N, w)
using EdgeKeys = nb::ndarray<const i64, nb::ndim<3>, nb::c_contig, nb::device::cpu>;  // (E, 1 or 2, w)

// ---- results ---------------------------------------------------------------------------------------------------------

nb::dict to_dict(Packed&& p) {
  nb::dict d;
  Packed::for_each(p, [&](const char* name, auto& array) { d[name] = own(std::move(array)); });
  return d;
}

/// (name, table, dtype, integers per row, table of its ids or None, whether -1 may occur, core, file, batch) of each array of the schema.
nb::list columns() {
  constexpr const char* kTypes[] = {"int64", "int32", "uint8"};  // by ArrayInfo::Kind
  nb::list result;
  for (const ArrayInfo& a : kSchema) {
    const nb::object of = a.of == nullptr ? nb::none() : nb::cast(a.of);
    result.append(nb::make_tuple(a.name, a.table, kTypes[a.kind], a.width, of, a.none, a.core, a.file, a.batch));
  }
  return result;
}

// ---- errors ----------------------------------------------------------------------------------------------------------

[[noreturn]] void raise_invalid(const std::string& message, i64 graph, i64 num_graphs) {
  const bool say_which = graph >= 0 && num_graphs > 1;
  const std::string where = say_which ? "graph " + std::to_string(graph) + ": " : "";
  if (graph < 0) raise_error("InvalidGraphError", where + message, nb::none());
  raise_error("InvalidGraphError", where + message, graph);
}

[[noreturn]] void raise_not_planar(const NotPlanar& e, const BatchView& batch) {
  const i64 graph = e.graph < 0 ? 0 : e.graph;
  const i64* edges = batch.edges + 2 * batch.edge_ptr[graph];
  std::vector<i64> pairs;
  pairs.reserve(2 * e.witness.size());
  for (const i32 id : e.witness) {
    pairs.push_back(edges[2 * static_cast<i64>(id)]);
    pairs.push_back(edges[2 * static_cast<i64>(id) + 1]);
  }
  const std::string which = batch.num_graphs > 1 ? "graph " + std::to_string(graph) + " is not planar" : "the graph is not planar";
  raise_error("NotPlanarError",
              which + ": " + std::to_string(e.witness.size()) + " of its edges form a subdivision of K5 or K3,3 (see .witness)",
              own(std::move(pairs), 2), graph);
}

/// Keeps the working memory between calls. Never destroyed: threads may still use it while the interpreter shuts down. Made when the
/// module is loaded, not on first use: a fork then finds no thread half-way through.
Engine& engine = *new Engine();

// ---- the batch driver ------------------------------------------------------------------------------------------------

BatchView batch_view(const Offsets& node_ptr, const Offsets& edge_ptr, const Edges& edges) {
  if (node_ptr.shape(0) == 0 || node_ptr.shape(0) != edge_ptr.shape(0))
    throw nb::value_error("node_ptr and edge_ptr must have one entry per graph and one more");
  BatchView batch;
  batch.num_graphs = static_cast<i64>(node_ptr.shape(0)) - 1;
  batch.node_ptr = node_ptr.data();
  batch.edge_ptr = edge_ptr.data();
  batch.edges = edges.data();
  return batch;
}

/// The core counts the columns of labels in 32 bits.
i32 width_of(size_t columns, const char* what) {
  if (columns > static_cast<size_t>(INT32_MAX))
    raise_error("InvalidGraphError", std::string(what) + " labels have at most 2^31 - 1 columns; found " + std::to_string(columns) +
                                         ". Number the distinct rows, and give the numbers as one column");
  return static_cast<i32>(columns);
}

/// A batch with labels, and how many nodes it is said to have.
struct Labelled {
  Labelled(const Offsets& node_ptr, const Offsets& edge_ptr, const Edges& edges, const std::optional<NodeKeys>& node_keys,
           bool node_float, const std::optional<EdgeKeys>& edge_keys, bool edge_float)
      : batch(batch_view(node_ptr, edge_ptr, edges)), total_edges(static_cast<i64>(edges.shape(0))) {
    total_nodes = batch.node_ptr[batch.num_graphs];
    if (node_keys) {
      total_nodes = static_cast<i64>(node_keys->shape(0));
      batch.node_labels = {node_keys->data(), width_of(node_keys->shape(1), "node"), node_float};
    }
    if (edge_keys) {
      if (static_cast<i64>(edge_keys->shape(0)) != total_edges || edge_keys->shape(1) < 1 || edge_keys->shape(1) > 2)
        throw nb::value_error("edge_keys must have shape (number of edges, 1 or 2, width)");
      batch.rows_per_edge = static_cast<i32>(edge_keys->shape(1));
      batch.edge_labels = {edge_keys->data(), width_of(edge_keys->shape(2), "edge"), edge_float};
    }
  }

  /// What `work(poll)` returns, without the GIL, after the offsets were checked.
  template <class Work>
  auto run(Work&& work) const {
    try {
      return without_gil([&](auto& poll) {
        check_batch(batch, total_nodes, total_edges);
        return work(poll);
      });
    } catch (const InvalidGraph& e) {
      raise_invalid(e.what(), e.graph, batch.num_graphs);
    } catch (const NotPlanar& e) {
      raise_not_planar(e, batch);
    }
  }

  BatchView batch;
  i64 total_nodes, total_edges;
};

nb::dict run(const Offsets& node_ptr, const Offsets& edge_ptr, const Edges& edges, const std::optional<NodeKeys>& node_keys,
             bool node_float, const std::optional<EdgeKeys>& edge_keys, bool edge_float, bool nonplanar_as_set, bool walks,
             bool codes, int threads) {
  const Labelled given(node_ptr, edge_ptr, edges, node_keys, node_float, edge_keys, edge_float);
  Options options;
  options.nonplanar_as_set = nonplanar_as_set;
  options.walks = walks;
  options.codes = codes;
  options.threads = threads < 1 ? 1 : threads;
  return to_dict(given.run([&](auto& poll) { return engine.run(given.batch, options, poll); }));
}

nb::dict symmetries(const Offsets& node_ptr, const Offsets& edge_ptr, const Edges& edges, const std::optional<NodeKeys>& node_keys,
                    bool node_float, const std::optional<EdgeKeys>& edge_keys, bool edge_float, bool generators, int threads) {
  const Labelled given(node_ptr, edge_ptr, edges, node_keys, node_float, edge_keys, edge_float);
  Symmetries found =
      given.run([&](auto& poll) { return engine.symmetries(given.batch, generators, threads < 1 ? 1 : threads, poll); });
  nb::dict d;
  found.for_each([&](const char* name, auto& array) { d[name] = own(std::move(array)); });
  return d;
}

// ---- planarity of one graph --------------------------------------------------------------------------------------------

bool is_planar(i64 num_nodes, const Edges& edges) {
  const GraphView view = single_graph(num_nodes, edges);
  try {
    const WithoutGil without;
    return PlanarityTest().is_planar(view);
  } catch (const InvalidGraph& e) {
    raise_invalid(e.what(), 0, 1);
  }
}

nb::object planar_mask(const Offsets& node_ptr, const Offsets& edge_ptr, const Edges& edges) {
  const BatchView batch = batch_view(node_ptr, edge_ptr, edges);
  i64 g = -1;
  try {
    std::vector<u8> mask = without_gil([&](auto& poll) {
      check_batch(batch, batch.node_ptr[batch.num_graphs], static_cast<i64>(edges.shape(0)));
      std::vector<u8> planar(static_cast<size_t>(batch.num_graphs));
      PlanarityTest test;
      for (g = 0; g < batch.num_graphs; ++g) {
        if (g % 64 == 0 && !poll()) throw Cancelled();
        planar[static_cast<size_t>(g)] = test.is_planar(graph_view(batch, g));
      }
      return planar;
    });
    return own(std::move(mask));
  } catch (const InvalidGraph& e) {
    raise_invalid(e.what(), g, batch.num_graphs);
  }
}

nb::object kuratowski(i64 num_nodes, const Edges& edges) {
  const GraphView view = single_graph(num_nodes, edges);
  try {
    return own(without_gil([&](auto& poll) { return PlanarityTest().witness(view, poll); }));
  } catch (const InvalidGraph& e) {
    raise_invalid(e.what(), 0, 1);
  }
}

}  // namespace

void bind_collate(nb::module_& m);      // collate.cpp
void bind_sums(nb::module_& m);         // sums.cpp
void bind_diagnostics(nb::module_& m);  // diagnostics.cpp
void bind_planarity(nb::module_& m);    // planarity.cpp

NB_MODULE(_core, m) {
  // what a daemon thread holds when the interpreter ends is never freed, and no fault to tell users of
  nb::set_leak_warnings(false);
  m.doc() = "The C++ core of planegraph. Use the functions of the package planegraph instead; they check their arguments.";
  m.def("run", &run, "node_ptr"_a.noconvert(), "edge_ptr"_a.noconvert(), "edges"_a.noconvert(),
        "node_keys"_a.noconvert().none() = nb::none(), "node_float"_a = false, "edge_keys"_a.noconvert().none() = nb::none(),
        "edge_float"_a = false, nb::kw_only(), "nonplanar_as_set"_a = false, "walks"_a = true, "codes"_a = false, "threads"_a = 1,
        "Decompose and canonise a batch; the arrays of Packed (tables/packed.hpp) by name.");
  m.def("symmetries", &symmetries, "node_ptr"_a.noconvert(), "edge_ptr"_a.noconvert(), "edges"_a.noconvert(),
        "node_keys"_a.noconvert().none() = nb::none(), "node_float"_a = false, "edge_keys"_a.noconvert().none() = nb::none(),
        "edge_float"_a = false, nb::kw_only(), "generators"_a = false, "threads"_a = 1,
        "The automorphisms of each graph of a batch; the arrays of Symmetries (symmetry/symmetries.hpp) by name.");
  m.def("is_planar", &is_planar, "num_nodes"_a, "edges"_a.noconvert(), "Whether one simple graph is planar.");
  m.def("planar_mask", &planar_mask, "node_ptr"_a.noconvert(), "edge_ptr"_a.noconvert(), "edges"_a.noconvert(),
        "1 for each planar graph of a batch of simple graphs, else 0.");
  m.def("kuratowski", &kuratowski, "num_nodes"_a, "edges"_a.noconvert(),
        "Edge ids of a subdivision of K5 or K3,3 in one simple graph, sorted; empty if it is planar.");
  m.attr("COLUMNS") = columns();
  bind_collate(m);
  bind_sums(m);
  bind_diagnostics(m);
  bind_planarity(m);
}
