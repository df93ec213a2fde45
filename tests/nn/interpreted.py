"""The Triton kernels without a GPU, in Triton's interpreter: operation by operation and as whole models, in float32, against the plain
PyTorch operations in float64.

Run by test_kernels.py with TRITON_INTERPRET=1, which must be set before Triton is imported. Sizes are small, since the interpreter is slow,
but there are rows of several programs, widths that are not powers of two, and rows of padding that hold values no one may read. Products of
bfloat16 numbers, which PyTorch's setting medium asks for, are left to test_cuda.py: the interpreter does not know them.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor

import planegraph as pg
from planegraph.data import PackedDataset, PackedLoader, PlanarBatch
from planegraph.nn import GINE, BasePlanE, Categorical, Continuous, PlanEConfig, dropout, structure
from planegraph.nn.mlp import MLP
from planegraph.nn.norm import BatchNorm
from planegraph.nn.ops import aside, incidence, linear, mlp, shared, tree, triton_tools
from planegraph.nn.ops.aside import Aside
from planegraph.nn.ops.incidence import Incidence, Rows, sum_rows
from planegraph.nn.ops.linear import Pair
from planegraph.nn.ops.mlp import At
from planegraph.nn.ops.tree import Maps, Parts, Tree
from planegraph.nn.structure import Structure

from .test_aside import test_parameters_are_used_once_and_through_views_alone  # noqa: F401
from .test_sums import random_choice, random_rows, random_segments
from .test_trees import INSIDE, block_cut_forest, fast, random_inputs, spqr_forest, stacked

torch.set_float32_matmul_precision("highest")

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # numpy's, of what a tl.where leaves out
TOLERANCE = 1e-5  # relative to the largest entry
KERNELS = (
    (mlp, "triton_mlp"),
    (tree, "triton_tree"),
    (incidence, "triton_sums"),
    (linear, "triton_linear"),
    (shared, "triton_shared"),
)
Values = dict[str, Tensor]


@contextmanager
def plain() -> Iterator[None]:
    """Without kernels."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in KERNELS:
            patch.setattr(module, name, None)
        yield


@pytest.fixture
def calls(monkeypatch) -> Counter:
    """How often each kernel path was taken."""
    count: Counter = Counter()

    def spy(module, name: str) -> None:
        real = getattr(module, name)

        def counted(*args, **kwargs):
            count[f"{module.__name__.rpartition('.')[2]}.{name}"] += 1
            return real(*args, **kwargs)

        monkeypatch.setattr(module, name, counted)

    for module, name in (
        (mlp.triton_mlp, "mlp"),
        (tree.triton_tree, "forward"),
        (tree.triton_tree, "backward"),
        (incidence.triton_sums, "sum_rows"),
        (linear.triton_linear, "products"),
    ):
        spy(module, name)
    return count


@pytest.fixture
def few_chunks(monkeypatch) -> None:
    """Two programs for each product, as of few rows most of the usual sixteen would find none."""
    monkeypatch.setattr(linear.triton_linear, "_MOST_CHUNKS", 2)


def errors(found: Values, expected: Values) -> dict[str, float]:
    """Of each value relative to its largest entry; of gradients to at least a thousandth of the largest entry of all."""
    assert found.keys() == expected.keys()
    largest = max((float(v.abs().max()) for name, v in expected.items() if name.startswith("gradient") and v.numel()), default=0)
    off = {}
    for name, value in expected.items():
        assert found[name].shape == value.shape
        if value.numel():
            scale = max(float(value.abs().max()), 1e-3 * largest if name.startswith("gradient") else 0.0, 1e-30)
            off[name] = float((found[name].double() - value).abs().max()) / scale
    return off


def assert_same(run: Callable[[torch.dtype], Values], tolerance: float = TOLERANCE, again: bool = False) -> None:
    """The kernels in float32 are close to the plain operations in float64, or as close as those in float32; the same bits ``again``."""
    found = run(torch.float32)
    if again:
        assert all(torch.equal(value, found[name]) for name, value in run(torch.float32).items()), "not the same bits twice"
    with plain():
        expected, rounded = run(torch.float64), run(torch.float32)
    limits = errors(rounded, expected)
    for name, off in errors(found, expected).items():
        assert off <= max(tolerance, 4 * limits[name]), f"{name} is off by {off:.2g}"


