"""planegraph as a backend of networkx: what networkx answers itself, on graphs of all kinds."""

from __future__ import annotations

import os
import subprocess
import sys

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import planegraph as pg

nx.config.warnings_to_ignore.add("cache")
ATLAS = [G for G in nx.graph_atlas_g() if 2 <= len(G) <= 6]


def edges(pairs) -> list[frozenset]:
    return sorted((frozenset(e) for e in pairs), key=sorted)


def sets(found) -> list[list]:
    return sorted(sorted(x) for x in found)


def ours(function, G, *args, **kwargs):
    return function(G, *args, backend="planegraph", **kwargs)


@pytest.mark.parametrize("G", ATLAS, ids=lambda G: nx.to_graph6_bytes(G, header=False).decode().strip())
def test_small_graphs(G):
    assert edges(ours(nx.bridges, G)) == edges(nx.bridges(G))
    assert ours(nx.has_bridges, G) == nx.has_bridges(G)
    assert sorted(ours(nx.articulation_points, G)) == sorted(nx.articulation_points(G))
    assert ours(nx.is_planar, G) == nx.is_planar(G)
    if nx.is_connected(G) and nx.node_connectivity(G) < 3:
        assert sets(ours(nx.all_node_cuts, G)) == sets(nx.all_node_cuts(G))


@given(st.integers(2, 40), st.floats(0.5, 2.5), st.integers(0, 2**32 - 1))
def test_random_multigraphs_with_names(n, density, seed):
    G = nx.MultiGraph(nx.gnm_random_graph(n, int(n * density / 2), seed=seed))
    G.add_edges_from(list(G.edges)[::3])
    G.add_edges_from((v, v) for v in list(G)[::5])
    G = nx.relabel_nodes(G, {v: f"node {v}" for v in G})
    assert edges(ours(nx.bridges, G)) == edges(nx.bridges(G))
    for root in list(G)[:3]:
        assert edges(ours(nx.bridges, G, root=root)) == edges(nx.bridges(G, root=root))
    assert sorted(ours(nx.articulation_points, G)) == sorted(nx.articulation_points(G))


@given(st.integers(3, 30), st.integers(0, 60), st.integers(0, 2**32 - 1))
def test_planarity_comes_with_its_certificate(n, m, seed):
    G = nx.relabel_nodes(nx.gnm_random_graph(n, m, seed=seed), str)
    planar, certificate = ours(nx.check_planarity, G, counterexample=True)
    assert planar == nx.check_planarity(G)[0]
    if planar:
        certificate.check_structure()
        assert edges(certificate.to_undirected().edges) == edges(G.edges)
    else:
        assert not nx.check_planarity(certificate)[0]
        assert set(edges(certificate.edges)) <= set(edges(G.edges))
        assert sorted(d for _, d in certificate.degree if d != 2) in ([3] * 6, [4] * 5)
        assert ours(nx.check_planarity, G) == (False, None)


def test_errors_are_those_of_networkx():
    G = nx.Graph([(0, 1), (2, 3)])
    with pytest.raises(nx.NodeNotFound, match="Root node 9"):
        list(ours(nx.bridges, G, root=9))
    with pytest.raises(nx.NetworkXError, match="disconnected"):
        list(ours(nx.all_node_cuts, G))
    with pytest.raises(nx.NetworkXNotImplemented):
        list(ours(nx.bridges, nx.DiGraph([(0, 1)])))


def test_what_networkx_counts_in_another_way_is_left_to_it():
    loop = nx.Graph([(0, 1), (1, 2), (0, 0)])
    with nx.config(backend_priority=["planegraph"]):
        assert list(nx.all_node_cuts(loop)) == list(nx.all_node_cuts(loop, backend="networkx"))
    path = nx.path_graph(3)
    assert edges(ours(nx.bridges, path, root=0.0)) == edges(path.edges)  # 0.0 is the node 0


def test_without_a_cache():
    G = nx.path_graph(3)
    G.__networkx_cache__ = None
    with nx.config(backend_priority=["planegraph"]):
        assert list(nx.articulation_points(G)) == [1]
        assert nx.is_planar(G)


@pytest.mark.slow
def test_the_tests_of_networkx():
    """With the backend in place of its own functions, where it can."""
    modules = ("test_planarity", "test_bridges", "test_planar_drawing", "test_chains")
    names = [f"networkx.algorithms.tests.{name}" for name in modules]
    names += [f"networkx.algorithms.{name}" for name in ("components.tests.test_biconnected", "connectivity.tests.test_kcutsets")]
    environment = os.environ | {"NETWORKX_TEST_BACKEND": "planegraph", "NETWORKX_FALLBACK_TO_NX": "True"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


def test_one_setting():
    """With the backend first in line its functions answer; what it cannot do is left to networkx."""
    G = pg.families.shuffled(pg.families.grid(60, 60), 1).to_networkx()
    G.add_edge(0, "end of a bridge")
    with nx.config(backend_priority=["planegraph"], cache_converted_graphs=True):
        assert list(nx.bridges(G)) == [(0, "end of a bridge")]
        assert list(nx.articulation_points(G)) == [0]
        assert nx.is_planar(G)
        assert len(list(nx.all_node_cuts(nx.cubical_graph()))) == len(
            list(nx.all_node_cuts(nx.cubical_graph(), backend="networkx"))
        )
        assert nx.shortest_path_length(G, 0, "end of a bridge") == 1


def test_networkx_alone_does_not_import_us():
    code = "import networkx, sys; assert 'planegraph' in networkx.config.backends; sys.exit('planegraph' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
