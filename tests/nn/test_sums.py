"""Sums along incidences against dense matrices, with their gradients; the MLP of gathered rows and its sums against plain autograd."""

from __future__ import annotations

import pytest
import torch

from planegraph.nn.mlp import MLP
from planegraph.nn.ops import incidence
from planegraph.nn.ops.incidence import Incidence, Rows, add_sums, sum_rows
from planegraph.nn.ops.mlp import At

from .models import DTYPES


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
        monkeypatch.setattr(incidence, "_in_core", incidence._in_torch)
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
        torch.testing.assert_close(sum_rows(x, entries, base=before), before + expected)
        torch.testing.assert_close(sum_rows(x, entries, out=torch.empty_like(before), base=before), before + expected)
        again = before.clone()
        assert sum_rows(x, entries, out=again, base=again) is again
        torch.testing.assert_close(again, before + expected)
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


@pytest.mark.parametrize("method", ["core", "torch"])
def test_replicas(method, monkeypatch):
    """Each with its own ids."""
    if method == "torch":
        monkeypatch.setattr(incidence, "_in_core", incidence._in_torch)
    g = torch.Generator().manual_seed(2)
    x, base = (torch.randn(3, rows, 5, generator=g, dtype=torch.float64) for rows in (6, 4))
    for kind in ("one", "runs"):
        parts, matrices = zip(*(random_rows(kind, 4, 6, g) for _ in range(3)), strict=True)
        rows = Rows(*(None if t[0] is None else torch.stack(t) for t in zip(*parts, strict=True)))
        torch.testing.assert_close(sum_rows(x, rows), torch.stack(matrices) @ x)
        torch.testing.assert_close(sum_rows(x, rows, base=base), base + torch.stack(matrices) @ x)


def test_gradients_of_sums_that_are_added():
    g = torch.Generator().manual_seed(0)
    sums, matrix = random_incidence(6, 9, g)
    x, y = (torch.randn(rows, 3, generator=g, dtype=torch.float64, requires_grad=True) for rows in (9, 6))
    torch.testing.assert_close(add_sums(y, sums, x), y + matrix @ x)
    torch.testing.assert_close(add_sums(None, sums, x), matrix @ x)
    assert torch.autograd.gradcheck(lambda x, y: add_sums(y, sums, x), (x, y))
    assert torch.autograd.gradgradcheck(lambda x, y: add_sums(y, sums, x).square(), (x, y))


def test_rows_that_are_not_there_are_not_read():
    sums, _ = random_incidence(6, 9, torch.Generator().manual_seed(0))
    x, y = torch.zeros(9, 2), torch.zeros(6, 2)
    for call in (lambda: sums @ x[1:], lambda: sums @ y, lambda: add_sums(y, sums, x[1:]), lambda: add_sums(x, sums, x)):
        with pytest.raises(ValueError, match="found a tensor of shape"):
            call()


def random_choice(rows: int, columns: int, g: torch.Generator) -> tuple[Incidence, torch.Tensor]:
    """One column or none for each row, and the matrix."""
    index = torch.randint(-1, columns, (rows,), generator=g)
    order = torch.argsort(index, stable=True)[int((index < 0).sum()) :]
    counts = torch.bincount(index[index >= 0], minlength=columns)
    matrix = (index[:, None] == torch.arange(columns)).double()
    return Incidence(Rows(int32(index)), Rows.of_ptr(int32(runs(counts)), int32(order))), matrix


def random_segments(segments: int, rows: int, real: int, g: torch.Generator) -> tuple[Incidence, torch.Tensor]:
    """Runs that cover the real rows; the others, which pad, are in none."""
    cuts = torch.sort(torch.randint(0, real + 1, (segments - 1,), generator=g)).values.tolist()
    ptr = torch.tensor([0, *cuts, real])
    of = torch.cat([torch.repeat_interleave(torch.arange(segments), ptr.diff()), torch.full((rows - real,), -1)])
    return Incidence(Rows.of_ptr(int32(ptr)), Rows(int32(of))), (torch.arange(segments)[:, None] == of).double()


def plain_mlp(m: MLP, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The MLP by autograd, with the statistics of the rows that count."""
    first = torch.cat([part.weight for part in m.first], 1)
    for i, (weight, bias) in enumerate(((first, m.first[0].bias), (m.last.weight, m.last.bias))):
        x = x @ weight.T + (0 if bias is None else bias)
        if i == 1 and not m.ends:
            return x
        if len(m.norms):
            real = x[mask]
            x = (x - real.mean(0)) / (real.var(0, unbiased=False) + 1e-5).sqrt() * m.norms[i].weight + m.norms[i].bias
        x = x.relu()
    return x


@pytest.mark.parametrize("norm", ["none", "batch"])
@pytest.mark.parametrize("parts", ["dense", "tables", "both"])
@pytest.mark.parametrize("sums", ["none", "into", "into and plus"])
def test_mlp(norm, parts, sums):
    """Parts mapped where they live, rows that pad, and sums over segments: as of the concatenation, gathered first."""
    torch.manual_seed(3)
    g = torch.Generator().manual_seed(4)
    rows, real, segments, width = 30, 22, 7, 6
    (one, one_matrix), (other, other_matrix) = random_choice(rows, 5, g), random_choice(rows, 9, g)
    into, into_matrix = random_segments(segments, rows, real, g)
    shapes = ((5, 3), (9, 4), (rows, 2), (segments, width))
    x, y, dense, plus = leaves = [torch.randn(shape, generator=g, dtype=torch.float64, requires_grad=True) for shape in shapes]
    given = {"dense": [dense], "tables": [At(x, one), At(y, other)], "both": [At(x, one), dense, At(y, other)]}[parts]
    joined = torch.cat([p if isinstance(p, torch.Tensor) else {x: one_matrix, y: other_matrix}[p.x] @ p.x for p in given], 1)
    m = MLP([p.x.shape[1] if isinstance(p, At) else p.shape[1] for p in given], width, norm, ends=sums != "none").double()
    for p in m.parameters():
        torch.nn.init.normal_(p)
    mask = torch.arange(rows) < real
    expected = plain_mlp(m, joined, mask)
    if sums == "none":
        found, expected = m(*given, mask=mask)[mask], expected[mask]
    else:
        base = plus if sums == "into and plus" else None
        found, expected = m(*given, mask=mask, into=into, plus=base), into_matrix @ expected + (0 if base is None else base)
    torch.testing.assert_close(found, expected)
    weight = torch.randn(expected.shape, generator=g, dtype=torch.float64)
    leaves = [*leaves, *m.parameters()]
    for a, b in zip(*(torch.autograd.grad((weight * z).sum(), leaves, allow_unused=True) for z in (found, expected)), strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            torch.testing.assert_close(a, b)