def to(dtype: torch.dtype, tensors: list[Tensor]) -> list[Tensor]:
    return [t.detach().to(dtype).requires_grad_(t.requires_grad) for t in tensors]


def with_gradients(out: Tensor, leaves: dict[str, Tensor]) -> Values:
    """The output and the gradients of a fixed combination of it."""
    weight = torch.randn(out.shape, generator=torch.Generator().manual_seed(9), dtype=torch.float64).to(out)
    wanted = {name: x for name, x in leaves.items() if x.requires_grad}
    found = torch.autograd.grad((out * weight).sum(), list(wanted.values()))
    return {"output": out.detach()} | {f"gradient of {name}": g for name, g in zip(wanted, found, strict=True)}


# ---- sums -------------------------------------------------------------------------------------------------------------------------


def stacked_rows(parts: Sequence[Rows]) -> Rows:
    """A replica each; ids are padded to equal numbers."""

    def together(tensors: tuple[Tensor | None, ...]) -> Tensor | None:
        return None if tensors[0] is None else torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=-1)

    return Rows(*map(together, zip(*parts, strict=True)))


@pytest.mark.parametrize("replicas", [None, 2])
@pytest.mark.parametrize("kind", ["one", "runs", "ids"])
@pytest.mark.parametrize("width", [1, 20, 300])
def test_sums(kind, width, replicas, calls):
    g = torch.Generator().manual_seed(width)
    for rows, columns in ((70, 30), (3, 5)) if width < 300 else ((9, 5),):
        parts, matrices = zip(*(random_rows(kind, rows, columns, g) for _ in range(replicas or 1)), strict=True)
        entries, matrix = (stacked_rows(parts), torch.stack(matrices)) if replicas else (parts[0], matrices[0])
        lead = (replicas,) if replicas else ()
        x, base = (torch.randn(*lead, n, width, generator=g, dtype=torch.float64) for n in (columns, rows))
        for dtype, tolerance in ((torch.float32, 1e-6), (torch.float64, 1e-14)):
            apart = torch.cat([x, x], -1).to(dtype)[..., 1 : width + 1]  # rows apart
            given = {"x": x.to(dtype), "apart": apart, "columns apart": x.to(dtype).mT.contiguous().mT}
            for name, value in given.items():
                assert errors({name: sum_rows(value, entries)}, {name: matrix @ value.double()})[name] <= tolerance
            out = base.to(dtype, copy=True)
            assert sum_rows(x.to(dtype), entries, out=out, base=out) is out
            assert errors({"": out}, {"": base + matrix @ x})[""] <= tolerance
    assert calls["triton_sums.sum_rows"] == (16 if width < 300 else 8)


def test_sums_of_activated_rows():
    """relu(scale x + offset), of which nothing is not relu(offset) but 0."""
    g = torch.Generator().manual_seed(0)
    entries, matrix = random_rows("ids", 40, 30, g)
    x, scale, offset = (torch.randn(shape, generator=g, dtype=torch.float64) for shape in ((30, 20), (20,), (20,)))
    out = incidence.triton_sums.sum_rows(x.float(), entries, torch.empty(40, 20), None, (scale.float(), offset.float()))
    assert errors({"": out}, {"": matrix @ (x * scale + offset).relu()})[""] <= 1e-6


def test_nothing_to_sum():
    none = Rows.of_ptr(torch.zeros(3, dtype=torch.int32), torch.empty(0, dtype=torch.int32))
    base = torch.ones(2, 4)
    assert sum_rows(torch.ones(0, 4), none).tolist() == [[0] * 4] * 2
    assert sum_rows(torch.ones(3, 4), none, base=base).tolist() == base.tolist()
    assert sum_rows(torch.ones(3, 4), Rows.of_ptr(torch.zeros(1, dtype=torch.int32))).shape == (0, 4)


