// The GIL, given up for a scope and taken back at its end, also while the interpreter shuts down.
//
// A daemon thread that asks for the GIL then never gets it. CPython before 3.14 ends such a thread by pthread_exit, which unwinds its stack
// like an exception: it would run into destructors that must not throw (std::terminate), and drop references without the GIL. So the
// thread is parked where it asked, as CPython does from 3.14 on, and ends with the process.
#pragma once

#include <Python.h>

#include <chrono>
#include <thread>
#include <utility>

class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    or_park([&] { PyEval_RestoreThread(state_); });
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  /// Runs `work`, a call of Python, with the GIL; only on the thread that gave it up.
  template <class Work>
  void with_gil(Work&& work) {
    or_park([&] {
      PyEval_RestoreThread(state_);
      work();
      state_ = PyEval_SaveThread();
    });
  }

 private:
  /// `work` throws no exception: what comes is the end of this thread.
  template <class Work>
  static void or_park(Work&& work) {
    try {
      work();
    } catch (...) {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(24));
    }
  }

  PyThreadState* state_;
};
