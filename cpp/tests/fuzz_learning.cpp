// Fuzzing of what models call: collation, depths, return probabilities, sums and norms, on arrays that are exactly as long as their contents.
//
// An iteration does one of these. Damaged tables are refused with DamagedTables or give a batch; sound ones give batches whose sections keep
// their promises. Sums and norms are compared with plain loops in double precision.
#include <cmath>
#include <memory>

#include "planegraph/kernels/norm_relu.hpp"
#include "planegraph/kernels/sums.hpp"
#include "planegraph/tables/returns.hpp"
#include "tests/collation.hpp"
#include "tests/fuzz.hpp"

namespace planegraph::test {
namespace {

/// No spare room behind the elements, unlike a vector that grew.
template <class T>
struct Exact {
  explicit Exact(i64 size, T value = T{}) : data(new T[static_cast<std::size_t>(size)]), size(size) {
    std::fill_n(data.get(), size, value);
  }
  T& operator[](i64 k) { return data[static_cast<std::size_t>(k)]; }
  std::unique_ptr<T[]> data;
  i64 size;
};

template <class Float>
Exact<Float> any_floats(i64 size, Random& random) {
  Exact<Float> values(size);
  const bool alike = random.percent(10);  // flat columns
  for (i64 k = 0; k < size; ++k) values[k] = alike ? Float(3) : static_cast<Float>(random.between(-1000, 1000)) / Float(256);
  return values;
}

template <class Float>
bool near(double found, double wanted, double scale) {
  return std::abs(found - wanted) <= (sizeof(Float) == 4 ? 1e-4 : 1e-10) * (1 + std::abs(wanted) + scale);
}

class Fuzzer {
 public:
  explicit Fuzzer(Tally& tally) : tally_(tally) {}

  void iterate(Random random) {
    switch (random.below(6)) {
      case 0: good_tables(random); break;
      case 1: damaged_tables(random); break;
      case 2: sums<float>(random); break;
      case 3: sums<double>(random); break;
      case 4: norm<float>(random); break;
      default: norm<double>(random);
    }
  }

  void print() const {
    std::printf("fuzz_learning: %lld good tables, %lld damaged ones accepted, %lld refused, %lld sums, %lld norms\n",
                static_cast<long long>(good_), static_cast<long long>(accepted_), static_cast<long long>(refused_),
                static_cast<long long>(sums_), static_cast<long long>(norms_));
  }

 private:
  void good_tables(Random& random) {
    ++good_;
    const i64 count = random.between(1, 12);
    const Tables tables(mixture(random, static_cast<int>(count)));
    const TablesView view = tables.view();
    check_tables(view);
    const Gathered batch = gather(view, some_ids(random, count));
    tally_.count_graphs(batch.need.graphs);
    const i32 rows = static_cast<i32>(random.below(3));
    const Shape shape = random.percent(50) ? batch.need : with_room(batch.need, random);
    check_filled(tally_, Filled(batch, shape, rows), shape, rows);
    for (const float p : return_probabilities(view, random.between(1, 6))) tally_.check(p >= 0 && p <= 1.0001f, "no probability");
  }

  void damaged_tables(Random& random) {
    const i64 count = random.between(1, 6);
    Tables tables(mixture(random, static_cast<int>(count)));
    damage(tables, random);
    try {
      const TablesView t = tables.view();
      spqr_depths(t.spqr_ptr, t.spqr_parent);
      block_cut_depths(t.block_ptr, t.block_parent_cut, t.cut_ptr, t.cut_parent_block);
    } catch (const DamagedTables&) {
    }
    try {
      return_probabilities(tables.view(), 2);
    } catch (const DamagedTables&) {
    }
    try {
      const Gathered batch = gather(tables.view(), some_ids(random, count));
      if (buffer_length(batch.need, 2) < 10'000'000) Filled(batch, batch.need, static_cast<i32>(random.below(3)));
      ++accepted_;
    } catch (const DamagedTables&) {
      ++refused_;
    }
  }