# ---- linear maps ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("replicas", [None, 2])
def test_linear(replicas, calls, monkeypatch):
    """Rows of several programs, apart from each other; a weight that is a view."""
    g = torch.Generator().manual_seed(0)
    lead = (replicas,) if replicas else ()
    x, weight, bias = (torch.randn(*lead, *shape, generator=g, dtype=torch.float64) for shape in ((150, 30), (9, 20), (20,)))

    def run(dtype: torch.dtype) -> Values:
        leaves = {n: t.to(dtype).requires_grad_() for n, t in (("x", x), ("weight", weight), ("bias", bias))}
        return with_gradients(linear.linear(leaves["x"][..., 4:13], leaves["weight"].mT, leaves["bias"]), leaves)

    assert_same(run, again=True)
    assert calls["triton_linear.products"] == 2 * (2 if replicas is None else 1)  # without replicas it calls itself with one
    monkeypatch.setattr(linear.triton_linear, "_PROGRAMS", 1)
    assert_same(run)  # several tiles for each program


def random_pairs(replicas: int | None, number: int) -> list[Pair]:
    """Of several kinds, and of different numbers of rows."""
    g = torch.Generator().manual_seed(0)
    lead = (replicas,) if replicas else ()
    kinds = ((20, 16, True), (20, 16, False), (5, 40, False))
    found = []
    for k in range(number):
        rows, (width, inner, sums) = (150, 1, 70)[k % 2 + k % 5 // 4], kinds[k % 3]
        found.append(Pair(*(torch.randn(*lead, rows, n, generator=g) for n in (width, inner)), sums))
    return found


def assert_products(found: list[tuple[torch.Tensor, torch.Tensor | None]], pairs: list[Pair]) -> None:
    for (product, total), (a, b, sums, _) in zip(found, pairs, strict=True):
        assert errors({"": product}, {"": a.double().mT @ b.double()})[""] <= 1e-6
        assert (total is not None) == sums
        assert total is None or errors({"": total}, {"": a.double().sum(-2)})[""] <= 1e-6


@pytest.mark.parametrize("replicas", [None, 2, 17])
def test_products(replicas):
    """More pairs of a kind than one launch takes; chunks of rows that are added up, and products in one go."""
    pairs = random_pairs(replicas, 27 if replicas != 17 else 3)
    assert_products(linear.triton_linear.products(pairs), pairs)


def test_products_of_activated_rows():
    g = torch.Generator().manual_seed(0)
    pairs = [
        Pair(torch.randn(2, n, 20, generator=g), torch.randn(2, n, 16, generator=g), False, torch.randn(2, 5, 16, generator=g))
        for n in (100, 3)
    ]
    active = [torch.relu(b * s[:, 2:3] + s[:, 3:4]) for _, b, _, s in pairs]
    assert_products(linear.triton_linear.products(pairs), [Pair(p.a, b) for p, b in zip(pairs, active, strict=True)])


def test_products_that_wait_for_company(monkeypatch):
    """They have the same bits as those computed at once, and so has a pair that nothing joined."""
    pairs = random_pairs(2, 26)
    stream = SimpleNamespace(wait_stream=lambda other: None, device=None)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: nullcontext())
    later = Aside(stream)
    monkeypatch.setattr(aside, "_now", later)
    found = [linear.triton_linear.products([pair])[0] for pair in pairs]
    assert [len(launch.pairs) for launch in later.waiting.values()] == [1, 1]  # 9, 9 and 8 of the kinds: eight of each are computed
    later.launch_waiting()
    later.join()
    monkeypatch.setattr(aside, "_now", None)
    assert_products(found, pairs)
    for (product, total), pair in zip(found, pairs, strict=True):
        alone = linear.triton_linear.products([pair])[0]
        assert torch.equal(alone[0], product)
        assert total is None or torch.equal(alone[1], total)


# ---- the MLP ----------------------------------------------------------------------------------------------------------------------


def stacked_incidence(parts: list[tuple[Incidence, Tensor]]) -> Incidence:
    return Incidence(*(stacked_rows([part[0][k] for part in parts]) for k in (0, 1)))


MLPS = {  # widths of dense parts (negative: no gradient wanted) and of tables; whether it ends in norm and ReLU; sums; rows, real rows
    "one dense part": ((20,), (), True, None, 300, 300),
    "linear at the end": ((16,), (), False, None, 70, 70),
    "a walk entry": ((-9,), (16,), True, "into", 140, 130),
    "a walk entry with an edge": ((-9,), (16, 7), True, "into", 70, 66),
    "a message": ((), (16, 16), True, "into and plus", 100, 90),
    "f": ((16, 16, 16), (16, 16), False, None, 80, 75),
    "f, wide": ((64, 64), (64,), False, None, 70, 60),
    "rows in no segment": ((20,), (), True, "into", 70, 60),
    "few rows": ((20,), (5,), True, "into and plus", 7, 3),
    "one real row": ((20,), (), True, None, 9, 1),
    "no real row": ((20,), (), True, None, 9, 0),
}


