// Names shared by every step of the core: integer types, views of the input, and the errors the core can throw.
//
// The core knows no Python. It reads flat arrays that the caller owns, and keeps its own working memory in objects
// that are reused from graph to graph.
//
// Darts. Edge e = (u, v) has two darts: 2e goes u -> v, 2e + 1 goes v -> u. The reverse of dart d is d ^ 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace planegraph {

using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// The type of an SPQR node, also in the tables (docs/arrays.md).
enum SpqrType : i32 { kS = 0, kP = 1, kQ = 2, kR = 3 };

/// Rows of 64-bit keys whose integer order is the order of the labels (floats are mapped monotonically by the caller).
/// `width == 0` means: no labels.
struct LabelView {
  const i64* rows = nullptr;
  i32 width = 0;
  bool is_float = false;  // only decides how the canonical code tells the reader to decode the keys
};

/// One input graph: edges as pairs of node ids, each undirected edge once. Nothing is assumed about the values.
struct GraphView {
  i64 num_nodes = 0;
  i64 num_edges = 0;
  const i64* edges = nullptr;  // 2 * num_edges
  LabelView node_labels;       // num_nodes rows
  LabelView edge_labels;       // rows_per_edge * num_edges rows
  i32 rows_per_edge = 1;       // 1: both darts carry the same label; 2: row 2e + k belongs to dart 2e + k
  bool multigraph = false;     // may edges be parallel?
};

/// The input is not a simple undirected graph. `what()` says what was found and where.
class InvalidGraph : public std::runtime_error {
 public:
  explicit InvalidGraph(const std::string& message) : std::runtime_error(message) {}
  i64 graph = -1;  // index in the batch
};

/// The graph is not planar; `witness` holds the edge ids of a subdivision of K5 or K3,3.
class NotPlanar : public std::runtime_error {
 public:
  explicit NotPlanar(std::vector<i32> witness_edges)
      : std::runtime_error("graph is not planar"), witness(std::move(witness_edges)) {}
  std::vector<i32> witness;
  i64 graph = -1;
};

/// Asked now and then during long work; false ends it with Cancelled.
using KeepGoing = std::function<bool()>;

/// The caller's poll function asked to stop.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("cancelled") {}
};

}  // namespace planegraph
