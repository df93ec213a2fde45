// The idea, the invariants and the cost are described in batch.hpp.
#include "planegraph/tables/batch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "planegraph/tables/join.hpp"
#include "planegraph/tables/pipeline.hpp"

namespace planegraph {
namespace {

constexpr std::size_t kMostPartBytes = std::size_t{1} << 26;  // of a worker's result that is kept
constexpr i64 kChunkItems = 4096;                             // a chunk has at least this many nodes or graphs, but for the last

/// Runs of graphs that are worth one trip to the queue.
std::vector<Chunk> cut_into_chunks(const BatchView& batch) {
  std::vector<Chunk> chunks;
  for (i64 first = 0, k = 0; k < batch.num_graphs; ++k) {
    const i64 nodes = batch.node_ptr[k + 1] - batch.node_ptr[first], graphs = k + 1 - first;
    if (k + 1 < batch.num_graphs && nodes < kChunkItems && graphs < kChunkItems) continue;
    chunks.push_back({first, k + 1});
    first = k + 1;
  }
  return chunks;
}

/// Threads that are joined however the scope is left; if by an exception, they are told to stop first.
struct Pool {
  std::atomic<bool>& cancelled;
  std::vector<std::thread> threads;
  bool done;
  ~Pool() {
    if (!done) cancelled.store(true);
    for (std::thread& thread : threads) thread.join();
  }
};

/// Hands out the jobs 0 .. count: to worker 0 from the front, to the others from the back, until they meet. So worker 0 has a beginning of
/// the batch without gaps.
class Queue {
 public:
  explicit Queue(i64 count) : end_(count) {}
  /// A job, or -1 if none is left.
  i64 take(int worker) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (next_ == end_) return -1;
    return worker == 0 ? next_++ : --end_;
  }

 private:
  std::mutex mutex_;
  i64 next_ = 0, end_;
};

/// The first exception of a thread needs memory of its own, and glibc aborts the process if there is none: too late for std::bad_alloc. So
/// a thread asks for exceptions before it takes memory for its work. (It throws none: unwinding takes locks, which a fork could catch.)
void make_room_for_exceptions() { [[maybe_unused]] const volatile int none = std::uncaught_exceptions(); }

/// Runs job(worker, 0 .. count, keep_going) on up to `threads` threads, of which the caller is one (worker 0).
/// The error of the first failed job is rethrown; `poll` is asked on the calling thread, between its jobs, whenever its job asks
/// keep_going, and while it waits for the others. A job may end with Cancelled.
template <class Job>
void run_jobs(i64 count, int threads, const KeepGoing& poll, Job&& job) {
  Queue queue(count);
  std::atomic<i64> failed{count};
  std::atomic<int> working{0};
  std::atomic<bool> cancelled{false};
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&](int worker) {
    const KeepGoing keep_going = [&, worker] {
      if (worker == 0 && !cancelled.load() && !poll()) cancelled.store(true);
      return !cancelled.load();
    };
    while (!cancelled.load()) {
      const i64 k = queue.take(worker);
      if (k < 0) return;
      if (k > failed.load()) continue;  // an earlier job may still fail
      try {
        job(worker, k, keep_going);
      } catch (const Cancelled&) {
        return;
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (k < failed.load()) {
          failed.store(k);
          error = std::current_exception();
        }
      }
      keep_going();
    }
  };
  {
    Pool pool{cancelled, {}, false};
    const i64 extra = std::min<i64>(threads, count) - 1;
    pool.threads.reserve(static_cast<std::size_t>(std::max<i64>(extra, 0)));
    for (int t = 1; t <= extra; ++t) {
      working.fetch_add(1);
      try {
        pool.threads.emplace_back([&, t] {
          make_room_for_exceptions();
          work(t);
          working.fetch_sub(1);
        });
      } catch (const std::system_error&) {  // no more threads to be had: those there are do the work
        working.fetch_sub(1);
        break;
      }
    }
    work(0);
    while (working.load() > 0) {
      if (!cancelled.load() && !poll()) cancelled.store(true);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    pool.done = true;
  }
  if (cancelled.load()) throw Cancelled();
  if (error) std::rethrow_exception(error);
}

/// Runs work(k) for the graphs of a chunk; their errors get to know which graph they are about.
template <class Work>
void run_graphs(const Chunk& chunk, Work&& work) {
  for (i64 k = chunk.first_graph; k < chunk.last_graph; ++k) {
    try {
      work(k);
    } catch (InvalidGraph& error) {
      error.graph = k;
      throw;
    } catch (NotPlanar& error) {
      error.graph = k;
      throw;
    }
  }
}

/// One worker's pipeline and result.
class Worker {
 public:
  Worker(const BatchView& batch, const Options& options, Pipeline& pipeline, Packed& out)
      : batch_(batch), options_(options), pipeline_(pipeline), out_(out) {}

  void run(Chunk& chunk, const KeepGoing& keep_going) {
    chunk.local_graph = graphs_;
    chunk.local_node = nodes_;
    run_graphs(chunk, [&](i64 k) { pipeline_.run(graph_view(batch_, k), options_, keep_going, out_); });
    graphs_ += chunk.last_graph - chunk.first_graph;
    nodes_ += batch_.node_ptr[chunk.last_graph] - batch_.node_ptr[chunk.first_graph];
  }