@pytest.mark.parametrize("replicas", [None, 2])
@pytest.mark.parametrize("name", MLPS)
@pytest.mark.usefixtures("few_chunks")
def test_mlp(name, replicas, calls, monkeypatch):
    """Values, gradients and running averages; what stands in rows of padding does not matter."""
    dense_widths, table_widths, ends, sums, rows, real = MLPS[name]
    width, segments, lead = max(abs(w) for w in (*dense_widths, *table_widths)), 11, (replicas,) if replicas else ()
    torch.manual_seed(1)
    g = torch.Generator().manual_seed(2)

    def joined(make: Callable[[], tuple[Incidence, Tensor]]) -> Incidence:
        parts = [make() for _ in range(replicas or 1)]
        return stacked_incidence(parts) if replicas else parts[0][0]

    def drawn(*shape: int) -> Tensor:
        return torch.randn(*lead, *shape, generator=g, dtype=torch.float64).requires_grad_()

    mask = (torch.arange(rows) < real).expand(*lead, rows) if name != "rows in no segment" else None
    dense = [drawn(rows, abs(w)).requires_grad_(w > 0) for w in dense_widths]
    tables = [(drawn(n, w), joined(lambda n=n: random_choice(rows, n, g))) for n, w in zip((13, 70), table_widths, strict=False)]
    plus = drawn(segments, width) if sums == "into and plus" else None
    into = joined(lambda: random_segments(segments, rows, real, g)) if sums else None
    if mask is not None:
        for x in dense:
            with torch.no_grad():
                x[~mask] = 1e4
    module = MLP([x.shape[-1] for x in (*dense, *(t for t, _ in tables))], width, "batch", replicas, ends=ends)
    for p in module.parameters():
        torch.nn.init.normal_(p, std=0.5)

    def run(dtype: torch.dtype) -> Values:
        m = copy.deepcopy(module).to(dtype)
        xs, ts = to(dtype, dense), to(dtype, [t for t, _ in tables])
        base = None if plus is None else to(dtype, [plus])[0]
        out = m(*xs, *(At(t, i) for t, (_, i) in zip(ts, tables, strict=True)), mask=mask, into=into, plus=base)
        if into is None:
            out = out[mask]
        leaves = {f"part {k}": x for k, x in enumerate([*xs, *ts])} | dict(m.named_parameters())
        found = with_gradients(out, leaves if base is None else leaves | {"plus": base})
        for k, x in enumerate(xs):
            assert mask is None or not x.requires_grad or (found[f"gradient of part {k}"][~mask] == 0).all()
        return found | {f"buffer {n}": b.clone() for n, b in m.named_buffers()}

    assert_same(run, TOLERANCE if real > 1 else 1e-4, again=name == "f")  # a single row has no deviation to be divided by
    assert calls["triton_mlp.mlp"] == 1 + (name == "f")
    if rows > 128:
        monkeypatch.setattr(mlp.triton_mlp, "_PROGRAMS", {64: 2, 128: 2})
        assert_same(run)  # several tiles for each program
        monkeypatch.setattr(mlp.triton_mlp, "_MANY_CHUNKS", 0)
        assert_same(run)  # statistics by their own kernel


def test_mlp_of_columns_far_from_zero():
    """No square of a large mean drowns a variance."""
    torch.manual_seed(0)
    module, x = MLP(8, 8, "batch"), torch.randn(150, 8) + 300

    def run(dtype: torch.dtype) -> Values:
        m = copy.deepcopy(module).to(dtype)
        return with_gradients(m(x.to(dtype)), dict(m.named_parameters()))

    assert_same(run)


