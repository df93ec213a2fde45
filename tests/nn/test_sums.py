"""Sums along incidences and of fused entries against dense matrices, the recursion against plain autograd, and their gradients."""

from __future__ import annotations

import pytest
import torch

from planegraph.nn import incidence
from planegraph.nn.incidence import Incidence, Rows, sum_rows
from planegraph.nn.recursion import Step, alternate
from planegraph.nn.relu_sum import MOST_TERMS, relu_sum

from .models import DTYPES

torch.set_num_threads(1)


def int32(values) -> torch.Tensor:
    return torch.as_tensor(values).to(torch.int32)


def runs(sizes: torch.Tensor) -> torch.Tensor:
    return torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)])


def random_rows(kind: str, rows: int, columns: int, g: torch.Generator) -> tuple[Rows, torch.Tensor]:
    """Rows of each form that the model uses, and the matrix that they stand for."""
    matrix = torch.zeros(rows, columns, dtype=torch.float64)
    if kind == "one":  # a single id per row, or nothing
        index = torch.randint(-1, columns, (rows,), generator=g)
        for r, c in enumerate(index.tolist()):
            if c >= 0:
                matrix[r, c] += 1
        return Rows(int32(index)), matrix
    if kind == "runs":  # runs of the columns themselves
        cuts = torch.sort(torch.randint(0, columns + 1, (rows + 1,), generator=g)).values
        for r in range(rows):
            matrix[r, cuts[r] : cuts[r + 1]] = 1
        return Rows(None, int32(cuts[:-1]), int32(cuts[1:])), matrix
    ptr = runs(torch.randint(0, 5, (rows,), generator=g))
    index = torch.randint(-1, columns, (int(ptr[-1]),), generator=g)
    for r in range(rows):
        for c in index[ptr[r] : ptr[r + 1]].tolist():
            if c >= 0:
                matrix[r, c] += 1
    return Rows.of_ptr(int32(ptr), int32(index)), matrix


def random_incidence(rows: int, columns: int, g: torch.Generator) -> tuple[Incidence, torch.Tensor]:
    """Both directions of one random 0/1 matrix, as runs of ids."""
    matrix = (torch.rand(rows, columns, generator=g) < 0.3).double()

    def of(m: torch.Tensor) -> Rows:
        return Rows.of_ptr(int32(runs(m.sum(1).long())), int32(m.nonzero()[:, 1]))

    return Incidence(of(matrix), of(matrix.T)), matrix


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", ["one", "runs", "ids"])
@pytest.mark.parametrize("width", [1, 3, 8, 33, 64])
@pytest.mark.parametrize("method", ["core", "torch"])
def test_sums(dtype, kind, width, method, monkeypatch):
    if method == "torch":
        monkeypatch.setattr(incidence, "_on_cpu", incidence._in_torch)
    g = torch.Generator().manual_seed(width)
    for rows, columns in ((1, 1), (7, 4), (4, 30), (50, 50)):
        entries, matrix = random_rows(kind, rows, columns, g)
        x = torch.randn(columns, width, generator=g, dtype=torch.float64).to(dtype)
        expected = (matrix @ x.double()).to(dtype)
        torch.testing.assert_close(sum_rows(x, entries), expected)
        wide = torch.full((columns, width + 5), torch.nan, dtype=dtype)
        wide[:, 2 : 2 + width] = x
        torch.testing.assert_close(sum_rows(wide[:, 2 : 2 + width], entries), expected)  # rows apart
        torch.testing.assert_close(sum_rows(x.T.contiguous().T, entries), expected)  # columns apart
        constant = x[:1].expand(columns, width)
        torch.testing.assert_close(sum_rows(constant, entries), (matrix @ constant.double()).to(dtype))
        before = torch.randn(rows, width, generator=g).to(dtype)
        torch.testing.assert_close(sum_rows(x, entries, out=before.clone(), add=True), before + expected)
        inside = torch.full((rows + 2, width), torch.nan, dtype=dtype)
        sum_rows(x, entries, out=inside[1:-1])
        torch.testing.assert_close(inside[1:-1], expected)
        assert inside[[0, -1]].isnan().all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nothing_to_sum(dtype):
    none = Rows.of_ptr(int32([0, 0, 0]), int32([]))
    assert sum_rows(torch.ones(0, 4, dtype=dtype), none).tolist() == [[0] * 4] * 2
    assert sum_rows(torch.ones(3, 4, dtype=dtype), none).tolist() == [[0] * 4] * 2
    assert sum_rows(torch.ones(3, 4, dtype=dtype), Rows.of_ptr(int32([0]), int32([]))).shape == (0, 4)


