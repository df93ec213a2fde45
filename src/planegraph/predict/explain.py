"""Contributions of atoms, rings and blocks to a prediction: the prediction minus that of the molecule with the part masked.

Masking a part hides its contents from the models: the features of its atoms and of all bonds at them become "other", category 0
of every column, which is what the models have for unknown atoms. The graph keeps its nodes and edges, so masked molecules differ from the
whole one in labels only. Contributions

- are in what ``planegraph predict`` reports, the target's units or a probability, and are averaged over the models as predictions are;
- are equal for symmetric atoms, and follow the atoms when a SMILES is spelled differently, up to rounding;
- need not add up to the prediction: a joint effect of two atoms counts for both.

A masked molecule is unlike the training molecules: contributions show what the models rely on, not chemistry.

Not masked are descriptors of the whole molecule, if the models read them, and the stereo descriptors of other atoms.
An atom that training never saw (``unseen``) has the embedding of "other" already.

Costs one prediction for each atom, ring and block: O(n^2 log n), in packs of 256 molecules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from ..data.packed import PackedDataset
from ..decomposition.api import decompose
from ..errors import FormatError, MissingDependencyError
from ..graphs.batch import GraphBatch
from ..graphs.formats.molecules import mol_from_smiles, rdkit
from .predictor import Predictor, each_prediction

_PACK = 256
_PANEL = (400, 340)  # pixels
_COLUMNS = 3
_FONT = "font-family='sans-serif' font-size='15' text-anchor='middle'"
_RED, _BLUE = (0.90, 0.25, 0.20), (0.20, 0.40, 0.90)


class Part(NamedTuple):
    """A ring or block: its atoms (ascending), how they read as SMILES, and what they add together."""

    atoms: tuple[int, ...]
    fragment: str
    contribution: float


@dataclass(frozen=True)
class Contributions:
    """The contributions of a molecule's parts to one output.

    Attributes:
        target: its name in the table.
        label: of a multiclass target the most probable class, which is explained; otherwise None.
        prediction: a value in the target's units; a probability for classes.
        atoms: (n_atoms,) what each atom adds.
        blocks: the biconnected components of three atoms or more.
        rings: the smallest rings (RDKit's symmetrised SSSR).
    """

    target: str
    label: str | None
    prediction: float
    atoms: np.ndarray
    blocks: tuple[Part, ...]
    rings: tuple[Part, ...]

    @property
    def title(self) -> str:
        """The target, and its class if there is one."""
        return self.target if self.label is None else f"{self.target} = {self.label}"


@dataclass(frozen=True)
class Explanation:
    """The contributions to each target of a molecule.

    Attributes:
        smiles: as it was given; atoms are numbered in its order, from 0.
        symbols: the element of each atom.
        outputs: one for each target.
        unseen: in words what the molecule has that no training molecule had; empty if nothing.
        descriptors: whether the models also read descriptors of the whole molecule, which are not masked.
    """

    smiles: str
    symbols: tuple[str, ...]
    outputs: tuple[Contributions, ...]
    unseen: str
    descriptors: bool


def explain(predictor: Predictor, smiles: str) -> Explanation:
    """Masks each atom, ring and block of a molecule in turn; FormatError with the reason if it cannot be read. For example::

    explanation = explain(Predictor.load("runs/logp"), "Oc1ccccc1")
    print(*explanation_lines(explanation), sep="\\n")
    """
    schema = predictor.schema
    found = schema.featurizer([smiles])
    for reason in found.problems.values():
        raise FormatError(reason)
    mol = mol_from_smiles(smiles)
    blocks, rings = _blocks(found.batch), _rings(mol)
    parts = [*((v,) for v in range(found.batch.num_nodes)), *blocks, *rings]
    distinct = dict.fromkeys([(), *parts])  # a block that is one ring is masked once
    predicted = _predict(predictor, found.batch, found.dataset.attrs, list(distinct))
    added = dict(zip(distinct, predicted[:1] - predicted, strict=True))

    def of_output(column: int, target: str, label: str | None) -> Contributions:
        def listed(which: Sequence[tuple[int, ...]]) -> tuple[Part, ...]:
            return tuple(Part(atoms, _fragment(mol, atoms), float(added[atoms][column])) for atoms in which)

        atoms = np.array([added[v,][column] for v in range(found.batch.num_nodes)])
        return Contributions(target, label, float(predicted[0, column]), atoms, listed(blocks), listed(rings))

    if schema.kind == "multiclass":
        best = int(np.argmax(predicted[0]))
        outputs = (of_output(best, schema.targets[0], schema.classes[best]),)
    else:
        outputs = tuple(of_output(k, target, None) for k, target in enumerate(schema.targets))
    symbols = tuple(atom.GetSymbol() for atom in mol.GetAtoms())
    return Explanation(smiles, symbols, outputs, predictor.unseen(found).get(0, ""), schema.featurizer.scaling is not None)


# ---- parts --------------------------------------------------------------------------------------------------------------------------


def _blocks(molecule: GraphBatch) -> list[tuple[int, ...]]:
    """The atoms of the blocks that are more than one edge, in canonical order."""
    return [block.nodes for block in decompose(molecule[0], on_nonplanar="set").blocks if len(block.nodes) > 2]


def _rings(mol: Any) -> list[tuple[int, ...]]:
    """Symmetrised, since a plain SSSR leaves out one of several equal rings; dative bonds are edges of our graph, too."""
    return sorted({tuple(sorted(ring)) for ring in rdkit().GetSymmSSSR(mol, includeDativeBonds=True)})


def _fragment(mol: Any, atoms: Sequence[int]) -> str:
    return rdkit().MolFragmentToSmiles(mol, atomsToUse=list(atoms), isomericSmiles=False)


# ---- predictions --------------------------------------------------------------------------------------------------------------------


def _predict(predictor: Predictor, molecule: GraphBatch, attrs: Any, parts: Sequence[tuple[int, ...]]) -> np.ndarray:
    """(parts, outputs): the mean over the models for the molecule with each part masked."""
    rows = []
    for start in range(0, len(parts), _PACK):
        masked = _masked(molecule, parts[start : start + _PACK])
        dataset = PackedDataset.from_arrays(masked, on_nonplanar="set")
        dataset = dataset.with_attrs(**{name: np.repeat(values, len(masked), axis=0) for name, values in attrs.items()})
        rows.append(each_prediction(predictor.schema.kind, predictor.models, dataset, predictor.device).mean(0).numpy())
    return np.concatenate(rows)


def _masked(molecule: GraphBatch, parts: Sequence[tuple[int, ...]]) -> GraphBatch:
    """A copy of the molecule for each part, with category 0 in all columns of its atoms and of the bonds at them."""
    copies, n, m = len(parts), molecule.num_nodes, molecule.num_edges
    hidden = np.zeros((copies, n), bool)
    for k, atoms in enumerate(parts):
        hidden[k, list(atoms)] = True
    bonds = np.asarray(hidden[:, molecule.edges].any(-1))

    def labels(values: np.ndarray | None, which: np.ndarray) -> np.ndarray | None:
        if values is None:
            return None
        mask = which.reshape(-1, *[1] * (values.ndim - 1))
        return np.where(mask, 0, np.tile(values, (copies, *[1] * (values.ndim - 1))))

    return GraphBatch(
        np.arange(copies + 1) * n,
        np.arange(copies + 1) * m,
        np.tile(molecule.edges, (copies, 1)),
        labels(molecule.node_labels, hidden),
        labels(molecule.edge_labels, bonds),
        labels(molecule.dart_labels, bonds),
    )


# ---- for people ---------------------------------------------------------------------------------------------------------------------


def explanation_lines(explanation: Explanation, most: int = 10) -> Iterator[str]:
    """Tab-separated: target, prediction, ``atom index symbol contribution`` of the ``most`` largest, then blocks, and rings inside them."""
    for output in explanation.outputs:
        yield f"target\t{output.title}"
        yield f"prediction\t{output.prediction:.6g}"
        order = _by_size(output.atoms)
        for v in order[:most]:
            yield f"atom\t{v}\t{explanation.symbols[v]}\t{output.atoms[v]:+.4g}"
        if order[most:]:
            yield f"atoms\t{len(order) - most} more\t\tat most {np.abs(output.atoms[order[most:]]).max():.4g} each"
        whole = {block.atoms for block in output.blocks}
        inner = [ring for ring in output.rings if ring.atoms not in whole]
        for kind, parts in (("block", output.blocks), ("ring", inner)):
            for k in _by_size(np.array([part.contribution for part in parts])):
                part = parts[k]
                yield f"{kind}\t{','.join(map(str, part.atoms))}\t{part.fragment}\t{part.contribution:+.4g}"
    if explanation.unseen:
        yield f"note\tnew to the models, which learned nothing about it: {explanation.unseen}"
    if explanation.descriptors:
        yield "note\tthe models also read descriptors of the whole molecule; these are not masked"


def explanation_svg(explanation: Explanation) -> str:
    """A drawing for each target: atoms that raise the prediction in red, those that lower it in blue, the largest in full colour."""
    mol, count = mol_from_smiles(explanation.smiles), len(explanation.outputs)
    try:
        from rdkit.Chem.Draw import rdMolDraw2D
    except ImportError as error:  # RDKit draws with system libraries that a bare container lacks
        raise MissingDependencyError(f"RDKit cannot draw here: {error}") from None
    mol = rdMolDraw2D.PrepareMolForDrawing(mol, addChiralHs=False)  # these would be numbered, too
    columns, (width, height) = min(count, _COLUMNS), _PANEL
    drawer = rdMolDraw2D.MolDraw2DSVG(width * columns, height * -(-count // columns), width, height)
    options: Any = drawer.drawOptions()
    options.useBWAtomPalette()
    options.prepareMolsBeforeDrawing = False
    options.addAtomIndices = True
    options.padding = 0.12  # room for the legend
    drawer.DrawMolecules(
        [mol] * count,
        highlightAtoms=[list(range(len(explanation.symbols)))] * count,
        highlightBonds=[[]] * count,
        highlightAtomColors=[_colours(output.atoms) for output in explanation.outputs],
    )
    drawer.FinishDrawing()
    _, drawing = (
        drawer.GetDrawingText().replace("<!-- END OF HEADER -->", f"<title>{escape(explanation.smiles)}</title>").split("?>", 1)
    )
    legends = [
        f"<text x='{width * (k % columns + 0.5)}' y='{height * (k // columns + 1) - 12}' {_FONT}>{escape(_legend(output))}</text>"
        for k, output in enumerate(explanation.outputs)
    ]
    return "\n".join(["<?xml version='1.0' encoding='UTF-8'?>", drawing.strip().removesuffix("</svg>"), *legends, "</svg>\n"])


def _legend(output: Contributions) -> str:
    """Ours, as RDKit's fonts have few letters beyond ASCII."""
    largest = float(np.abs(output.atoms).max())
    return f"{output.title}: {output.prediction:.4g} (red +{largest:.2g}, blue -{largest:.2g})"


def _colours(contributions: np.ndarray) -> dict[int, tuple[float, ...]]:
    largest = float(np.abs(contributions).max()) or 1.0
    ends = ((_RED if value > 0 else _BLUE, abs(value) / largest) for value in contributions.tolist())
    return {v: tuple(1 + share * (full - 1) for full in end) for v, (end, share) in enumerate(ends)}


def _by_size(contributions: np.ndarray) -> list[int]:
    """Positions by absolute value, the largest first; symmetric parts, which differ by rounding, in their order."""
    sizes = np.abs(contributions)
    shares = (sizes / (sizes.max(initial=0.0) or 1.0)).round(4)
    return np.argsort(-shares, kind="stable").tolist()
