// Things kept between calls for the next thread that needs one, on a fixed number of places, without a lock.
//
// A lock would survive a fork in the hands of a thread that the child does not have, and the child would wait for it forever. Here a thing
// belongs to the thread that exchanged its place for an empty one, so the places are consistent at every moment; what another thread held while
// its process was forked is lost to the child, and no more.
#pragma once

#include <array>
#include <atomic>
#include <memory>

namespace planegraph {

template <class T>
class Shelf {
 public:
  Shelf() = default;
  ~Shelf() {
    while (take()) {
    }
  }

  /// One of the things kept, or none.
  std::unique_ptr<T> take() {
    for (std::atomic<T*>& place : places_) {
      if (place.load(std::memory_order_relaxed) == nullptr) continue;
      if (T* const kept = place.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<T>(kept);
    }
    return nullptr;
  }

  /// Keeps a thing, or drops it if all places are taken.
  void put(std::unique_ptr<T> thing) {
    for (std::atomic<T*>& place : places_) {
      T* empty = nullptr;
      if (!place.compare_exchange_strong(empty, thing.get(), std::memory_order_release, std::memory_order_relaxed)) continue;
      static_cast<void>(thing.release());
      return;
    }
  }

 private:
  static constexpr std::size_t kPlaces = 64;
  std::array<std::atomic<T*>, kPlaces> places_{};
};

}  // namespace planegraph
