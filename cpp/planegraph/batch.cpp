#include "batch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "code.hpp"
#include "emit.hpp"
#include "kuratowski.hpp"
#include "memory.hpp"

namespace planegraph {
namespace {

constexpr i64 kChunkNodes = 4096;  // a chunk of graphs has at least this many nodes, but for the last

/// Everything that one thread needs, reused from graph to graph.
class Pipeline {
 public:
  void run(const GraphView& view, const Options& options, Packed& out) {
    graph_.load(view);
    blocks_.run(graph_);
    spqr_.run(graph_, blocks_);
    rotations_.run(graph_, spqr_);
    if (!rotations_.all_planar && (options.codes || !options.nonplanar_as_set)) throw NotPlanar(witness(view));
    walks_.run(graph_, blocks_, spqr_, rotations_);
    emitter_.run(graph_, blocks_, spqr_, rotations_, walks_, options.walks, out);
    if (!options.codes) return;
    if (out.code_ptr.empty()) out.code_ptr.push_back(0);
    coder_.append(view, graph_, emitter_.canonical, out.code);
    out.code_ptr.push_back(static_cast<i64>(out.code.size()));
  }

 private:
  static std::vector<i32> witness(const GraphView& view) {
    std::vector<i32> eu(view.num_edges), ev(view.num_edges);
    for (i64 e = 0; e < view.num_edges; ++e) {
      eu[e] = static_cast<i32>(view.edges[2 * e]);
      ev[e] = static_cast<i32>(view.edges[2 * e + 1]);
    }
    return kuratowski_subgraph(static_cast<i32>(view.num_nodes), static_cast<i32>(view.num_edges), eu.data(), ev.data());
  }

