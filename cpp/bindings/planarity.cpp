// Bindings of embeddings, faces and drawings (planegraph/planarity/, planegraph/drawing/).
//
// The Python side (planegraph/planarity) has checked nodes and cyclic orders, except for `embedding_problem`, which is how it
// does so. The GIL is released, and between the steps of a call Ctrl-C is served.
#include <nanobind/stl/tuple.h>

#include "bindings/support.hpp"
#include "planegraph/drawing/arrangement.hpp"
#include "planegraph/drawing/grid_layout.hpp"
#include "planegraph/drawing/st_numbering.hpp"
#include "planegraph/drawing/sweep.hpp"
#include "planegraph/planarity/faces.hpp"
#include "planegraph/planarity/input_map.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace planegraph;

namespace {

using Darts = nb::ndarray<const i32, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Points = nb::ndarray<const double, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

/// The map with the input's own numbers.
PlaneMap map_of(i64 num_nodes, const Edges& edges, const Darts& next) {
  if (next.shape(0) != 2 * edges.shape(0)) throw nb::value_error("next must have one entry per dart");
  PlaneMap map;
  map.num_nodes = static_cast<i32>(num_nodes);
  map.source.assign(edges.data(), edges.data() + 2 * edges.shape(0));
  map.next.assign(next.data(), next.data() + next.shape(0));
  return map;
}

std::vector<i32> copy_of(const Darts& darts) { return {darts.data(), darts.data() + darts.shape(0)}; }

/// x and y of each node, side by side; node v of the drawing is node_of(v) of the input.
template <class NodeOf>
nb::object coordinates(const GridLayout& layout, NodeOf node_of) {
  std::vector<i64> xy(2 * layout.x.size());
  for (std::size_t v = 0; v < layout.x.size(); ++v) {
    const std::size_t input = node_of(v);
    xy[2 * input] = layout.x[v];
    xy[2 * input + 1] = layout.y[v];
  }
  return own(std::move(xy), 2);
}

nb::object embed(i64 num_nodes, const Edges& edges) {
  const GraphView view = single_graph(num_nodes, edges);
  std::vector<i32> next;
  const bool planar = without_gil([&](auto& poll) {
    InputMap input;
    if (!input.run(view, poll)) return false;
    next = input.next_of_input(view);
    return true;
  });
  return planar ? own(std::move(next)) : nb::none();
}

nb::tuple problem(i64 num_nodes, const Edges& edges, const Darts& next) {
  const PlaneMap map = map_of(num_nodes, edges, next);
  const EmbeddingProblem found = without_gil([&](auto&) { return embedding_problem(map); });
  return nb::make_tuple(found.what, found.node);
}

nb::tuple faces(i64 num_nodes, const Edges& edges, const Darts& next) {
  const PlaneMap map = map_of(num_nodes, edges, next);
  Faces faces;
  Components components;
  std::vector<i32> longest = without_gil([&](auto& poll) {
    faces.run(map);
    if (!poll()) throw Cancelled();
    components.run(map);
    return longest_faces(map, components, faces);
  });
  return nb::make_tuple(own(std::move(faces.ptr)), own(std::move(faces.darts)), own(std::move(faces.of)), own(std::move(longest)),
                        own(std::move(components.of)));
}

nb::tuple triangulate(i64 num_nodes, const Edges& edges, const Darts& next, const Darts& outer) {
  PlaneMap map = map_of(num_nodes, edges, next);
  std::vector<i32> corners = copy_of(outer);
  std::vector<i64> ends = without_gil([&](auto& poll) {
    Triangulation::connect(map, corners);
    if (!poll()) throw Cancelled();
    Triangulation().run(map, corners, true);
    return std::vector<i64>(map.source.begin(), map.source.end());
  });
  return nb::make_tuple(own(std::move(ends), 2), own(std::move(map.next)), own(std::move(corners)));
}

nb::object canonical_order(i64 num_nodes, const Edges& edges, const Darts& next, i32 outer) {
  const PlaneMap map = map_of(num_nodes, edges, next);
  CanonicalOrder canonical;
  {
    const WithoutGil without;
    canonical.start(map);
    canonical.run(map, outer);
  }
  return own(std::move(canonical.order));
}

nb::object grid_layout(i64 num_nodes, const Edges& edges) {
  const GraphView view = single_graph(num_nodes, edges);
  InputMap input;
  GridLayout layout;
  const bool planar = without_gil([&](auto& poll) {
    if (!input.run(view, poll)) return false;
    Faces faces;
    faces.run(input.map);
    Components components;
    components.run(input.map);
    layout.run(input.map, longest_faces(input.map, components, faces), poll);
    return true;
  });
  if (!planar) return nb::none();
  return coordinates(layout, [&](std::size_t v) { return static_cast<std::size_t>(input.graph.node_of[v]); });
}

nb::object grid_layout_of(i64 num_nodes, const Edges& edges, const Darts& next, const Darts& outer) {
  PlaneMap map = map_of(num_nodes, edges, next);
  GridLayout layout;
  without_gil([&](auto& poll) { layout.run(map, copy_of(outer), poll); });
  return coordinates(layout, [](std::size_t v) { return v; });
}

nb::tuple drawing(const Points& points, const Edges& edges) {
  Drawing found = without_gil([&](auto& poll) {
    return read_drawing(static_cast<i32>(points.shape(0)), static_cast<i32>(edges.shape(0)), edges.data(),
                        reinterpret_cast<const Point*>(points.data()), poll);
  });
  return nb::make_tuple(static_cast<i32>(found.flaw), found.a, found.b, own(std::move(found.next)), own(std::move(found.outer)));
}

nb::tuple arrangement(const Points& points, const Edges& edges) {
  Arrangement made = without_gil([&](auto& poll) {
    return arrange(static_cast<i32>(points.shape(0)), static_cast<i32>(edges.shape(0)), edges.data(),
                   reinterpret_cast<const Point*>(points.data()), poll);
  });
  return nb::make_tuple(nb::make_tuple(made.first_at_same_point, made.second_at_same_point), own(std::move(made.crossings), 2),
                        own(std::move(made.edges), 2), own(std::move(made.source)), own(std::move(made.along), 2),
                        own(std::move(made.ptr)), own(std::move(made.parts)), own(std::move(made.next)),
                        own(std::move(made.outer)));
}

nb::tuple number_st(i64 num_nodes, const Edges& edges, i32 s, i32 t) {
  const GraphView view = single_graph(num_nodes, edges);
  std::vector<i32> number;
  i32 cut = -1;
  {
    const WithoutGil without;
    cut = st_numbering(view, s, t, number);
  }
  return nb::make_tuple(cut, own(std::move(number)));
}

}  // namespace