def test_tensors_that_do_not_lie_densely():
    """Columns one after the other, in a sum's base and in a weight."""
    torch.manual_seed(0)
    x, base = torch.randn(70, 16), torch.randn(16, 5).t()
    incidence = random_segments(5, 70, 70, torch.Generator().manual_seed(0))[0]
    assert torch.allclose(sum_rows(x, incidence.rows, base=base), sum_rows(x, incidence.rows, base=base.contiguous()))
    module, other = MLP(16, 16, "batch"), MLP(16, 16, "batch")
    other.load_state_dict(module.state_dict())
    other.last.weight = torch.nn.Parameter(module.last.weight.detach().t().contiguous().t())
    assert torch.equal(module(x), other(x))


def test_equal_rows_kept_in_fewer_bits(monkeypatch):
    """What they are rounded to is their mean: nothing is left that a norm could blow up."""
    monkeypatch.setattr(triton_tools, "_STORED", {"highest": torch.bfloat16})
    module = MLP(16, 16, "batch")
    row = torch.randn(16, generator=torch.Generator().manual_seed(0))
    for p in module.norms.parameters():
        torch.nn.init.constant_(p, 1.0)
    assert torch.allclose(module(row.expand(150, 16).contiguous()), torch.ones(150, 16), atol=1e-3)


def test_what_the_kernels_do_not_take():
    """Too wide, with a norm in evaluation, or without rows: the plain operations."""
    can_fuse = mlp.triton_mlp.can_fuse
    module = MLP(4, 4, "batch")
    norm, last = module.norms[0], module.last
    x, w = torch.zeros(5, 4), torch.zeros(4, 4)
    assert can_fuse([(x, w)], [], [norm, norm], last)
    assert not can_fuse([(x.double(), w.double())], [], [norm, norm], last)
    assert not can_fuse([(x[:0], w)], [], [norm, norm], last)
    assert not can_fuse([(torch.zeros(5, 129), torch.zeros(4, 129))], [], [norm, norm], last)
    assert not can_fuse([(x, w)], [], [norm, norm], MLP(4, 129, "batch", hidden=4).last)
    assert not can_fuse([(x, w)] * 4, [], [norm, norm], last)
    assert not can_fuse([(x, w)], [], [norm, BatchNorm(4).eval()], last)
    assert not can_fuse([(x, w)], [], [norm.eval(), BatchNorm(4)], last)
    assert not tree.triton_tree.can_fuse(torch.zeros(5, 129))
    assert not tree.triton_tree.can_fuse(torch.zeros(5, 4, dtype=torch.float64))


# ---- trees ------------------------------------------------------------------------------------------------------------------------

FORESTS = {  # levels narrower and wider than one program, and empty ones
    "SPQR": lambda g: spqr_forest([70, 64, 65, 10, 0, 3, 2], g),
    "SPQR, narrow": lambda g: spqr_forest([5, 3, 0, 2], g),
    "SPQR, roots only": lambda g: spqr_forest([70], g),
    "block-cut": lambda g: block_cut_forest([(66, 64), (20, 66), (0, 0), (65, 3), (2, 1)], 4, g),
    "block-cut, narrow": lambda g: block_cut_forest([(4, 3), (0, 0), (3, 0), (0, 2), (2, 1)], 2, g),
    "block-cut, no cut nodes": lambda g: block_cut_forest([(0, 0)], 4, g),
}


WIDTHS = [*((name, 16) for name in FORESTS), ("SPQR, narrow", 20), ("block-cut, narrow", 64)]


@INSIDE
@pytest.mark.parametrize(
    ("name", "width", "replicas"), [*((*forest, 2) for forest in WIDTHS), ("SPQR", 16, None), ("block-cut", 16, None)]
)
@pytest.mark.usefixtures("few_chunks")
def test_trees(name, width, replicas, inside, calls):
    g = torch.Generator().manual_seed(width)
    forests = [FORESTS[name](g) for _ in range(replicas or 1)]
    inputs = [random_inputs(forest, width, g) for forest in forests]
    given, trees = inputs[0], forests[0].tree
    if replicas:
        given = [torch.stack(x).detach().requires_grad_() for x in zip(*inputs, strict=True)]
        trees = stacked([forest.tree for forest in forests])
    names = ("h_a", "x_b", *(f"{kind} {name}" for kind in "ab" for name in Maps._fields))

    def run(dtype: torch.dtype, small: float = 1.0) -> Values:
        sizes = [small, small, *[width**-0.5, small] * 4]
        leaves = [(x.detach() * size).to(dtype).requires_grad_() for x, size in zip(given, sizes, strict=True)]
        out = fast(trees, *leaves, inside=inside)
        return with_gradients(out, dict(zip(names, leaves, strict=True)))

    assert_same(run, again=name == "block-cut")
    assert calls["triton_tree.forward"] == calls["triton_tree.backward"] == 1 + (name == "block-cut")
    if "narrow" in name:
        assert_same(lambda dtype: run(dtype, 1e-5))  # the logarithm must not round small messages away


