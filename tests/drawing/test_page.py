"""What is on the page and in the picture, without a browser: well-formed, complete, and right against the decomposition."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import any_planar

import planegraph as pg
from drawing.read import MIXED, Page, swap, views
from planegraph.drawing import scene as scenes
from planegraph.drawing.page import as_json
from planegraph.drawing.style import still_style

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!-- ]]> &amp; ' \"",
    "\0\x1b[31m\x7f\ufffe",
    "\ud800 half a pair",
    "\u202eright to left",
    "{{script}}",
    "x" * 100_000,
]


def check_data(g: pg.Graph, page: Page) -> None:
    """The parts and the data of a page are those of the decomposition."""
    d, data = pg.decompose(g), page.data
    for kind, count in {
        "v": g.num_nodes,
        "e": g.num_edges,
        "k": len(d.blocks),
        "b": len(d.blocks),
        "r": len(d.cut_nodes),
        "c": len(d.cut_nodes),
        "s": len(d.spqr_nodes),
    }.items():
        assert page.parts(kind) == set(range(count)), kind
    assert data["digest"] == pg.canonical_form(g).digest
    assert data["labelling"] == d.labelling.tolist()
    assert data["blocks"] == [list(block.nodes) for block in d.blocks]
    assert data["cuts"] == [cut.node for cut in d.cut_nodes]
    assert len(data["spqr"]) == len(d.spqr_nodes)
    for row, c in zip(data["spqr"], d.spqr_nodes, strict=True):
        assert (row["type"], row["block"], row["theta"]) == (c.type, c.block, c.theta)
        assert row["parent"] == (-1 if c.parent is None else c.parent)
        nodes, edges = row["nodes"], np.reshape(row["edges"], (-1, 4)).tolist()
        assert [(nodes[u], nodes[v], e, o) for u, v, e, o in edges] == [
            (e.u, e.v, -1 if e.edge is None else e.edge, -1 if e.other is None else e.other) for e in c.edges
        ]
        assert [nodes[i] for i in row["walk"]] == list(c.walk)
        assert [i + 1 for i in row["walk"]] == list(c.kappa)  # as the page says
        assert (row["positions"] or list(range(1, len(c.walk) + 1))) == list(c.positions)
        assert [edges[k][2] for k in row["walk_edges"]] == [-1 if e is None else e for e in c.walk_edges]
        assert all(i in edges[k][:2] for i, k in zip(row["walk"], row["walk_edges"], strict=True))
    check_numberings(g, data)
    check_symmetries(g, data)
    check_tints(d, page)


def check_tints(d: pg.Decomposition, page: Page) -> None:
    """Blocks differ from the block above them."""
    tint = [page.ids[f"k{b.index}"][1]["class"] for b in d.blocks]
    for b in d.blocks:
        above = None if b.parent_cut is None else d.cut_nodes[b.parent_cut].parent_block
        assert above is None or tint[b.index] != tint[above]


def check_symmetries(g: pg.Graph, data: dict) -> None:
    found = pg.automorphisms(g)
    shown = data["symmetries"]
    assert shown["nodes"] == found.node_orbits.tolist()
    assert shown["edges"] == found.edge_orbits.tolist()
    assert found.order >= 10**15 or shown["order"] == f"{found.order:,}"
    assert shown["total"] == len(found.generators)
    assert len(shown["generators"]) == min(shown["total"], scenes.GENERATORS)
    for moved, images in shown["generators"]:
        whole = np.arange(g.num_nodes)
        whole[moved] = images
        assert g.relabel(whole) == g


def check_numberings(g: pg.Graph, data: dict) -> None:
    """The code, labelling and walks of each numbering are those of the renumbered graph, and say the same in canonical indices."""
    assert data["numberings"]
    canonical = [data["labelling"][row["nodes"][i]] for row in data["spqr"] for i in row["walk"]]
    for now in data["numberings"]:
        h = g.relabel(now["new"])
        assert now["digest"] == pg.canonical_form(h).digest == data["digest"]
        assert now["walk"] == [v for c in pg.decompose(h).spqr_nodes for v in c.walk]
        assert [now["labelling"][v] for v in now["walk"]] == canonical


@given(any_planar())
@settings(max_examples=30)
def test_it_says_what_the_decomposition_says(plain):
    g = plain.build()
    drawing = pg.draw(g)
    text = drawing.html()
    views(text)
    ElementTree.fromstring(drawing.svg())
    check_data(g, Page(text))


@pytest.mark.parametrize("g", [pg.Graph(0, []), pg.Graph(1, []), pg.Graph(3, []), pg.families.path(2), MIXED, pg.families.k2n(300)])
def test_graphs_at_the_edge(g):
    drawing = pg.draw(g)
    ElementTree.fromstring(drawing.svg())
    check_data(g, Page(drawing.html()))


def test_a_drawing_has_places_of_the_caller():
    g = pg.families.cycle(4)
    points = np.array([(0, 0), (2, 0), (2, 1), (0, 1)])
    page = Page(pg.draw(g, positions=points).html())
    drawn = np.array([[float(page.ids[f"v{v}"][1][key]) for key in ("cx", "cy")] for v in range(4)])
    scale = (drawn[1] - drawn[0])[0] / 2
    assert np.allclose(drawn - drawn[0], (points - points[0]) * scale * (1, -1), atol=0.2)
    with pytest.raises(pg.InvalidEmbeddingError, match="positions must be 4 points"):
        pg.draw(g, positions=points[:3])
    with pytest.raises(pg.InvalidGraphError, match="a text for each of the 4 nodes; found 2"):
        pg.draw(g, labels="ab")


def test_hostile_names_stay_text(tmp_path):
    n = len(HOSTILE)
    g = pg.Graph(n, [(v, (v + 1) % n) for v in range(n)], names=HOSTILE)
    drawing = pg.draw(g, title=HOSTILE[0] + HOSTILE[3])
    usual = Page(pg.draw(pg.families.cycle(n)).html())
    page = Page(drawing.html())
    assert page.tags == usual.tags
    assert page.titles == [r"</script><script>alert(1)</script>\x00\x1b[31m\x7f\ufffe"]
    labels = page.data["labels"]
    assert labels[0] == HOSTILE[0]
    assert labels[3] == r"\x00\x1b[31m\x7f\ufffe"
    assert max(map(len, labels)) <= 80
    drawn = ElementTree.fromstring(drawing.svg())
    assert not list(drawn.iter(f"{SVG}img"))
    assert HOSTILE[0] in "".join(drawn.itertext())
    for name in ("a.html", "a.svg"):
        drawing.save(tmp_path / name)
        (tmp_path / name).read_text(encoding="utf-8")


def test_json_ends_no_script():
    text = as_json(HOSTILE)
    assert "<" not in text
    assert ">" not in text
    assert json.loads(text) == HOSTILE


def test_nothing_is_loaded():
    text = pg.draw(MIXED).html()
    assert "default-src 'none'" in text
    addresses = [word for word in text.replace('"', " ").split() if "://" in word]
    assert set(addresses) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/2000/svg;"}


def test_a_block_of_a_large_graph():
    small = pg.families.wheel(6)
    g = pg.families.disjoint_union(pg.families.cycle(4000), small, pg.families.cycle(1500))
    page = Page(pg.draw(g).html())
    assert len(page.data["labels"]) == 4000
    text = pg.draw(g).html()
    assert "The graph has 5,507 nodes and 3 blocks." in text
    assert "the largest: 4,000 nodes" in text
    wheel = next(b.index for b in pg.decompose(g).blocks if len(b.nodes) == 7)
    drawing = pg.draw(g, block=wheel)
    check_data(pg.Graph(7, small.edges), Page(drawing.html()))
    assert Page(drawing.html()).data["labels"] == [str(v) for v in range(4000, 4007)]
    assert "asked for" in drawing.svg()
    with pytest.raises(pg.InvalidGraphError, match="no block 3; the graph has 3 blocks"):
        pg.draw(g, block=3)
    too_large = pg.families.disjoint_union(pg.families.cycle(6000), small)
    assert "the largest of those with at most 5,000 nodes: 7 nodes" in pg.draw(too_large).html()
    with pytest.raises(pg.InvalidGraphError, match="6,000 nodes; a drawing has at most 5,000"):
        pg.draw(pg.families.cycle(6000), block=0)
    with pytest.raises(pg.InvalidGraphError, match="none of which fits"):
        pg.draw(pg.families.cycle(6000))


def test_a_block_keeps_its_labels():
    g = pg.Graph(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)], node_labels=[5, 6, 7, 8, 9], edge_labels=range(5), names="abcde")
    b = next(block.index for block in pg.decompose(g).blocks if len(block.nodes) == 3)
    data = Page(pg.draw(g, block=b).html()).data
    assert data["labels"] == ["a", "b", "c"]
    triangle = pg.Graph(3, [(0, 1), (1, 2), (2, 0)], node_labels=[5, 6, 7], edge_labels=range(3))
    assert data["digest"] == pg.canonical_form(triangle).digest


def test_pages_are_of_moderate_size():
    assert len(pg.draw(pg.families.fullerene(1)).html()) < 80_000
    assert len(pg.draw(pg.families.random_planar(1000)).html()) < 700_000


def test_sizes_of_the_budget():
    """Of a large graph there are fewer renumberings, but one at least."""
    assert len(Page(pg.draw(pg.families.cycle(10)).html()).data["numberings"]) == scenes.RENUMBERINGS
    assert len(Page(pg.draw(pg.families.cycle(5000)).html()).data["numberings"]) == 1


def test_molecules():
    chem = pytest.importorskip("rdkit.Chem")
    mol = chem.MolFromSmiles("CN1C=NC2=C1C(=O)N(C(=O)N2C)C")
    drawing = pg.draw(mol, title="Caffeine")
    page = Page(drawing.html())
    check_data(pg.Graph.from_rdkit(mol), page)
    assert page.data["labels"] == [atom.GetSymbol() for atom in mol.GetAtoms()]
    carbonyls = [b.GetIdx() for b in mol.GetBonds() if b.GetBondType() == chem.BondType.DOUBLE]
    assert len(carbonyls) == 2
    assert all(page.ids[f"e{e}"][1]["d"].count("M") == 2 for e in carbonyls)
    assert sum(page.ids[f"e{e}"][1]["d"].count("M") == 2 for e in page.parts("e")) == 4  # of the Kekule form
    texts = [t.text for t in ElementTree.fromstring(drawing.svg()).iter(f"{SVG}text")]
    assert "Caffeine" in texts
    cubane = chem.MolFromSmiles("C12C3C4C1C5C2C3C45")  # its layout has crossings
    check_data(pg.Graph.from_rdkit(cubane), Page(pg.draw(cubane).html()))


def test_the_picture_of_the_documentation():
    """It is what the command draws now; RDKit's coordinates differ between versions."""
    chem = pytest.importorskip("rdkit.Chem")
    drawn = pg.draw(chem.MolFromSmiles("CN1C=NC2=C1C(=O)N(C(=O)N2C)C"), title="Caffeine").svg()
    kept = (Path(__file__).parents[2] / "docs/draw.svg").read_text(encoding="utf-8")
    drawn, kept = (re.sub(r"-?[\d.]+", "0", text) for text in (drawn, kept))
    assert drawn == kept