void bind_planarity(nb::module_& m) {
  m.def(
      "embed", &embed, "num_nodes"_a, "edges"_a.noconvert(),
      "The dart after each dart, counter-clockwise around its source, in a planar embedding of one simple graph; None if there is none.");
  m.def("embedding_problem", &problem, "num_nodes"_a, "edges"_a.noconvert(), "next"_a.noconvert(),
        "(what is wrong with cyclic orders as a planar embedding, empty if nothing is; the node that stands for {} in it).");
  m.def(
      "faces", &faces, "num_nodes"_a, "edges"_a.noconvert(), "next"_a.noconvert(),
      "(offsets, darts by face, face of each dart, a dart of the longest face of each component that has an edge, component of each "
      "node or -1).");
  m.def("triangulate", &triangulate, "num_nodes"_a, "edges"_a.noconvert(), "next"_a.noconvert(), "outer"_a.noconvert(),
        "(edges, next, a dart on the outer face) of a triangulation of all faces; the edges given come first.");
  m.def(
      "canonical_order", &canonical_order, "num_nodes"_a, "edges"_a.noconvert(), "next"_a.noconvert(), "outer"_a,
      "A canonical order of a connected graph whose faces are triangles, but for that of dart `outer`, which leads from v2 to v1.");
  m.def("grid_layout", &grid_layout, "num_nodes"_a, "edges"_a.noconvert(),
        "Points of the integer grid for a straight-line drawing of one simple graph; None if it is not planar.");
  m.def("grid_layout_of", &grid_layout_of, "num_nodes"_a, "edges"_a.noconvert(), "next"_a.noconvert(), "outer"_a.noconvert(),
        "The same for a given embedding, with a dart on the outer face of each component that has an edge.");
  m.def("read_drawing", &drawing, "points"_a.noconvert(), "edges"_a.noconvert(),
        "(flaw, its a, its b, next, a dart on each outer face) of a straight-line drawing (planegraph/drawing/sweep.hpp).");
  m.def(
      "arrange", &arrangement, "points"_a.noconvert(), "edges"_a.noconvert(),
      "((two nodes at one point or -1), points of crossings, edges, source, along, ptr, parts, next, a dart on each outer face) of a "
      "drawing with crossings (planegraph/drawing/arrangement.hpp).");
  m.def(
      "st_numbering", &number_st, "num_nodes"_a, "edges"_a.noconvert(), "s"_a, "t"_a,
      "(-1, position of each node), or (a node that separates the graph with the edge s-t, or num_nodes if it is not connected, empty).");
}
