"""What a batch must be before kernels read it by address: the right types and rows, and every id that of a row that exists."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from packed_samples import shapes, with_labels

torch = pytest.importorskip("torch")

from planegraph.data import PackedDataset, PlanarBatch, batch_checks  # noqa: E402
from planegraph.data.batch import collate  # noqa: E402
from planegraph.data.device.resident import ResidentDataset  # noqa: E402
from planegraph.data.layout import COUNTS, SECTION_NAMES  # noqa: E402
from planegraph.data.needs import Needs  # noqa: E402
from planegraph.errors import InvalidGraphError  # noqa: E402
from planegraph.nn import BasePlanE  # noqa: E402


def dataset(by_dart: bool = False, floats: bool = False) -> PackedDataset:
    ds = PackedDataset.from_graphs([with_labels(g, k, by_dart) for k, g in enumerate(shapes())], y=np.arange(16.0))
    return ds.with_returns(2) if floats else ds


DS = dataset()
FLOATS = dataset(floats=True)


def by_hand(batch: PlanarBatch, index: torch.Tensor | None = None, **features: torch.Tensor) -> PlanarBatch:
    given = {"x": batch.x, "edge_attr": batch.edge_attr, "y": batch.y} | features
    return PlanarBatch(batch.index.clone() if index is None else index, batch.layout, **given)


@pytest.fixture
def counted(monkeypatch) -> list[PlanarBatch]:
    """The batches whose entries were looked at."""
    seen = []
    real = batch_checks.check_entries
    monkeypatch.setattr("planegraph.data.batch.check_entries", lambda batch: (seen.append(batch), real(batch)))
    return seen


# ---- casting ----------------------------------------------------------------------------------------------------------------------


def test_a_dtype_casts_floats_and_nothing_else():
    batch = FLOATS[:]
    double = batch.to(torch.float64)
    assert (double.x.dtype, double.y.dtype) == (torch.float64, torch.float64)
    assert (double.index.dtype, double.edge_attr.dtype) == (torch.int32, torch.int32)
    assert torch.equal(double.x, batch.x.double())
    with pytest.raises(TypeError, match=r"floating-point dtypes only; found torch\.int64"):
        batch.to(torch.int64)


def test_a_model_in_double_precision_reads_a_batch_in_double_precision():
    """The cast reached the index, whose address is read as int32: a segmentation fault."""
    model = BasePlanE.for_data(FLOATS, hidden=4, layers=2).eval()
    single = model(FLOATS[:])
    double = model.double()(FLOATS[:].to(torch.float64))
    assert double.dtype == torch.float64
    assert torch.allclose(single.double(), double, atol=1e-4)


# ---- types and rows ---------------------------------------------------------------------------------------------------------------


def test_tensors_that_are_not_those_of_the_layout():
    batch, model = DS[:], BasePlanE.for_data(DS, hidden=4, layers=1)
    edges, rows = batch.edge_attr, len(batch.x)
    for wrong, message in (
        (by_hand(batch, batch.index.long()), r"index must be contiguous int32 .* found torch\.int64"),
        (by_hand(batch, batch.index.repeat_interleave(2)[::2]), r"index must be contiguous .* strides \(2,\)"),
        (by_hand(batch, batch.index[None, None]), "index must be contiguous int32 of shape"),
        (
            by_hand(batch, x=batch.x[:-1]),
            rf"x must have shape \({rows}, width\) on cpu, a row per node; found \({rows - 1}, 2\) on cpu",
        ),
        (by_hand(batch, x=batch.x[:, 0]), r"x must have shape .* found \(\d+,\)"),
        (by_hand(batch, x=batch.x.to("meta")), "x must have shape .* found .* on meta"),
        (by_hand(batch, x=batch.x.numpy()), "x must be a dense tensor; found ndarray"),
        (by_hand(batch, x=batch.x.to_sparse()), r"x must be a dense tensor; found torch\.sparse_coo"),
        (by_hand(batch, edge_attr=edges[:3]), r"edge_attr must have shape .* a row per row of edge features; found \(3, 1\)"),
    ):
        with pytest.raises(InvalidGraphError, match=message):
            wrong.check()
        if wrong.index.dim() == 1:
            with pytest.raises(InvalidGraphError, match=message):
                model(wrong)
    batch.x = batch.x[:5]
    with pytest.raises(InvalidGraphError, match="x must have shape"):
        model(batch)


def test_an_index_of_another_batch():
    small, large = DS[[8, 4]], DS[[9, 4]]
    with pytest.raises(
        InvalidGraphError, match=rf"index must have {small.layout.length} entries.* found shape \({large.layout.length},\)"
    ):
        by_hand(small, large.index)
    with pytest.raises(InvalidGraphError, match=r"index must have .* found shape \(\)"):
        by_hand(small, torch.tensor(3, dtype=torch.int32))
    capacity = Needs(DS.tables, 0).likely(8)
    one, other = collate(DS, [8, 4], capacity), collate(DS, [13], capacity)
    by_hand(one, other.index).check()  # of one layout any index will do: kernels read what is there
    long = one.index.new_zeros(small.layout.length)
    with pytest.raises(InvalidGraphError, match=r"counts\[0\] of the batch must be 2 to 2; found 0"):
        by_hand(small, long).check()


def test_an_index_that_was_cut_short():
    """Its sections were read in full, and checked as far as the index goes: a segmentation fault."""
    batch, model = DS[:], BasePlanE.for_data(DS, hidden=4, layers=1)
    batch.index.resize_(3)
    batch.walk_node[0] = 2**30
    with pytest.raises(InvalidGraphError, match=rf"length {batch.layout.length}; found torch\.int32, shape \(3,\)"):
        model(batch)


def test_complex_features_are_no_categories():
    batch, model = DS[:], BasePlanE.for_data(DS, hidden=4, layers=1)
    batch.x = batch.x.to(torch.complex64)
    with pytest.raises(InvalidGraphError, match=r"reads 2 integer columns; the batch has dtype torch\.complex64"):
        model(batch)


def test_the_index_cannot_be_replaced():
    batch = DS[:]
    for name in ("index", "layout", "walk_node", "counts"):
        with pytest.raises(AttributeError, match=f"{name} of a batch cannot be replaced"):
            setattr(batch, name, getattr(batch, name))


# ---- ids --------------------------------------------------------------------------------------------------------------------------


def stacks() -> list[PlanarBatch]:
    capacity = Needs(DS.tables, 0).likely(len(DS))
    padded = collate(DS, np.arange(len(DS)), capacity)
    resident = ResidentDataset(DS, "cpu").collate(torch.arange(len(DS)), capacity)
    return [DS[:], DS[[]], padded, resident, PlanarBatch.stack([padded, resident]), dataset(by_dart=True)[:], FLOATS[[0]], DS[[2]]]


@pytest.mark.parametrize("k", range(8))
def test_what_the_library_makes_is_in_range_and_not_checked(k, counted):
    batch = stacks()[k]
    batch.check()
    again = [batch.to("cpu"), batch.to(torch.float64), pickle.loads(pickle.dumps(batch)), copy.copy(batch), copy.deepcopy(batch)]
    for made in (*again, PlanarBatch.stack([batch, batch])) if batch.index.dim() == 1 else again:
        made.check()
    assert not counted
    by_hand(batch).check()
    assert len(counted) == 1


@pytest.mark.parametrize("k", [0, 2, 4])
def test_every_section_is_checked(k):
    """Far out of range, one beyond, and one below, at each end of each section."""
    batch = stacks()[k]
    for name, (start, stop) in batch.layout.offsets.items():
        for at in {start, stop - 1} if stop > start else ():
            for value in (-(2**31), -2, 2**20, 2**31 - 1):
                index = batch.index.clone()
                index[..., at] = value
                with pytest.raises(InvalidGraphError, match=rf"{name}\[{at - start}\] of the batch must be .*; found {value}\. "):
                    by_hand(batch, index).check()
    assert set(batch.layout.offsets) == set(SECTION_NAMES)


@pytest.mark.parametrize(
    ("name", "unit", "most"), [("walk_node", "nodes", -1), ("node_walk_ptr", "walks", 0), ("spqr_end", "spqr", 0)]
)
def test_bounds_are_sharp(name, unit, most):
    batch = DS[:]
    start, _ = batch.layout.offsets[name]
    index = batch.index.clone()
    index[start] = getattr(batch.layout, f"num_{unit}") + most
    by_hand(batch, index).check()
    index[start] += 1
    with pytest.raises(InvalidGraphError, match=name):
        by_hand(batch, index).check()
    assert unit in COUNTS


def test_a_model_refuses_ids_beyond_the_rows():
    """They were addresses: a segmentation fault, or numbers from anywhere."""
    batch, model = DS[:], BasePlanE.for_data(DS, hidden=4, layers=1)
    index = batch.index.clone()
    index[batch.layout.offsets["walk_node"][0]] = 2**30
    with pytest.raises(InvalidGraphError, match=r"walk_node\[0\] of the batch must be -1 to \d+; found 1073741824"):
        model(by_hand(batch, index))
    static = collate(DS, np.arange(16))
    with pytest.raises(InvalidGraphError, match="walk_node"):  # a captured step reads it and does not ask
        static.copy_(by_hand(batch, index))
    with pytest.raises(InvalidGraphError, match="replica 1: walk_node"):
        PlanarBatch.stack([by_hand(batch), by_hand(batch, index)]).check()


def test_checked_once_until_it_is_changed(counted):
    batch = by_hand(DS[:])
    model = BasePlanE.for_data(DS, hidden=4, layers=2)
    for _ in range(3):
        model(batch)
    model(batch.to("cpu"))
    assert len(counted) == 1
    batch.walk_node[0] = 1
    model(batch)
    assert len(counted) == 2
    made = DS[:]
    made.walk_node[0] = 2**30
    with pytest.raises(InvalidGraphError, match="walk_node"):
        model(made)
    made.copy_(DS[:])
    counted.clear()
    model(made)
    assert not counted


def test_inference_tensors_do_not_say_that_they_were_changed():
    """So they are checked in every pass; one that was collated under inference mode, and then altered, ended the process."""
    model = BasePlanE.for_data(DS, hidden=4, layers=2)
    with torch.inference_mode():
        batch = DS[:]
        model(batch)
        batch.walk_node[0] = 2**30
        with pytest.raises(InvalidGraphError, match="walk_node"):
            model(batch)


# ---- on a GPU ---------------------------------------------------------------------------------------------------------------------


class OnGpu(torch.Tensor):
    """A tensor on the CPU that says otherwise."""

    is_cuda = True


def test_the_check_of_a_gpu_is_an_assertion_that_a_setting_switches_off(monkeypatch):
    batch = DS[:]
    index = batch.index.clone()
    by_hand(batch, index.as_subclass(OnGpu)).check()
    index[batch.layout.offsets["node_graph"][0]] = 2**30
    with pytest.raises(RuntimeError, match=r"index of PlanarBatch\(16 graphs, .*\) holds entries out of range"):
        by_hand(batch, index.as_subclass(OnGpu)).check()
    monkeypatch.setenv(batch_checks.SETTING, "0")
    by_hand(batch, index.as_subclass(OnGpu)).check()
    with pytest.raises(InvalidGraphError):  # a CPU always checks
        by_hand(batch, index).check()


_CUDA = """
import torch
from test_batch_checks import DS, by_hand
batch = DS[:]
index = batch.index.clone()
index[batch.layout.offsets["node_graph"][0]] = 2**30
bad = by_hand(batch, index).to("cuda")
graph = torch.cuda.CUDAGraph()
torch.cuda.synchronize()
with torch.cuda.graph(graph):
    bad.check()
graph.replay()
torch.cuda.synchronize()
print("survived")
"""


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(("setting", "survives"), [("1", False), ("0", True)])
def test_a_gpu_asserts_it_in_a_captured_step(setting, survives):
    env = os.environ | {batch_checks.SETTING: setting, "PYTHONPATH": os.path.dirname(__file__)}
    done = subprocess.run([sys.executable, "-c", _CUDA], env=env, capture_output=True, text=True)
    assert ("survived" in done.stdout) == survives, done.stderr
    assert survives or "assert" in done.stderr
