// Fuzzing of embeddings, faces, triangulations, orders and drawings.
//
// An iteration does one of these. Arbitrary edges are refused with InvalidGraph, or as not planar, or give an embedding from which all the
// rest follows, each checked against its definition (plane.hpp). Arbitrary cyclic orders, of multigraphs too, are refused exactly if the
// definition refuses them; faces of accepted ones are walks. Points on small grids, where much is collinear, give a flaw that is one or none
// that there is, whatever power of two scales them. Points of any magnitude that `orientation` allows end in some answer.
//
// Functions of a new header: another case of iterate(), with their check in plane.hpp.
#include <cmath>

#include "tests/fuzz.hpp"
#include "tests/plane.hpp"

namespace planegraph::test {
namespace {

class Fuzzer {
 public:
  explicit Fuzzer(Tally& tally) : tally_(tally) {}

  void iterate(Random random) {
    switch (random.below(6)) {
      case 0: edges(random); break;
      case 1: orders(random); break;
      case 2: grid_points(random); break;
      case 3: any_points(random); break;
      case 4: st_numbers(random); break;
      default: sound(random);
    }
  }

  void print() const {
    std::printf(
        "fuzz_drawing: %lld planar, %lld not, %lld invalid, %lld orders accepted, %lld refused, drawings %lld plane, %lld flawed\n",
        static_cast<long long>(planar_), static_cast<long long>(not_planar_), static_cast<long long>(invalid_),
        static_cast<long long>(accepted_), static_cast<long long>(refused_), static_cast<long long>(plane_),
        static_cast<long long>(flawed_));
  }

 private:
  /// A copy, whose arrays have no room behind them.
  static Input exact(const Input& g) { return g; }

  static constexpr i64 kMost = i64{1} << 28;  // nodes of a graph
  static constexpr i64 kSmall = 150;          // nodes up to which definitions are checked: they look at all pairs

  void edges(Random& random) {
    Input g = any_graph(random);
    if (random.percent(40)) mutate(g, random);
    if (random.percent(3)) g.n = any_id(g.n, random);
    if (g.n > 5000 && g.n <= kMost) return;  // an honest claim, which only takes memory
    g = exact(g);
    tally_.count_graphs();
    try {
      InputMap input;
      const bool planar = input.run(g.view(), always);
      ++(planar ? planar_ : not_planar_);
      if (!tally_.check(is_valid(g), "an invalid graph was embedded", g)) return;
      tally_.check(planar == is_planar(g), "InputMap and Embedder differ", g);
      if (planar && g.n <= kSmall) check_graph(tally_, g, random);
    } catch (const InvalidGraph&) {
      ++invalid_;
      tally_.check(g.n < 0 || g.n > kMost || !is_valid(g), "InvalidGraph for a simple graph", g);
    }
  }

  void sound(Random& random) {
    const Input g =
        exact(relabelled(thinned(random_triangulation(random.between(3, 40), random), random.between(30, 100), random), random));
    tally_.count_graphs();
    ++planar_;
    check_graph(tally_, g, random);
  }

  /// Of darts whose sources are in range, as `Embedding` in Python makes sure.
  void orders(Random& random) {
    Input g;
    PlaneMap map;
    if (random.percent(50)) {
      g = relabelled(random_planar(random.between(1, 12), static_cast<int>(random.between(20, 100)), random), random);
      InputMap input;
      if (!tally_.check(input.run(g.view(), always), "a planar graph is refused", g)) return;
      map = map_of(g, input.next_of_input(g.view()));
    } else {  // loops and parallels
      g.n = random.between(1, 6);
      for (i64 k = random.below(9); k > 0; --k) g.add(random.below(g.n), random.below(g.n));
      map = map_of(g, std::vector<i32>(g.edges.size()));
      std::vector<i64> turns = random.permutation(2 * g.m());
      std::vector<i32> last(g.n, -1), first(g.n, -1);
      for (const i64 d : turns) {  // one cycle at each node
        const i64 v = g.edges[d];
        if (last[v] >= 0) map.next[last[v]] = static_cast<i32>(d);
        if (first[v] < 0) first[v] = static_cast<i32>(d);
        last[v] = static_cast<i32>(d);
      }
      for (i64 v = 0; v < g.n; ++v)
        if (last[v] >= 0) map.next[last[v]] = first[v];
    }
    const i64 darts = map.num_darts();
    if (darts > 0)
      for (i64 k = random.below(3); k > 0; --k) {
        i32& next = map.next[random.below(darts)];
        if (random.percent(60))
          std::swap(next, map.next[random.below(darts)]);
        else
          next = random.percent(50) ? static_cast<i32>(any_id(darts, random)) : static_cast<i32>(random.below(darts));
      }
    map.next = std::vector<i32>(map.next);
    const bool good = planegraph::embedding_problem(map).what.empty();
    ++(good ? accepted_ : refused_);
    tally_.check(good == (embedding_problem(g, map.next) == nullptr), "orders are judged in another way than by definition");
    if (good) check_faces(tally_, g, map, random);
  }

  void grid_points(Random& random) {
    const Input g = exact(relabelled(random_graph(random.between(1, 9), static_cast<int>(random.between(0, 60)), random), random));
    const i64 width = random.between(0, 9), height = random.between(0, 9);
    Points p;
    for (i64 v = 0; v < g.n; ++v) p.emplace_back(random.between(-width, width), random.between(-height, height));
    const Drawing drawing = read(g, p, std::ldexp(1.0, static_cast<int>(random.between(-396, 490))));
    ++(drawing.flaw == Drawing::kNone ? plane_ : flawed_);
    check_drawing(tally_, g, p, drawing);
  }

  void any_points(Random& random) {
    const Input g = exact(any_graph(random));
    if (!is_valid(g)) return;
    const auto number = [&] {
      static const std::vector<double> odd{
          0.0, -0.0, 1.0, 0x1p-399, -0x1p-399, 0x1.fffffffffffffp499, -0x1.fffffffffffffp499, 0x1.0000000000001p0};
      if (random.percent(30)) return random.pick(odd);
      const double sign = random.percent(50) ? 1 : -1;
      return sign *
             std::ldexp(1.0 + static_cast<double>(random.bits() >> 12) * 0x1p-52, static_cast<int>(random.between(-399, 499)));
    };
    std::vector<Point> points;
    for (i64 v = 0; v < g.n; ++v) points.push_back({number(), number()});
    points = std::vector<Point>(points);
    const Drawing drawing = read_drawing(static_cast<i32>(g.n), static_cast<i32>(g.m()), g.edges.data(), points.data(), always);
    ++(drawing.flaw == Drawing::kNone ? plane_ : flawed_);
    if (drawing.flaw == Drawing::kNone) tally_.accept(embedding_problem(g, drawing.next), g);
  }

  void st_numbers(Random& random) {
    const Input g = exact(any_graph(random));
    if (is_valid(g) && g.n > 1 && g.n <= kSmall) check_st_numbering(tally_, g, random);
  }

  Tally& tally_;
  i64 planar_ = 0, not_planar_ = 0, invalid_ = 0, accepted_ = 0, refused_ = 0, plane_ = 0, flawed_ = 0;
};

}  // namespace
}  // namespace planegraph::test

int main(int argc, char** argv) {
  using namespace planegraph::test;
  Tally tally("fuzz_drawing");
  Fuzzer fuzzer(tally);
  return fuzz(tally, argc, argv, [&](Random random) { fuzzer.iterate(random); }, [&] { fuzzer.print(); });
}
