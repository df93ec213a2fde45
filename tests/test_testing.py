"""``planegraph.testing``: the assertions pass on invariant models, fail on others, and say where."""

from __future__ import annotations

import json

import graphs
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from nn.examples import KINDS, Example, Kind, corner_cases  # noqa: E402
from nn.models import DTYPES, make_model, small_config  # noqa: E402
from torch_geometric.data import Data  # noqa: E402

import planegraph as pg  # noqa: E402
from planegraph.nn import GIN  # noqa: E402
from planegraph.testing import assert_distinguishes, assert_invariant, relabelled  # noqa: E402

HEXAGON = pg.families.cycle(6)
TRIANGLES = pg.Graph(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])
CHEMICAL = pg.Graph(4, [(0, 1), (1, 2), (2, 0), (2, 3)], node_labels=[6, 6, 7, 8])


class FirstNode(torch.nn.Module):
    """Not invariant: reads the first node of each graph."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1))

    def forward(self, batch):
        return batch.x[batch.node_ptr[:-1].long()] * self.scale


class Dropped(torch.nn.Module):
    """Random in training mode only."""

    def __init__(self) -> None:
        super().__init__()
        self.dropout = torch.nn.Dropout()

    def forward(self, batch):
        return self.dropout(torch.ones(batch.num_graphs, 50))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_model_passes(kind, dtype):
    model = make_model(small_config(kind), dtype=dtype)
    for g in (graphs.prism(5), graphs.book(3), graphs.pendant(graphs.complete(4), 0, 1)):
        example = Example.of(g, kind, seed=2)
        assert_invariant(model, example.build())
        assert_invariant(model, example.to_pyg())


def test_corner_cases_pass():
    model = make_model(small_config())
    for g in corner_cases():
        assert_invariant(model, g.build(), relabelings=2)


def test_a_graph_that_is_not_planar_passes():
    assert_invariant(make_model(small_config()), graphs.complete(5).build())


def test_a_module_that_is_not_invariant_fails():
    with pytest.raises(
        AssertionError, match=r"depends on the numbering.*changes by 0\.(25|14)(.|\n)*graph6 Cx(.|\n)*nodes \["
    ) as failure:
        assert_invariant(FirstNode(), CHEMICAL)
    assert "node_labels=[[6], [6], [7], [8]]" in str(failure.value)


def test_a_model_whose_walks_ignore_its_features_fails():
    """The mistake that the assertion is made for."""
    from planegraph.data import PackedDataset

    kind = Kind("categorical")
    model, example = make_model(small_config(kind)), Example.of(graphs.prism(5), kind, seed=1)

    def careless(data):
        batch = PackedDataset.from_pyg([data], node_attrs=())[:]
        batch.fingerprint = None  # by which the model would refuse it
        return model.embed(batch)

    with pytest.raises(AssertionError, match="depends on the numbering"):
        assert_invariant(careless, example.to_pyg())


def test_the_message_names_the_copy():
    """From what the message says the failure can be repeated."""
    seen = []

    def first_label(graph):
        seen.append(graph)
        return torch.tensor(graph.node_labels[0])

    with pytest.raises(AssertionError) as failure:
        assert_invariant(first_label, CHEMICAL, relabelings=7, seed=3)
    number = int(str(failure.value).split("relabelling ")[1].split(" of 7, seed 3")[0])
    shown = str(failure.value).split("nodes ")[1].split(", edges")[0]
    assert seen[number] == CHEMICAL.relabel(json.loads(shown))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_outputs_that_are_not_finite_fail(value):
    """And the message blames the output, not the numbering."""
    message = rf"^the output is not finite: entry \[1\] is {value}, 1 of 2 are not(.|\n)*graph6 Cx"
    with pytest.raises(AssertionError, match=message):
        assert_invariant(lambda graph: torch.tensor([1.0, value]), CHEMICAL)
    with pytest.raises(AssertionError, match=message):
        assert_distinguishes(lambda graph: torch.tensor([1.0, value if graph is CHEMICAL else 2.0]), HEXAGON, CHEMICAL)
    with pytest.raises(AssertionError, match=rf"{message}(.|\n)*relabelling \d of 5"):
        assert_invariant(lambda graph: torch.tensor([1.0, 2.0 if graph is CHEMICAL else value]), CHEMICAL)
    data = Data(x=torch.tensor([[1.0], [value]]), edge_index=torch.tensor([[0, 1], [1, 0]]))
    with pytest.raises(AssertionError, match=r"^the output is not finite: entry \[\] is"):
        assert_invariant(lambda graph: graph.x.sum(), data)


class Broken(torch.nn.Module):
    """A model whose weights became NaN."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([float("nan")]))

    def forward(self, batch):
        return self.weight.expand(batch.num_graphs, 3)