def trees_of_a_batch(replicas: int | None) -> dict[str, Tree]:
    """Of 40 graphs, padded, with depths between 0 and 20."""
    f = pg.families
    sizes = [1, 2, 3, 5, 8, 14, 20, 30]
    graphs = [*map(f.path, sizes), *map(f.ladder, sizes), *(f.random_planar(6 + s, 0.3, seed=s) for s in range(24))]
    loader = PackedLoader(PackedDataset.from_graphs(graphs), batch_size=40, pad=True, shuffle=True, seed=1)
    batches = [batch for _ in range(replicas or 1) for batch in loader]
    batch = batches[0] if replicas is None else PlanarBatch.stack(batches)
    s = Structure(batch, 4, torch.float32)
    return {"SPQR": s.spqr_tree, "block-cut": s.block_cut_tree}


@pytest.mark.parametrize("replicas", [None, 2])
@pytest.mark.parametrize("name", ["SPQR", "block-cut"])
def test_parts(name, replicas):
    """In each level part follows part, no row's parent lies in another part, and what belongs to none has no parent."""
    tree = trees_of_a_batch(replicas)[name]
    parts = tree.parts.a.shape[-1] - 1
    assert parts > 5

    def part_of(rows: int, starts: Tensor, slices: list[tuple[int, int]]) -> list[int]:
        found = [parts] * rows
        for (begin, end), bounds in zip(slices, starts.tolist(), strict=True):
            assert bounds[0] == begin
            assert bounds == sorted(bounds)
            assert bounds[-1] <= end
            for k in range(parts):
                found[bounds[k] : bounds[k + 1]] = [k] * (bounds[k + 1] - bounds[k])
        return found

    for r in range(replicas or 1):
        of_a, of_b, parent_a, parent_b = (
            None if t is None else t[r] if replicas else t for t in (*tree.parts, tree.parent_of_a, tree.parent_of_b)
        )
        in_a = part_of(tree.children_of_a.count, of_a, [level.a for level in tree.levels])
        in_b = part_of(len(parent_b), of_b, [level.b for level in tree.levels])
        assert len(set(in_a)) > parts // 2
        for row, parent in enumerate(parent_b.tolist()):
            assert in_b[row] == (parts if parent < 0 else in_a[parent])
        above = range(len(parent_b)) if parent_a is None else parent_a.tolist()
        for row, parent in enumerate(above):
            if 0 <= parent < len(in_b):
                assert in_a[row] == in_b[parent]


@pytest.mark.parametrize(("name", "replicas"), [("SPQR", None), ("block-cut", 2)])
@pytest.mark.usefixtures("few_chunks")
def test_trees_in_parts(name, replicas):
    """Parts of one tile and of several."""
    tree = trees_of_a_batch(replicas)[name]
    g, lead = torch.Generator().manual_seed(0), (replicas,) if replicas else ()
    shapes = [(tree.children_of_a.count, 16), (tree.parent_of_b.shape[-1], 16)] + 4 * [(16, 16), (16,)]
    given = [torch.randn(*lead, *shape, generator=g, dtype=torch.float64) for shape in shapes]

    def run(dtype: torch.dtype) -> Values:
        leaves = [(x / (4 if x.shape[-2:] == (16, 16) else 1)).to(dtype).requires_grad_() for x in given]
        out = fast(tree, *leaves, inside=name != "SPQR")
        kept = torch.zeros(*lead, tree.children_of_a.count, dtype=torch.bool)
        kept[..., slice(*tree.levels[-1].a)] = True
        if tree.parent_of_a is None:
            kept[..., : tree.parent_of_b.shape[-1]] |= tree.parent_of_b >= 0
        else:
            kept |= tree.parent_of_a >= 0
        return with_gradients(out[kept], {str(k): leaf for k, leaf in enumerate(leaves)})

    assert_same(run, again=True)
    tree = tree._replace(parts=Parts(*(t[..., [0, -1]].contiguous() for t in tree.parts)))
    assert_same(run)