def test_gradients_of_sums():
    g = torch.Generator().manual_seed(0)
    sums, matrix = random_incidence(6, 9, g)
    x = torch.randn(9, 3, generator=g, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(sums @ x, matrix @ x)
    assert torch.autograd.gradcheck(lambda x: sums @ x, x)
    assert torch.autograd.gradgradcheck(lambda x: (sums @ x).square(), x)


def random_terms(terms: int, entries: int, width: int, dtype: torch.dtype, g: torch.Generator):
    """Tables and an id into each for every entry, some of them nothing."""
    tables = [
        torch.randn(int(torch.randint(1, 9, (), generator=g)), width, generator=g, dtype=torch.float64).to(dtype)
        for _ in range(terms)
    ]
    return tables, [int32(torch.randint(-1, len(t), (entries,), generator=g)) for t in tables]


def relu_sum_by_autograd(tables, indices, matrix):
    total = sum(torch.cat([t, torch.zeros_like(t[:1])])[i.long()] for t, i in zip(tables, indices, strict=True))  # -1: the last row
    return matrix.to(total) @ total.relu()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("terms", range(1, MOST_TERMS + 1))
@pytest.mark.parametrize("width", [1, 3, 8, 33, 70])
def test_relu_sum(dtype, terms, width):
    g = torch.Generator().manual_seed(width)
    for segments, entries in ((1, 1), (5, 0), (4, 30), (40, 60)):
        rows, matrix = random_rows("runs", segments, entries, g)
        tables, indices = random_terms(terms, entries, width, dtype, g)
        tables = [t.requires_grad_(k != 1) for k, t in enumerate(tables)]  # one of them needs no gradient
        found, expected = relu_sum(tables, indices, rows), relu_sum_by_autograd(tables, indices, matrix)
        torch.testing.assert_close(found, expected)
        weight = torch.randn(expected.shape, generator=g, dtype=torch.float64).to(dtype).T.contiguous().T
        wanted = [t for t in tables if t.requires_grad]
        for x, y in zip(*(torch.autograd.grad(z, wanted, weight) for z in (found, expected)), strict=True):
            torch.testing.assert_close(x, y)


def test_relu_sum_of_rows_apart_and_of_one_row():
    g = torch.Generator().manual_seed(0)
    rows, matrix = random_rows("runs", 4, 30, g)
    (wide, other), indices = random_terms(2, 30, 12, torch.float64, g)
    for tables in ([wide[:, 3:9], other[:, :6]], [wide[:1, :6].expand(len(wide), 6), other.T.contiguous().T[:, 2:8]]):
        tables = [t.detach().requires_grad_() for t in tables]
        found, expected = relu_sum(tables, indices, rows), relu_sum_by_autograd(tables, indices, matrix)
        torch.testing.assert_close(found, expected)
        for x, y in zip(*(torch.autograd.grad(z.square().sum(), tables) for z in (found, expected)), strict=True):
            torch.testing.assert_close(x, y)


def small_trees() -> tuple[int, int, list[Step]]:
    """Rows a: {0, 1, 2}, then {3, 4}, then {5}; rows b stand beside a in the first two slices, as the messages of BiEnc do."""
    begin, end = int32([0, 0, 0, 0, 2, 3]), int32([0, 0, 0, 2, 3, 5])
    parent = int32([3, 3, 4, 5, 5, -1])
    slices = [(0, 3), (3, 5), (5, 6)]
    steps, below = [], (0, 0)
    for rows in slices:
        steps.append(Step.between(True, rows, below, begin, end, parent))
        if rows != slices[-1]:
            steps.append(Step(False, rows, rows))
        below = rows
    return 6, 5, steps


def by_autograd(a_pre, b_pre, w_a, w_b):
    children = {3: [0, 1], 4: [2], 5: [3, 4]}
    a: dict[int, torch.Tensor] = {}
    b: dict[int, torch.Tensor] = {}
    for r in range(6):
        below = sum((b[c] for c in children.get(r, [])), start=torch.zeros(a_pre.shape[1], dtype=a_pre.dtype))
        a[r] = (a_pre[r] + w_a @ below).relu()
        if r < 5:
            b[r] = (b_pre[r] + w_b @ a[r]).relu()
    return torch.stack([a[r] for r in range(6)])


def test_recursion():
    g = torch.Generator().manual_seed(3)
    rows_a, rows_b, steps = small_trees()
    shapes = ((rows_a, 4), (rows_b, 4), (4, 4), (4, 4))
    inputs = [torch.randn(s, generator=g, dtype=torch.float64, requires_grad=True) for s in shapes]
    found, expected = alternate(*inputs, steps), by_autograd(*inputs)
    torch.testing.assert_close(found, expected)
    weight = torch.randn(expected.shape, generator=g, dtype=torch.float64)
    for x, y in zip(*(torch.autograd.grad((weight * z).sum(), inputs) for z in (found, expected)), strict=True):
        torch.testing.assert_close(x, y)
    assert torch.autograd.gradcheck(lambda *x: alternate(*x, steps), inputs)


def test_relu_sum_keeps_nan():
    """As ``torch.relu`` does: a model that has diverged must not look well."""
    x = torch.tensor([[float("nan"), 1.0], [2.0, -3.0]], requires_grad=True)
    y = relu_sum([x], [int32([0, 1])], Rows(None, int32([0]), int32([2])))
    expected = x.relu().sum(0, keepdim=True)
    torch.testing.assert_close(y, expected, equal_nan=True)
    for a, b in zip(*(torch.autograd.grad(z.sum(), x) for z in (y, expected)), strict=True):
        torch.testing.assert_close(a, b, equal_nan=True)