def test_a_model_that_returns_nan_is_not_called_dependent_on_the_numbering():
    with pytest.raises(AssertionError, match=r"^the output is not finite: entry \[0\] is nan, 3 of 3 are not"):
        assert_invariant(Broken(), HEXAGON)


def test_outputs_of_another_shape_fail():
    with pytest.raises(AssertionError, match="shape of the output"):
        assert_invariant(lambda graph: torch.zeros(int(graph.node_labels[0, 0])), CHEMICAL)


def test_tolerance():
    def noisy(graph):
        return torch.tensor([1.0 + 1e-6 * graph.node_labels[0, 0]], dtype=torch.float64)

    assert_invariant(noisy, CHEMICAL, tolerance=1e-5)
    with pytest.raises(AssertionError):
        assert_invariant(noisy, CHEMICAL)


def test_the_mode_of_the_model_is_kept():
    model = Dropped().train()
    assert_invariant(model, HEXAGON)
    assert model.training
    assert model.dropout.training


@pytest.mark.parametrize("relabelings", [0, -1])
def test_at_least_one_relabelling(relabelings):
    with pytest.raises(ValueError, match="at least 1"):
        assert_invariant(Dropped(), HEXAGON, relabelings=relabelings)


def test_bad_graphs_are_refused():
    with pytest.raises(pg.InvalidGraphError, match="found list"):
        assert_invariant(Dropped(), [(0, 1)])


def test_decomposed_data_is_refused():
    from planegraph.transforms import Planar

    with pytest.raises(pg.InvalidGraphError, match="before Planar"):
        assert_invariant(Dropped(), Planar()(Example.of(graphs.cycle(4)).to_pyg()))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_relabelled_copies_are_isomorphic(kind):
    example = Example.of(graphs.polygon_triangulation(9, 1), kind, seed=4)
    for seed in range(5):
        for graph in (example.build(), example.to_pyg()):
            copy, how = relabelled(graph, seed)
            assert type(copy) is type(graph)
            g, h = (x if isinstance(x, pg.Graph) else pg.Graph.from_pyg(x) for x in (graph, copy))
            assert pg.is_isomorphic(g, h)
            assert h == g.relabel(how.nodes)


def test_relabelling_moves_every_attribute_of_nodes_and_edges():
    index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    data = Data(x=torch.arange(3), edge_index=index, edge_attr=index.T.clone(), pos=torch.arange(3.0)[:, None], y=torch.ones(1))
    copy, how = relabelled(data, 1)
    assert copy.x[how.nodes].tolist() == [0, 1, 2]
    assert copy.pos[how.nodes, 0].tolist() == [0, 1, 2]
    assert copy.x[copy.edge_index].T.tolist() == copy.edge_attr.tolist()
    assert copy.y.tolist() == [1]
    assert data.x.tolist() == [0, 1, 2]


def test_distinguishes():
    model = make_model(small_config())
    assert_distinguishes(model, HEXAGON, TRIANGLES)
    assert_distinguishes(model, HEXAGON, pg.families.path(6))


def test_gin_does_not_tell_a_hexagon_from_triangles():
    with pytest.raises(AssertionError, match=r"same output.*needed is more than 1e-08(.|\n)*graph6 EhEG(.|\n)*graph6"):
        assert_distinguishes(make_model(small_config(), cls=GIN), HEXAGON, TRIANGLES)


def test_isomorphic_graphs_are_not_told_apart():
    with pytest.raises(AssertionError, match="isomorphic"):
        assert_distinguishes(make_model(small_config()), HEXAGON, relabelled(HEXAGON)[0])


def test_outputs_of_different_shapes_are_not_compared():
    with pytest.raises(AssertionError, match="different shapes"):
        assert_distinguishes(lambda graph: torch.zeros(graph.num_nodes), HEXAGON, CHEMICAL)
