"""The page in headless Chromium: what is pointed at lights up in all views, walks can be stepped through, and nothing is loaded.

Needs Playwright, and a Chromium of the system or of Playwright.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import planegraph as pg
from drawing.read import MIXED
from drawing.test_page import HOSTILE
from planegraph.drawing.drawing import Drawing

playwright = pytest.importorskip("playwright.sync_api")

CAFFEINE = "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        names = ("chromium", "chromium-browser", "google-chrome")
        found = next(filter(None, map(shutil.which, names)), started.chromium.executable_path)
        if not Path(found).exists():
            pytest.skip(f"no Chromium: none of {', '.join(names)} on the path, and Playwright has none")
        running = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def show(browser, tmp_path) -> Iterator[Any]:
    """Opens a drawing; in the end there must have been no error, and no request but that for the page."""
    opened: list[Any] = []
    problems: list[str] = []
    requests: list[str] = []

    def show(drawing: Drawing | str, width: int = 1280, **options: Any) -> Any:
        path = tmp_path / "page.html"
        path.write_text(drawing if isinstance(drawing, str) else drawing.html(), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 1000}, **options)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        opened.append((context, path.as_uri()))
        return page

    yield show
    assert not problems
    assert requests == [url for _, url in opened]
    for context, _ in opened:
        context.close()


def lit(page: Any) -> set[str]:
    return set(page.eval_on_selector_all("[id].lit", "parts => parts.map(part => part.id)"))


def scene_points(page: Any) -> np.ndarray:
    """Where the nodes are drawn."""
    return np.array(page.eval_on_selector_all(".nodes circle", "all => all.map(c => [c.cx.baseVal.value, c.cy.baseVal.value])"))


def point_at(page: Any, part: str) -> None:
    """Moves the mouse to the middle of a part."""
    page.locator(f"#{part}").scroll_into_view_if_needed()
    box = page.locator(f"#{part}").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def around(d: pg.Decomposition, part: str) -> set[str]:
    """The counterparts of a part in all views, by the decomposition's objects."""
    kind, k = part[0], int(part[1:])
    cut = {c.node: c.index for c in d.cut_nodes}

    def node(v: int) -> set[str]:
        return {f"v{v}"} | ({f"c{cut[v]}", f"r{cut[v]}"} if v in cut else set())

    if kind == "c":
        kind, k = "v", d.cut_nodes[k].node
    if kind == "v":
        blocks = {f"b{b.index}" for b in d.blocks if k in b.nodes}
        return node(k) | blocks | {f"s{c.index}" for c in d.spqr_nodes if k in c.nodes}
    if kind == "e":
        owner = next(c for c in d.spqr_nodes if k in [e.edge for e in c.real_edges])
        return {part, f"b{owner.block}", f"s{owner.index}", *(f"v{v}" for v in d.graph.edges[k])}
    if kind == "b":
        block = d.blocks[k]
        inside = {f"e{e}" for e in block.edges} | {f"s{c}" for c in block.spqr_nodes}
        return {part, f"k{k}"} | inside | set().union(*map(node, block.nodes))
    c = d.spqr_nodes[k]
    return {part, f"b{c.block}", *(f"v{v}" for v in c.nodes), *(f"e{e.edge}" for e in c.real_edges)}


def test_pointing_lights_up_counterparts_in_all_views(show):
    d = pg.decompose(MIXED)
    page = show(d.show())
    parts = [*(f"s{c.index}" for c in d.spqr_nodes), *(f"b{b.index}" for b in d.blocks), *(f"c{c.index}" for c in d.cut_nodes)]
    ends = scene_points(page)[MIXED.edges]
    long = np.argsort(-np.hypot(*(ends[:, 0] - ends[:, 1]).T))[:4]
    for part in [*parts, "v0", "v3", "v13", *(f"e{e}" for e in long)]:
        point_at(page, part)
        assert lit(page) == around(d, part), part
        assert page.inner_text("#status").strip()
    assert page.eval_on_selector_all(".overlay .ghost", "all => all.length") == 0
    with_virtual = next(c for c in d.spqr_nodes if c.virtual_edges and c.type == "R")
    page.hover(f"#s{with_virtual.index}")
    pairs = {frozenset((e.u, e.v)) for e in with_virtual.virtual_edges}
    assert page.eval_on_selector_all(".overlay .ghost", "all => all.length") == len(pairs)
    page.hover("h1")
    assert lit(page) == set()


def test_a_click_keeps_a_part(show):
    d = pg.decompose(MIXED)
    page = show(d.show())
    page.click("#b0")
    page.hover("#v13")
    assert lit(page) == {"v13"}  # isolated
    page.hover("h1")
    assert lit(page) == around(d, "b0")
    page.keyboard.press("Escape")
    assert lit(page) == set()


