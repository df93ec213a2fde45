// What the bindings of several parts of the core share: arrays that own their vectors, errors of the package, and work without
// the GIL that Ctrl-C can end.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <memory>
#include <vector>

#include "bindings/gil.hpp"
#include "planegraph/graph/types.hpp"

using Edges = nanobind::ndarray<const planegraph::i64, nanobind::shape<-1, 2>, nanobind::c_contig, nanobind::device::cpu>;

inline planegraph::GraphView single_graph(planegraph::i64 num_nodes, const Edges& edges) {
  planegraph::GraphView view;
  view.num_nodes = num_nodes;
  view.num_edges = static_cast<planegraph::i64>(edges.shape(0));
  view.edges = edges.data();
  return view;
}

/// A numpy array over the elements of `values`, which it now owns.
template <typename T, typename Allocator>
nanobind::object own(std::vector<T, Allocator>&& values, size_t columns = 0) {
  using Vector = std::vector<T, Allocator>;
  auto held = std::make_unique<Vector>(std::move(values));
  T* data = held->data();
  const size_t size = held->size();
  nanobind::capsule owner(held.get(), [](void* p) noexcept { delete static_cast<Vector*>(p); });
  held.release();
  if (columns == 0) return nanobind::cast(nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(data, {size}, owner));
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<2>>(data, {size / columns, columns}, owner));
}

/// Raises planegraph.errors.<name>(*args).
template <typename... Args>
[[noreturn]] void raise_error(const char* name, Args&&... args) {
  nanobind::object type = nanobind::module_::import_("planegraph.errors").attr(name);
  nanobind::object error = type(std::forward<Args>(args)...);
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nanobind::python_error();
}

/// Runs `work(poll)` without the GIL; a signal that came meanwhile (Ctrl-C) becomes its Python exception.
template <typename Work>
auto without_gil(Work&& work) {
  auto last = std::chrono::steady_clock::now();
  bool interrupted = false;
  WithoutGil* released = nullptr;
  auto poll = [&]() -> bool {
    const auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::milliseconds(50)) return true;
    released->with_gil([&] { interrupted = PyErr_CheckSignals() != 0; });
    last = std::chrono::steady_clock::now();
    return !interrupted;
  };
  try {
    WithoutGil without;
    released = &without;
    return work(poll);
  } catch (const planegraph::Cancelled&) {
    if (interrupted) throw nanobind::python_error();
    throw;
  }
}