  template <class Float>
  void sums(Random& random) {
    ++sums_;
    const i64 columns = random.between(1, 40), rows = random.below(40), width = random.between(1, 70);
    const i64 x_stride = width + random.below(3), y_stride = width + random.below(3);
    const bool runs = random.percent(70), add = random.percent(30), indexed = !runs || random.percent(80);
    Exact<i32> begin(rows), end(rows);
    i64 entries = indexed ? random.below(120) : columns;
    for (i64 r = 0; r < rows; ++r) {
      begin[r] = static_cast<i32>(random.between(0, entries));
      end[r] = static_cast<i32>(random.between(begin[r], entries));
    }
    if (!runs) entries = rows;
    Exact<i32> index(entries);
    for (i64 k = 0; k < entries; ++k) index[k] = static_cast<i32>(random.between(-1, columns - 1));
    Exact<Float> x = any_floats<Float>((columns - 1) * x_stride + width, random);
    Exact<Float> y = any_floats<Float>(rows ? (rows - 1) * y_stride + width : 0, random), wanted(y.size);
    for (i64 r = 0; r < rows; ++r) {
      for (i64 k = 0; k < width; ++k) {
        double sum = add ? static_cast<double>(y[r * y_stride + k]) : 0.0;
        for (i64 e = runs ? begin[r] : r; e < (runs ? end[r] : r + 1); ++e) {
          const i64 c = indexed ? index[e] : e;
          if (c >= 0) sum += static_cast<double>(x[c * x_stride + k]);
        }
        wanted[r * y_stride + k] = static_cast<Float>(sum);
      }
    }
    const Entries of{indexed ? index.data.get() : nullptr, runs ? begin.data.get() : nullptr, runs ? end.data.get() : nullptr,
                     rows};
    sum_rows<Float>({x.data.get(), x_stride}, of, width, {y.data.get(), y_stride}, add);
    bool right = true;
    for (i64 r = 0; r < rows; ++r)
      for (i64 k = 0; k < width; ++k) right &= near<Float>(y[r * y_stride + k], wanted[r * y_stride + k], 100);
    tally_.check(right, "a wrong sum");
  }

  template <class Float>
  void norm(Random& random) {
    ++norms_;
    const i64 rows = random.percent(10) ? random.below(2) : random.below(200), width = random.between(1, 40);
    Exact<Float> x = any_floats<Float>(rows * width, random), gradient = any_floats<Float>(rows * width, random);
    Exact<Float> weight = any_floats<Float>(width, random), bias = any_floats<Float>(width, random);
    Exact<Float> mean(width), inverse(width), running_mean(width), running_variance(width, Float(1)), dw(width), db(width);
    Exact<Float> y(rows * width), dx(rows * width);
    Exact<u8> mask(rows, 1);
    const bool masked = random.percent(60);
    i64 real = rows;
    for (i64 r = 0; masked && r < rows; ++r) real -= !(mask[r] = random.percent(70));
    const Norm<Float> of{
        x.data.get(),      masked ? mask.data.get() : nullptr, rows, width, weight.data.get(), bias.data.get(), mean.data.get(),
        inverse.data.get()};
    const Running<Float> running{running_mean.data.get(), running_variance.data.get(), Float(0.1)};
    tally_.check(norm_relu<Float>(of, Float(1e-5), Float(1e-10), running, y.data.get()) == real, "the number of real rows");
    norm_relu_gradient<Float>(of, real, gradient.data.get(), dx.data.get(), dw.data.get(), db.data.get());
    bool right = true;
    for (i64 k = 0; k < width; ++k) {
      double sum = 0, squares = 0, slope = 0;
      for (i64 r = 0; r < rows; ++r) sum += mask[r] ? static_cast<double>(x[r * width + k]) : 0;
      const double centre = sum / static_cast<double>(std::max<i64>(real, 1));
      for (i64 r = 0; r < rows; ++r) squares += mask[r] ? std::pow(static_cast<double>(x[r * width + k]) - centre, 2) : 0;
      const double variance = squares / static_cast<double>(std::max<i64>(real, 1));
      const bool flat = variance <= 1e-10 * (1 + centre * centre);
      const double s = flat ? 0 : 1 / std::sqrt(variance + 1e-5);
      for (i64 r = 0; r < rows; ++r) {
        const double value =
            (static_cast<double>(x[r * width + k]) - centre) * s * static_cast<double>(weight[k]) + static_cast<double>(bias[k]);
        right &= near<Float>(y[r * width + k], std::max(value, 0.0), 10 * s);
        right &= mask[r] || dx[r * width + k] == 0;
        slope += mask[r] && y[r * width + k] > 0 ? static_cast<double>(gradient[r * width + k]) : 0;
      }
      right &= near<Float>(db[k], slope, 1000) && std::isfinite(dw[k]) && std::isfinite(running_mean[k]) &&
               std::isfinite(running_variance[k]);
    }
    tally_.check(right, "a wrong norm");
  }

  Tally& tally_;
  i64 good_ = 0, accepted_ = 0, refused_ = 0, sums_ = 0, norms_ = 0;
};

}  // namespace
}  // namespace planegraph::test

int main(int argc, char** argv) {
  using namespace planegraph::test;
  Tally tally("fuzz_learning");
  Fuzzer fuzzer(tally);
  return fuzz(tally, argc, argv, [&](Random random) { fuzzer.iterate(random); }, [&] { fuzzer.print(); });
}