def test_notebooks_show_the_page_in_a_frame():
    d = pg.decompose(MIXED)
    drawing = d.show(title="Mixed")
    assert repr(drawing) == "Drawing(Graph(14 nodes, 17 edges))"
    frame = drawing._repr_html_()
    parser = Page(frame)
    assert parser.tags == ["iframe"]
    source = frame.split('srcdoc="')[1].split('"')[0]
    assert html.unescape(source) == drawing.html()


def test_not_planar():
    with pytest.raises(pg.NotPlanarError):
        pg.draw(pg.families.complete(5))
    with pytest.raises(pg.NotPlanarError):
        pg.decompose(pg.families.complete(5), on_nonplanar="set").show()


def test_files(tmp_path):
    drawing = pg.draw(swap(MIXED))
    assert drawing.save(tmp_path / "a.svg").read_text(encoding="utf-8") == drawing.svg()
    assert drawing.save(str(tmp_path / "a.html")).read_text(encoding="utf-8") == drawing.html()
    with pytest.raises(ValueError, match=r"saved as \.html or \.svg; found 'a\.png'"):
        drawing.save(tmp_path / "a.png")


def test_a_still_picture_needs_no_variables():
    """Programs other than browsers do not know them."""
    style = still_style()
    assert "var(" not in style
    assert "--" not in style
    assert ".S .tile{" in style
    assert style.count("@media") == 1
    assert "var(" not in pg.draw(MIXED).svg().replace("--stroke", "")


@pytest.mark.parametrize("missing", ["scipy", "jinja2"])
def test_numpy_is_enough(missing):
    code = f"""
import sys
sys.modules[{missing!r}] = None
import planegraph as pg
text = pg.draw(pg.families.random_planar(700)).html()
assert len(text) > 100_000
assert not {{"torch", "markupsafe", "rdkit"}} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_labels_by_name():
    G = pg.Graph(3, [(0, 1), (1, 2)], names="abc")
    wanted = {"c": "Carl", "a": "Anna", "b": "Bert", "z": "nobody"}
    assert Page(pg.draw(G, labels=wanted).html()).data["labels"] == ["Anna", "Bert", "Carl"]
    with pytest.raises(pg.InvalidGraphError, match="labels lack node 'b' and 1 other"):
        pg.draw(G, labels={"a": "Anna"})