  Graph graph_;
  Blocks blocks_;
  Spqr spqr_;
  Rotations rotations_;
  Walks walks_;
  Emitter emitter_;
  Coder coder_;
};

GraphView graph_view(const BatchView& batch, i64 k) {
  const i64 node = batch.node_ptr[k], edge = batch.edge_ptr[k];
  GraphView view;
  view.num_nodes = batch.node_ptr[k + 1] - node;
  view.num_edges = batch.edge_ptr[k + 1] - edge;
  view.edges = batch.edges + 2 * edge;
  view.node_labels = batch.node_labels;
  if (view.node_labels.rows) view.node_labels.rows += node * view.node_labels.width;
  view.edge_labels = batch.edge_labels;
  if (view.edge_labels.rows) view.edge_labels.rows += edge * batch.rows_per_edge * view.edge_labels.width;
  view.rows_per_edge = batch.rows_per_edge;
  return view;
}

/// Bounds of runs of graphs that are worth one trip to the queue.
std::vector<i64> chunk_bounds(const BatchView& batch) {
  std::vector<i64> bounds{0};
  for (i64 k = 0; k < batch.num_graphs; ++k)
    if (k + 1 == batch.num_graphs || batch.node_ptr[k + 1] - batch.node_ptr[bounds.back()] >= kChunkNodes || k + 1 - bounds.back() >= kChunkNodes)
      bounds.push_back(k + 1);
  return bounds;
}

/// Runs job(0 .. count) on `threads` threads, of which the caller is one. Jobs are taken in order. The first error in job order
/// is rethrown; `poll` is asked by the caller between its jobs, and while it waits for the others.
template <class Job>
void run_jobs(i64 count, int threads, const std::function<bool()>& poll, Job&& job) {
  std::atomic<i64> next{0}, failed{count};
  std::atomic<int> working{0};
  std::atomic<bool> cancelled{false};
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&](int worker, bool may_poll) {
    while (!cancelled.load(std::memory_order_relaxed)) {
      const i64 k = next.fetch_add(1);
      if (k >= count || k > failed.load()) return;
      try {
        job(worker, k);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (k < failed.load()) {
          failed.store(k);
          error = std::current_exception();
        }
      }
      if (may_poll && !poll()) cancelled.store(true);
    }
  };
  std::vector<std::thread> pool;
  const int extra = static_cast<int>(std::min<i64>(threads, count)) - 1;
  for (int t = 1; t <= extra; ++t) {
    working.fetch_add(1);
    pool.emplace_back([&, t] {
      work(t, false);
      working.fetch_sub(1);
    });
  }
  work(0, true);
  while (working.load() > 0 && !cancelled.load()) {
    if (!poll()) cancelled.store(true);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  for (std::thread& thread : pool) thread.join();
  if (cancelled.load()) throw Cancelled();
  if (error) std::rethrow_exception(error);
}

/// Joins the parts in order. Offsets of parts become offsets of the whole.
Packed join(std::vector<Packed>& parts, int threads) {
  if (parts.size() == 1) return std::move(parts[0]);
  Packed whole;
  // sizes first, so that all parts can be copied at once
  std::vector<std::vector<std::size_t>> starts;  // per array, in the order of for_each_array; per part
  const auto for_each_array = [](Packed& p, auto&& visit) {
    p.for_each_table([&](auto& ptr, auto&... columns) {
      visit(ptr, true);
      (visit(columns, false), ...);
    });
    visit(p.node_component, false);
    visit(p.labelling, false);
  };
  for (Packed& part : parts) {
    std::size_t k = 0;
    for_each_array(part, [&](auto& array, bool offsets) {
      if (starts.size() <= k) starts.emplace_back(1, 0);
      // every part repeats the 0 at its front; only the first keeps it
      const std::size_t rows = offsets ? (array.empty() ? 0 : array.size() - 1) : array.size();
      starts[k].push_back(starts[k].back() + rows);
      ++k;
    });
  }
  std::size_t k = 0;
  std::vector<bool> present;
  for_each_array(parts[0], [&](auto& array, bool) { present.push_back(!array.empty()); });
  for_each_array(whole, [&](auto& array, bool offsets) {
    array.resize(starts[k].back() + (offsets && present[k] ? 1 : 0));
    if (offsets && present[k]) array[0] = 0;
    ++k;
  });
  std::vector<void*> target;
  for_each_array(whole, [&](auto& array, bool) { target.push_back(array.data()); });
  const auto copy_part = [&](int, i64 p) {
    std::size_t a = 0;
    for_each_array(parts[p], [&](auto& array, bool offsets) {
      using T = typename std::remove_reference_t<decltype(array)>::value_type;
      T* const to = static_cast<T*>(target[a]) + starts[a][p];
      if (offsets) {
        const T before = static_cast<T>(starts[a + 1][p]);  // rows of this table in earlier parts: its first column follows
        for (std::size_t i = 1; i < array.size(); ++i) to[i] = array[i] + before;
      } else {
        std::copy(array.begin(), array.end(), to);
      }
      ++a;
    });
    parts[p] = Packed();
  };
  run_jobs(static_cast<i64>(parts.size()), threads, [] { return true; }, copy_part);
  return whole;
}

}  // namespace

void check_batch(const BatchView& batch, i64 total_nodes, i64 total_edges) {
  const auto check = [&](const char* name, const i64* ptr, i64 total) {
    if (ptr[0] != 0) throw InvalidGraph(std::string(name) + "[0] must be 0, found " + std::to_string(ptr[0]));
    for (i64 k = 0; k < batch.num_graphs; ++k)
      if (ptr[k + 1] < ptr[k])
        throw InvalidGraph(std::string(name) + " must not fall, found " + std::to_string(ptr[k]) + " then " +
                           std::to_string(ptr[k + 1]) + " at index " + std::to_string(k + 1));
    if (ptr[batch.num_graphs] != total)
      throw InvalidGraph(std::string(name) + " must end at " + std::to_string(total) + ", found " +
                         std::to_string(ptr[batch.num_graphs]));
  };
  check("node_ptr", batch.node_ptr, total_nodes);
  check("edge_ptr", batch.edge_ptr, total_edges);
}

Packed run_batch(const BatchView& batch, const Options& options, const std::function<bool()>& poll) {
  const std::vector<i64> bounds = chunk_bounds(batch);
  const i64 chunks = static_cast<i64>(bounds.size()) - 1;
  const int threads = std::max(1, options.threads);
  std::vector<Packed> parts(std::max<i64>(chunks, 1));
  std::vector<Pipeline> pipelines(threads);
  run_jobs(chunks, threads, poll, [&](int worker, i64 chunk) {
    for (i64 k = bounds[chunk]; k < bounds[chunk + 1]; ++k) {
      try {
        pipelines[worker].run(graph_view(batch, k), options, parts[chunk]);
      } catch (InvalidGraph& error) {
        error.graph = k;
        throw;
      } catch (NotPlanar& error) {
        error.graph = k;
        throw;
      }
    }
  });
  pipelines.clear();
  Packed result = join(parts, threads);
  // no graphs at all: the offsets still start at 0
  result.for_each_table([&](auto& ptr, auto&...) {
    if (ptr.empty() && (static_cast<void*>(&ptr) != &result.code_ptr ? options.walks : options.codes)) ptr.push_back(0);
  });
  return result;
}

}  // namespace planegraph