def test_parts_that_are_small_can_be_pointed_at(show):
    g = pg.families.grid(30, 30)
    page = show(pg.draw(g))
    box = page.locator("#v31").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2 + 4, box["y"] + box["height"] / 2)
    assert "v31" in lit(page)


def test_the_slider_steps_along_the_walk(show):
    d = pg.decompose(MIXED)
    page = show(d.show())
    for c in d.spqr_nodes:
        page.select_option("#component", str(c.index))
        assert page.get_attribute("#step", "max") == str(len(c.walk))
        for i in range(len(c.walk)):
            page.fill("#step", str(i + 1))
            assert page.inner_text("#position b") == str(c.positions[i])
            assert page.inner_text("#kappa b") == str(c.kappa[i])
            target = c.walk[i ^ 1] if c.type in "PQ" else c.walk[(i + 1) % len(c.walk)]
            assert page.inner_text("#dart").startswith(f"Node {c.walk[i]} → node {target}, ")
            assert ("real" in page.inner_text("#dart")) == (c.walk_edges[i] is not None)
            assert lit(page) == around(d, f"s{c.index}")
            assert page.locator(".overlay .arrow").count() == 1
    page.select_option("#component", "0")
    page.click("#forth")
    assert page.input_value("#step") == "2"
    page.click("#back")
    assert page.input_value("#step") == "1"
    page.click("#run")
    page.wait_for_selector("#run[aria-pressed=false]")
    assert page.input_value("#step") == page.get_attribute("#step", "max")


def test_renumbering_changes_numbers_and_nothing_else(show):
    page = show(pg.draw(MIXED))
    digest = pg.canonical_form(MIXED).digest

    def row(name: str) -> list[str]:
        rows = page.eval_on_selector_all("#strip tr", "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))")
        return next(cells[1:] for cells in rows if cells[0] == name)

    def numbers() -> list[str]:
        return page.eval_on_selector_all(".graph .labels text", "all => all.map(t => t.textContent)")

    canonical, before = row("canonical"), numbers()
    assert before == [str(v) for v in range(14)]
    seen = set()
    for _ in range(3):
        page.click("#renumber")
        assert sorted(map(int, numbers())) == list(range(14))
        seen.add(tuple(numbers()))
        assert digest in page.inner_text("#numbering")
        assert page.inner_text("#numbering").count("✓ equal") == 2
        assert row("canonical") == canonical
    assert len(seen - {tuple(before)}) == 3
    page.click("#original")
    assert numbers() == before
    assert page.is_disabled("#original")


def test_it_notices_walks_that_differ(show):
    """The page compares; it does not claim."""
    text = pg.draw(MIXED).html()
    start = text.index('"walk":[', text.index('"numberings"')) + len('"walk":[')
    end = text.index("]", start)
    page = show(text[:start] + ",".join(text[start:end].split(",")[::-1]) + text[end:])
    page.click("#renumber")
    assert "✗ differ" in page.inner_text("#numbering")


def test_the_keyboard(show):
    d = pg.decompose(MIXED)
    page = show(d.show())
    page.focus("#blocks-view button:last-of-type")
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.id")
    assert lit(page) == around(d, first)
    page.keyboard.press("ArrowDown")
    second = page.evaluate("document.activeElement.id")
    assert second != first
    assert second[0] in "bc"
    assert lit(page) == around(d, second)
    assert page.get_attribute(f"#{second}", "aria-label") == page.inner_text("#status")
    page.keyboard.press("Enter")
    page.focus("#renumber")
    assert lit(page) == around(d, second)
    page.keyboard.press("Escape")
    assert lit(page) == set()
    assert page.eval_on_selector_all("#blocks-view svg [tabindex]", "all => all.length") == 1


def test_zooming(show):
    page = show(pg.draw(pg.families.grid(40, 40)))
    full = page.get_attribute("#graph-view svg", "viewBox")
    assert page.locator(".graph .labels text").count() == 0
    for _ in range(6):
        page.click("[aria-label='Zoom in: Graph']")
    assert 0 < page.locator(".graph .labels text").count() < 200
    before = page.get_attribute("#graph-view svg", "viewBox")
    box = page.locator("#graph-view svg").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 170)
    page.mouse.up()
    assert page.get_attribute("#graph-view svg", "viewBox") != before
    page.click("[aria-label='Fit: Graph']")
    assert page.get_attribute("#graph-view svg", "viewBox") == " ".join(map(str, map(float, full.split()))).replace(
        ".0 ", " "
    ).removesuffix(".0")
    page.click("[aria-label='Enlarge: SPQR tree']")
    assert page.locator("#spqr-view").bounding_box()["width"] > 1200