  /// After the first chunk: room for this part of the batch, so that the columns need not grow by copying.
  /// Tables grow with the number of nodes.
  void reserve(double part) {
    if (reserved_) return;
    reserved_ = true;
    const double all = static_cast<double>(batch_.node_ptr[batch_.num_graphs] + batch_.num_graphs);
    const double share = 1.05 * part * all / static_cast<double>(nodes_ + graphs_);
    Packed::for_each(out_, [&](const char*, auto& array) {
      array.reserve(static_cast<std::size_t>(static_cast<double>(array.size()) * share) + 64);
    });
  }

 private:
  const BatchView& batch_;
  const Options& options_;
  Pipeline& pipeline_;
  Packed& out_;
  i64 graphs_ = 0, nodes_ = 0;
  bool reserved_ = false;
};

}  // namespace

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
  if (view.num_nodes == 0) view.node_labels = {};  // labels on nothing are no labels
  if (view.num_edges == 0) view.edge_labels = {};
  return view;
}

Engine::Engine() = default;
Engine::~Engine() = default;

std::unique_ptr<Pipeline> Engine::borrow() {
  std::unique_ptr<Pipeline> pipeline = idle_.take();
  if (!pipeline) return std::make_unique<Pipeline>();
  pipeline->begin();
  return pipeline;
}

void Engine::give_back(std::unique_ptr<Pipeline> pipeline) {
  if (pipeline->worth_keeping()) idle_.put(std::move(pipeline));
}

Packed Engine::borrow_part() {
  const std::unique_ptr<Packed> part = parts_.take();
  return part ? std::move(*part) : Packed();
}

void Engine::give_back(Packed part) {
  part.clear();
  if (part.bytes() <= kMostPartBytes) parts_.put(std::make_unique<Packed>(std::move(part)));
}

Packed Engine::run(const BatchView& batch, const Options& options, const KeepGoing& poll) {
  std::vector<Chunk> chunks = cut_into_chunks(batch);
  const i64 jobs = static_cast<i64>(chunks.size());
  const int threads = static_cast<int>(std::clamp<i64>(options.threads, 1, std::max<i64>(jobs, 1)));
  std::vector<Packed> parts(threads);  // the first becomes the result, the others are joined to it
  for (int t = 1; t < threads; ++t) parts[t] = borrow_part();
  std::vector<std::unique_ptr<Pipeline>> pipelines;
  std::vector<Worker> workers;
  for (int t = 0; t < threads; ++t) {
    pipelines.push_back(borrow());
    workers.emplace_back(batch, options, *pipelines[t], parts[t]);
  }
  run_jobs(jobs, threads, poll, [&](int worker, i64 k, const KeepGoing& keep_going) {
    chunks[k].worker = worker;
    workers[worker].run(chunks[k], keep_going);
    if (jobs > threads) workers[worker].reserve(worker == 0 ? 1.0 : 1.0 / threads);
  });
  for (auto& pipeline : pipelines) give_back(std::move(pipeline));  // after an error it is dropped instead
  join(parts, chunks, batch.node_ptr, [&](i64 count, const std::function<void(i64)>& job) {
    run_jobs(count, threads, poll, [&](int, i64 k, const KeepGoing&) { job(k); });
  });
  for (int t = 1; t < threads; ++t) give_back(std::move(parts[t]));
  Packed result = std::move(parts[0]);
  if (batch.num_graphs > 0) return result;
  if (options.walks)
    for (const auto& table : Packed::tables()) (result.*table.ptr).assign(1, 0);
  if (options.codes) result.code_ptr.assign(1, 0);
  return result;
}

Symmetries Engine::symmetries(const BatchView& batch, bool generators, int threads, const KeepGoing& poll) {
  const std::vector<Chunk> chunks = cut_into_chunks(batch);
  const i64 jobs = static_cast<i64>(chunks.size());
  threads = static_cast<int>(std::clamp<i64>(threads, 1, std::max<i64>(jobs, 1)));
  std::vector<std::unique_ptr<Pipeline>> pipelines;
  for (int t = 0; t < threads; ++t) pipelines.push_back(borrow());
  std::vector<Symmetries> parts(chunks.size());
  run_jobs(jobs, threads, poll, [&](int worker, i64 k, const KeepGoing& keep_going) {
    run_graphs(chunks[k],
               [&](i64 graph) { pipelines[worker]->find_symmetries(graph_view(batch, graph), generators, keep_going, parts[k]); });
  });
  for (auto& pipeline : pipelines) give_back(std::move(pipeline));
  Symmetries result = parts.empty() ? Symmetries() : std::move(parts[0]);
  for (std::size_t k = 1; k < parts.size(); ++k) result.append(parts[k]);
  if (result.factor_ptr.empty()) result.factor_ptr.push_back(0);
  if (generators && result.generator_ptr.empty()) result.generator_ptr.push_back(0);
  return result;
}

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

}  // namespace planegraph
