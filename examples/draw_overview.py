"""Draws docs/overview.svg, the picture at the top of the README: caffeine, its decomposition, its canonical code, and a prediction.

Run `python examples/draw_overview.py` after a change here. Rings, tree and code come from `planegraph`, coordinates from RDKit. The card
has its own background, dark where the reader's system is, so it is readable on any page.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import planegraph as pg
from planegraph.graphs.formats.molecules import rdkit

SMILES = "Cn1cnc2c1c(=O)n(C)c(=O)n2C"
WIDTH, HEIGHT = 1000, 340
MOLECULE = (35, 75, 285, 300)  # left, top, right, bottom
STYLE = """\
.card { fill: #ffffff; stroke: #d0d7de } .ink { fill: #1f2328 } .soft { fill: #59636e } .line { stroke: #1f2328; fill: none }
.arrow { stroke: #59636e; fill: none } .tip { fill: #59636e } .paper { fill: #ffffff } .box { fill: #f6f8fa; stroke: #d0d7de }
.S0 { fill: #2da44e } .S1 { fill: #d4781c } .P { fill: #8250df } .Q { fill: #6e7781 } .cut { fill: #0969da }
.bond-P { stroke: #8250df } text { font-family: system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; font-size: 14px }
.head { font-size: 17px; font-weight: 600 } .code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 13px }
.on { fill: #ffffff; font-weight: 600 } .middle { text-anchor: middle }
@media (prefers-color-scheme: dark) {
.card { fill: #0d1117; stroke: #30363d } .ink { fill: #e6edf3 } .soft, .tip { fill: #9198a1 } .line { stroke: #e6edf3 }
.arrow { stroke: #9198a1 } .paper { fill: #0d1117 } .box { fill: #161b22; stroke: #30363d }
}"""


def draw() -> str:
    """The whole picture."""
    graph = pg.Graph.from_smiles(SMILES)
    decomposition = pg.decompose(graph)
    digest = pg.canonical_form(graph).digest
    parts = [
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="10"/>',
        *molecule(graph, decomposition),
        *arrow(300, 180, 350, 180),
        *tree(decomposition),
        *arrow(635, 150, 685, 120),
        *arrow(635, 200, 685, 235),
        *canonical_code(digest),
        *model(),
    ]
    what = "Caffeine, its blocks and SPQR tree, its canonical code, and a model's prediction"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" aria-label="{what}">'
    return "\n".join([head, f"<title>{what}</title>", f"<style>{STYLE}</style>", *parts, "</svg>"]) + "\n"


def molecule(graph: pg.Graph, decomposition: pg.Decomposition) -> list[str]:
    """Rings are filled in the colour of their SPQR node, the bond they share is thick, cut nodes have a ring around them."""
    at = coordinates()
    symbols = [atom.GetSymbol() for atom in rdkit().MolFromSmiles(SMILES).GetAtoms()]
    shared = {edge.edge for c in decomposition.spqr_nodes if c.type == "P" for edge in c.real_edges}
    parts = [*heading(160, "A molecule or planar graph")]
    for colour, c in enumerate(cycles(decomposition)):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in at[list(c.walk)])
        parts.append(f'<polygon class="S{colour}" opacity="0.3" points="{points}"/>')
    for k, (u, v) in enumerate(graph.edges.tolist()):
        (x1, y1), (x2, y2) = at[u], at[v]
        kind, width = ("bond-P", 6) if k in shared else ("line", 2)
        parts.append(f'<line class="{kind}" stroke-width="{width}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')
    cuts = {c.node for c in decomposition.cut_nodes}
    for v, (x, y) in enumerate(at.tolist()):
        if v in cuts:
            parts.append(f'<circle class="cut" cx="{x:.1f}" cy="{y:.1f}" r="13"/>')
        if symbols[v] != "C" and v not in cuts:
            parts.append(f'<circle class="paper" cx="{x:.1f}" cy="{y:.1f}" r="10"/>')
        if symbols[v] != "C" or v in cuts:
            parts.append(text(x, y + 5, symbols[v], "on middle" if v in cuts else "ink middle"))
    return parts


def coordinates() -> np.ndarray:
    """(atoms, 2): RDKit's drawing, scaled into its panel, y downwards."""
    from rdkit.Chem import AllChem

    mol = rdkit().MolFromSmiles(SMILES)
    AllChem.Compute2DCoords(mol)
    at = mol.GetConformer().GetPositions()[:, :2] * (1, -1)
    left, top, right, bottom = MOLECULE
    span = at.max(0) - at.min(0)
    scale = min((right - left) / span[0], (bottom - top) / span[1])
    return (at - at.min(0) - span / 2) * scale + ((left + right) / 2, (top + bottom) / 2)


def cycles(decomposition: pg.Decomposition) -> list[pg.SpqrNode]:
    return [c for c in decomposition.spqr_nodes if c.type == "S"]


def tree(decomposition: pg.Decomposition) -> list[str]:
    """The block of the rings with its SPQR tree, the cut nodes, and a block of one edge below each."""
    parts = [*heading(492, "Blocks, cut nodes, SPQR tree")]
    parts.append('<rect class="box" x="372" y="68" width="240" height="122" rx="8"/>')
    parts.append(text(384, 88, "block", "soft"))
    root = next(c for c in decomposition.spqr_nodes if c.type == "P")
    for k, c in enumerate(cycles(decomposition)):
        x = 433 + 118 * k
        parts.append(f'<line class="line" x1="492" y1="100" x2="{x}" y2="155"/>')
        parts += [badge(x, 155, 54, f"S{k}"), text(x, 160, f"S, {len(c.nodes)}-cycle", "on middle")]
    parts += [badge(492, 100, 44, root.type), text(492, 105, "P, bond", "on middle")]
    for k, _ in enumerate(decomposition.cut_nodes):
        x = 396 + 48 * k
        parts += [
            f'<line class="line" x1="{x}" y1="190" x2="{x}" y2="285"/>',
            f'<circle class="cut" cx="{x}" cy="228" r="11"/>',
            badge(x, 285, 17, "Q"),
            text(x, 290, "Q", "on middle"),
        ]
    return parts


def canonical_code(digest: str) -> list[str]:
    return [
        '<rect class="box" x="695" y="25" width="285" height="130" rx="8"/>',
        text(712, 53, "Canonical code", "ink head"),
        text(712, 82, f"digest {digest[:18]}…", "ink code"),
        text(712, 112, "Equal exactly for isomorphic", "soft"),
        text(712, 134, "graphs, in any numbering", "soft"),
    ]


def model() -> list[str]:
    return [
        '<rect class="box" x="695" y="180" width="285" height="130" rx="8"/>',
        text(712, 208, "PlanE model", "ink head"),
        text(712, 237, "Predictions with intervals,", "soft"),
        text(712, 261, "fingerprints for other tools,", "soft"),
        text(712, 285, "what each atom and ring adds", "soft"),
    ]


def heading(x: float, words: str) -> list[str]:
    return [text(x, 40, words, "ink head middle")]


def text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{words}</text>'


def badge(x: float, y: float, half: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x - half}" y="{y - 15}" width="{2 * half}" height="30" rx="15"/>'


def arrow(x1: float, y1: float, x2: float, y2: float) -> list[str]:
    turn = np.degrees(np.arctan2(y2 - y1, x2 - x1))
    return [
        f'<line class="arrow" stroke-width="2" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>',
        f'<path class="tip" d="M0,-6 L11,0 L0,6 Z" transform="translate({x2},{y2}) rotate({turn:.1f})"/>',
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).resolve().parents[1] / "docs/overview.svg", help="the file to write"
    )
    parser.parse_args().out.write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