# ---- one tensor for several readers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("readers", [1, 2, 5, 8, 11])
def test_shared(readers):
    """One reader's gradient is missing, if there are many."""
    x = torch.randn(70, 20, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def run(dtype: torch.dtype) -> Values:
        leaf = x.to(dtype).requires_grad_()
        copies = shared.shared(leaf, *[dtype] * readers)
        out = torch.stack([copy**k for k, copy in enumerate(copies, start=1) if k != 4])
        return with_gradients(out, {"x": leaf})

    assert_same(run)


# ---- dropout ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("replicas", [None, 3])
def test_dropout(replicas):
    """The same values are dropped."""
    torch.manual_seed(0)
    drop, x = dropout.Dropout(0.3, replicas), torch.ones(*((replicas,) if replicas else ()), 90, 20)
    other = copy.deepcopy(drop)
    for _ in range(2):
        found = drop(x)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dropout, "triton_dropout", None)
            assert torch.equal(other(x), found)
    assert 0.2 < (found == 0).double().mean() < 0.4
    if replicas is None:
        drop, x = dropout.Dropout(0.3), torch.ones(2, 90, 20)
        assert torch.equal(*drop(x))


# ---- NaN --------------------------------------------------------------------------------------------------------------------------


def test_nan_is_kept():
    """As torch.relu keeps it: a model that has diverged must not look well."""
    bad = torch.full((70, 16), float("nan"))
    assert MLP(16, 16, "batch")(bad).isnan().all()
    into = random_segments(5, 70, 70, torch.Generator().manual_seed(0))[0]
    assert MLP(16, 16, "batch")(bad, into=into).isnan().any()
    g = torch.Generator().manual_seed(0)
    forest = FORESTS["SPQR, narrow"](g)
    h_a, h_b, *maps = (t.detach().float() for t in random_inputs(forest, 16, g))
    assert fast(forest.tree, h_a * float("nan"), h_b, *maps, inside=True).isnan().all()


# ---- whole models -----------------------------------------------------------------------------------------------------------------


def batch_of(kind: str, replicas: int | None) -> PlanarBatch:
    """Trees, cycles, bonds, rigid graphs, and a node alone; padded."""
    f, rng = pg.families, np.random.default_rng(0)
    found = [
        f.path(5),
        f.star(4),
        f.cycle(5),
        f.k2n(3),
        f.wheel(4),
        f.ladder(3),
        f.nested_k4(2),
        pg.Graph(1, []),
        f.cactus(8, seed=1),
    ]
    found = [f.shuffled(g, k) for k, g in enumerate(found * (replicas or 1))]
    graphs = pg.GraphBatch.from_graphs(found)
    columns = {
        "nothing": {},
        "categories of nodes": {"x": rng.integers(0, 3, (graphs.num_nodes, 1))},
        "categories": {
            "x": rng.integers(0, 3, (graphs.num_nodes, 1)),
            "edge_attr": rng.integers(0, 4, (graphs.num_edges, 1)),
        },
        "numbers by direction": {
            "x": rng.integers(0, 3, (graphs.num_nodes, 2)).astype(np.float32),
            "dart_attr": rng.integers(0, 3, (graphs.num_edges, 2, 3)).astype(np.float32),
        },
    }[kind]
    loader = PackedLoader(PackedDataset.from_arrays(graphs, **columns), batch_size=9, pad=True)
    batches = list(loader)
    while len({batch.layout for batch in batches}) > 1:
        batches = list(loader)
    assert batches[0].layout.num_nodes > int(batches[0].counts[1])
    return PlanarBatch.stack(batches) if replicas else batches[0]


