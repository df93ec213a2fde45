// Makes a map of a straight-line drawing with crossings: edges are cut where they cross, touch or overlap.
//
// What is computed. The arrangement of the edges as a graph in the plane: its nodes are the input's and the points where edges cross, each point
// once, however many edges meet there. A node that lies on an edge cuts it. Where edges overlap, their common pieces are one edge, which belongs
// to the first of them. Decisions (who crosses whom, in which order, around a node in which order) are exact, so the orders are those of the true
// arrangement; only the coordinates of crossings are rounded.
//
// How. A kd-tree of the edges gives pairs that are near each other and share no node: boxes are halved while that separates their edges.
// Pairs are tested by `orientation`. Edges that share a node overlap if they leave it in the same direction, so they are sorted around it. Crossings along an edge are compared as quotients of determinants, with doubles first and without rounding if these are
// too close. Around a node, edges are sorted by the lines that they lie on, which are those of the input.
//
// Cost. O((n + m + k) log n) for k near pairs, of which crossings are one kind. Where boxes do not separate, as long edges side by side or at
// two hubs of very high degree joined to the same nodes, there are up to m^2 others. Coordinates are 0 or between 2^-200 and 2^250 in magnitude: determinants are multiplied.
//
// Source: ours; chains of doubles as in orientation.hpp.
#pragma once

#include "planegraph/drawing/orientation.hpp"
#include "planegraph/graph/types.hpp"

namespace planegraph {

struct Arrangement {
  i32 first_at_same_point = -1, second_at_same_point = -1;  // two nodes at one point: then nothing else is set
  std::vector<double> crossings;                            // x and y of nodes n, n + 1, ...
  std::vector<i64> edges;                                   // pairs of nodes
  std::vector<i32> source;                                  // per edge: the input edge, whose direction it has
  std::vector<double> along;                                // per edge: where on it (from 0 to 1) it begins and ends
  std::vector<i32> ptr, parts;                              // the edges along input edge e: parts[ptr[e] .. ptr[e + 1])
  std::vector<i32> next, outer;                             // as in Drawing (sweep.hpp)
};

/// Edges are pairs of different nodes in range, without parallels; coordinates are as said above.
Arrangement arrange(i32 num_nodes, i32 num_edges, const i64* edges, const Point* points, const KeepGoing& keep_going);

}  // namespace planegraph