@pytest.mark.parametrize("width", [360, 768])
def test_narrow_windows(show, width):
    pytest.importorskip("rdkit")
    from planegraph.graphs.formats.molecules import mol_from_smiles

    page = show(pg.draw(mol_from_smiles(CAFFEINE)), width=width, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#s0").tap()
    assert "s0" in lit(page)


def test_dark_and_print(show):
    drawing = pg.draw(MIXED)
    colour = "getComputedStyle(document.body).backgroundColor"
    assert show(drawing).evaluate(colour) == "rgb(255, 255, 255)"
    page = show(drawing, color_scheme="dark")
    assert page.evaluate(colour) == "rgb(21, 24, 28)"
    page.emulate_media(media="print")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert not page.is_visible("#status")
    assert not page.is_visible("#renumber")
    assert page.is_visible("#graph-view svg")


def test_hostile_names(show):
    n = len(HOSTILE)
    page = show(pg.draw(pg.Graph(n, [(v, (v + 1) % n) for v in range(n)], names=HOSTILE), title=HOSTILE[1]))
    page.hover("#v0")
    assert "</script><script>alert(1)</script>" in page.inner_text("#status")
    assert page.title() == HOSTILE[1]
    page.click("#v1")
    page.click("#forth")
    assert page.locator("img").count() == 0


@pytest.mark.parametrize("g", [pg.Graph(0, []), pg.Graph(2, []), pg.families.path(2)])
def test_small_graphs(show, g):
    page = show(pg.draw(g))
    page.click("#renumber")
    assert page.locator("#walk-panel").is_visible() == (g.num_edges > 0)


def test_symmetries(show):
    g = pg.families.wheel(5)
    page = show(pg.draw(g), reduced_motion="reduce")
    assert page.inner_text("#order") == "10 symmetries, 2 orbits of nodes, 2 orbits of edges"
    before = scene_points(page)
    paths = page.eval_on_selector_all(".edges path", "all => all.map(path => path.getAttribute('d'))")
    generators = page.locator("#generator option").count()
    assert generators == len(pg.automorphisms(g).generators)
    image = np.arange(6)
    for k in [*range(generators)] * 2:
        page.select_option("#generator", str(k))
        assert page.inner_text("#cycles").startswith("Moves ")
        page.click("#play")
        page.wait_for_selector("#play:not([disabled])")
        after = scene_points(page)
        (step,) = np.nonzero((after[:, None] == before[None]).all(axis=2))[1].reshape(1, -1)
        assert sorted(step) == list(range(6))  # nodes stand where others stood
        assert {frozenset(e) for e in step[g.edges].tolist()} == {frozenset(e) for e in g.edges.tolist()}
        assert not np.array_equal(step, image)  # it moved
        image = step
        paths_now = page.eval_on_selector_all(".edges path", "all => all.map(path => path.getAttribute('d'))")
        drawn = [sorted(map(tuple, np.reshape([*map(float, re.findall(r"[\d.]+", path))], (2, 2)).tolist())) for path in paths_now]
        assert drawn == [sorted(map(tuple, ends)) for ends in np.round(after, 1)[g.edges].tolist()]
    page.click("#rest")
    page.wait_for_selector("#play:not([disabled])")
    assert np.array_equal(scene_points(page), before)
    assert page.eval_on_selector_all(".edges path", "all => all.map(path => path.getAttribute('d'))") == paths
    page.click("#orbits")
    fills = page.eval_on_selector_all(".nodes circle", "all => all.map(c => getComputedStyle(c).fill)")
    orbits = pg.automorphisms(g).node_orbits.tolist()
    assert len(set(zip(fills, orbits, strict=True))) == len(set(fills)) == len(set(orbits)) == 2
    assert page.eval_on_selector_all(".graph .labels text", "all => all.map(t => t.textContent)") == [*map(str, orbits)]
    page.click("#orbits")
    assert len(set(page.eval_on_selector_all(".nodes circle", "all => all.map(c => getComputedStyle(c).fill)"))) == 1


def test_a_graph_without_symmetries(show):
    g = pg.Graph(7, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (2, 6)])
    page = show(pg.draw(g))
    assert page.inner_text("#order").startswith("1 symmetry, 7 orbits of nodes")
    assert not page.is_visible("#play")


def test_in_a_notebook(show):
    page = show(f"<!DOCTYPE html><title>notebook</title><link rel='icon' href='data:,'>{pg.draw(MIXED)._repr_html_()}")
    frame = page.frame_locator("iframe")
    frame.locator("#v0").hover()
    assert "lit" in frame.locator("#v0").get_attribute("class")
    frame.locator("#renumber").click()
    assert "✓ equal" in frame.locator("#numbering").inner_text()
