// Bindings for tests and benchmarks only (planegraph/canon/diagnostics.hpp).
#include "planegraph/canon/diagnostics.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <ctime>

namespace nb = nanobind;
using namespace nb::literals;
using namespace planegraph;

namespace {

using Pairs = nb::ndarray<const i32, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<const i32, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Edges = nb::ndarray<const i64, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

nb::object to_numpy(std::vector<i32>&& values) {
  auto* held = new std::vector<i32>(std::move(values));
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<i32>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, i32, nb::ndim<1>>(held->data(), {held->size()}, owner));
}

ColouredMap checked_map(i32 n, const Pairs& edges, const Ints& node_colours, const Ints& dart_colours) {
  const std::size_t m = edges.shape(0);
  if (n < 4 || m < 6) throw nb::value_error("a 3-connected graph has at least 4 nodes and 6 edges");
  if (node_colours.shape(0) != static_cast<std::size_t>(n) || dart_colours.shape(0) != 2 * m)
    throw nb::value_error("one colour per node and one per dart are needed");
  for (std::size_t k = 0; k < 2 * m; ++k)
    if (edges.data()[k] < 0 || edges.data()[k] >= n) throw nb::value_error("an edge names a node that is not there");
  return {n, static_cast<i32>(m), edges.data(), node_colours.data(), dart_colours.data()};
}

/// `next` must permute the darts and keep their sources, otherwise a walk need not end.
std::vector<i32> checked_rotation(const ColouredMap& map, const Ints& next) {
  const std::size_t darts = 2 * static_cast<std::size_t>(map.m);
  if (next.shape(0) != darts) throw nb::value_error("next must have one entry per dart");
  std::vector<i32> rotation(next.data(), next.data() + darts);
  std::vector<u8> seen(darts, 0);
  for (std::size_t d = 0; d < darts; ++d) {
    const i32 t = rotation[d];
    if (t < 0 || static_cast<std::size_t>(t) >= darts || seen[t] || map.edges[t] != map.edges[d])
      throw nb::value_error("next must permute the darts of each node");
    seen[t] = 1;
  }
  return rotation;
}

}  // namespace

void bind_diagnostics(nb::module_& m) {
  m.def(
      "dart_classes",
      [](i32 n, const Pairs& edges, const Ints& node_colours, const Ints& dart_colours) {
        const ColouredMap map = checked_map(n, edges, node_colours, dart_colours);
        std::vector<i32> next, classes;
        if (!dart_classes(map, next, classes)) throw nb::value_error("the graph is not planar");
        return nb::make_tuple(to_numpy(std::move(next)), to_numpy(std::move(classes)));
      },
      "n"_a, "edges"_a.noconvert(), "node_colours"_a.noconvert(), "dart_colours"_a.noconvert(),
      "For tests: the rotation of a 3-connected planar graph and the class of each state 2 * dart + mirrored.");
  m.def(
      "chosen_start",
      [](i32 n, const Pairs& edges, const Ints& node_colours, const Ints& dart_colours, const Ints& next) {
        const ColouredMap map = checked_map(n, edges, node_colours, dart_colours);
        return chosen_start(map, checked_rotation(map, next));
      },
      "n"_a, "edges"_a.noconvert(), "node_colours"_a.noconvert(), "dart_colours"_a.noconvert(), "next"_a.noconvert(),
      "For tests: the state from which the walk of such a root starts.");
  m.def(
      "weinberg_code",
      [](i32 n, const Pairs& edges, const Ints& node_colours, const Ints& dart_colours, const Ints& next, i32 start_dart,
         bool mirror) {
        const ColouredMap map = checked_map(n, edges, node_colours, dart_colours);
        if (start_dart < 0 || start_dart >= 2 * map.m) throw nb::value_error("start_dart is out of range");
        return to_numpy(weinberg_code(map, checked_rotation(map, next), start_dart, mirror));
      },
      "n"_a, "edges"_a.noconvert(), "node_colours"_a.noconvert(), "dart_colours"_a.noconvert(), "next"_a.noconvert(),
      "start_dart"_a, "mirror"_a, "For tests: the code of Weinberg's walk from one start.");
  m.def(
      "dfs_yardstick",
      [](i64 num_nodes, const Edges& edges) {
        const i64 m = static_cast<i64>(edges.shape(0));
        for (i64 k = 0; k < 2 * m; ++k)
          if (edges.data()[k] < 0 || edges.data()[k] >= num_nodes) throw nb::value_error("an edge names a node that is not there");
        const std::clock_t before = std::clock();
        const i64 reached = plain_search(num_nodes, m, edges.data());
        const std::clock_t after = std::clock();
        if (reached != num_nodes) throw nb::value_error("the search missed a node");
        return static_cast<double>(after - before) / CLOCKS_PER_SEC;
      },
      "num_nodes"_a, "edges"_a.noconvert(),
      "For benchmarks: seconds of CPU time of building adjacency lists and one depth-first search.");
}
