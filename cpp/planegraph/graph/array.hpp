// The arrays of results: like std::vector, but new elements are left as they are, so that a large result is written once and not
// first filled with zeros.
#pragma once

#include <memory>
#include <vector>

namespace planegraph {

template <class T>
struct Uninitialised : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Uninitialised<U>;
  };
  template <class U>
  void construct(U*) noexcept {}
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    std::construct_at(p, std::forward<Args>(args)...);
  }
};

template <class T>
using Array = std::vector<T, Uninitialised<T>>;

}  // namespace planegraph
