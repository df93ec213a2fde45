// The sum under TriEnc and g5, fused: y_s = sum over the entries i of segment s of relu( T_1[i_1] + ... + T_k[i_k] ), and its gradient.
//
// Each term is a table of rows and an id per entry; ids below 0 stand for nothing. The values at the entries are never stored: the
// backward pass computes them again. Single-threaded, so that sums always have the same order. O(entries * width * terms).
#pragma once

#include "sums.hpp"

namespace planegraph {

constexpr i32 kMostTerms = 4;

template <class Float>
struct Term {
  Rows<const Float> table;
  const i32* index;
  Rows<Float> gradient{nullptr, 0};  // backward only; null: not wanted
};

template <class Float>
struct ReluSum {
  Term<Float> terms[kMostTerms];
  i32 num_terms;
  const i32* begin;  // entries of segment s: begin[s] .. end[s]
  const i32* end;
  i64 segments, width;

  void forward(Rows<Float> y) const;
  /// Adds to the gradients of the tables.
  void backward(Rows<const Float> y_gradient) const;
};

template <>
void ReluSum<float>::forward(Rows<float> y) const;
template <>
void ReluSum<double>::forward(Rows<double> y) const;
template <>
void ReluSum<float>::backward(Rows<const float> y_gradient) const;
template <>
void ReluSum<double>::backward(Rows<const double> y_gradient) const;

}  // namespace planegraph