FEATURES = {
    "nothing": {},
    "categories of nodes": {"node_features": Categorical([3])},
    "categories": {"node_features": Categorical([3]), "edge_features": Categorical([4])},
    "numbers by direction": {"node_features": Continuous(2), "edge_features": Continuous(3)},
}
MODELS = [
    (BasePlanE, "categories of nodes", None, {"hidden": 16, "layers": 2}),
    (BasePlanE, "categories", None, {"hidden": 20}),
    (BasePlanE, "numbers by direction", None, {"hidden": 64}),
    (BasePlanE, "categories", 2, {"hidden": 16}),
    (BasePlanE, "categories of nodes", 2, {"hidden": 20}),
    (BasePlanE, "nothing", None, {"hidden": 16}),
    (BasePlanE, "categories", None, {"hidden": 16, "neighbours": False, "cut": False}),
    (BasePlanE, "categories of nodes", None, {"hidden": 16, "readout": False, "triconnected": False}),
    (BasePlanE, "categories of nodes", None, {"hidden": 16, "triconnected": False, "biconnected": False, "cut": False}),
    (BasePlanE, "categories", None, {"hidden": 16, "norm": "none", "residual": False}),
    (BasePlanE, "categories of nodes", None, {"hidden": 16, "dropout": 0.3, "dropout_readout": 0.2, "pooling": "mean"}),
    (GINE, "categories", 2, {"hidden": 20}),
]


@pytest.mark.parametrize(("cls", "kind", "replicas", "options"), MODELS, ids=str)
@pytest.mark.usefixtures("few_chunks")
def test_models(cls, kind, replicas, options, calls, monkeypatch):
    """A step in training mode: outputs, the gradients of all parameters, running averages; trees are in parts."""
    monkeypatch.setattr(structure, "_MANY_GRAPHS", 2)
    config = PlanEConfig(**{"layers": 1, "pos_dim": 4, "outputs": 3} | FEATURES[kind] | options)
    torch.manual_seed(1)
    model, batch = cls(config, replicas), batch_of(kind, replicas)

    def run(dtype: torch.dtype) -> Values:
        m = copy.deepcopy(model).to(dtype)
        out = torch.where(batch.graph_mask.unsqueeze(-1), m(batch), 0)
        return with_gradients(out, dict(m.named_parameters())) | {
            f"buffer {n}": b.clone() for n, b in m.named_buffers() if b.is_floating_point()
        }

    assert_same(run, again=config.dropout > 0)
    assert calls["triton_sums.sum_rows"]
    assert bool(calls["triton_mlp.mlp"]) == (config.norm == "batch")
    assert bool(calls["triton_tree.backward"]) == (cls is BasePlanE and config.terms[-1] in ("cut", "biconnected"))


@pytest.mark.parametrize(("kind", "replicas", "residual"), [("categories", None, True), ("numbers by direction", 2, False)])
@pytest.mark.usefixtures("few_chunks")
def test_values_are_kept_in_another_dtype(kind, replicas, residual, calls, monkeypatch):
    """bfloat16, as with products of such numbers, which the interpreter does not know; and float64, from which results do not change."""
    options = {"layers": 2, "pos_dim": 4, "outputs": 3, "hidden": 16, "dropout": 0.2, "residual": residual}
    torch.manual_seed(1)
    model, batch = BasePlanE(PlanEConfig(**options | FEATURES[kind]), replicas), batch_of(kind, replicas)

    def run(kept: torch.dtype) -> Values:
        monkeypatch.setattr(triton_tools, "_STORED", {"highest": kept})
        m, of_mlps, of_layers = copy.deepcopy(model), set(), set()
        for layer in m.layers:
            layer.register_forward_hook(lambda module, given, out: of_layers.add(out.dtype))
            for module in layer.modules():
                if isinstance(module, MLP) and len(module.norms):
                    module.register_forward_hook(lambda module, given, out: of_mlps.add(out.dtype))
        out = torch.where(batch.graph_mask.unsqueeze(-1), m(batch), 0)
        values = with_gradients(out, dict(m.named_parameters()))
        assert of_mlps == {kept}
        assert of_layers == {value.dtype for value in values.values()} == {torch.float32} or kept == torch.float64
        return values

    expected = run(torch.float32)
    assert max(errors(run(torch.float64), expected).values()) < 1e-4
    rough = run(torch.bfloat16)
    a, b = (torch.cat([value.flatten().double() for value in values.values()]) for values in (rough, expected))
    assert a @ b > 0.95 * a.norm() * b.norm()
    assert calls["triton_tree.backward"] == 3 * 2 * 2
