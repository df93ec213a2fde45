"""planegraph: planar graphs, decomposed and canonised exactly.

>>> import planegraph as pg
>>> g = pg.Graph(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)])
>>> pg.decompose(g).counts
{'blocks': 3, 'S': 1, 'P': 0, 'Q': 2, 'R': 0}
>>> pg.canonical_form(g) == pg.canonical_form(g.relabel([4, 2, 0, 1, 3]))
True
"""

from importlib.metadata import PackageNotFoundError, version

from .canonical.automorphisms import AutomorphismBatch, Automorphisms, automorphism_batch, automorphisms
from .canonical.form import CanonicalForm, canonical_codes, canonical_form, is_isomorphic, isomorphism
from .decomposition.api import PackedDecomposition, decompose, decompose_batch, is_planar, kuratowski_witness, planar_mask
from .decomposition.objects import Block, CutNode, Decomposition, SkeletonEdge, SpqrNode
from .decomposition.parts import GraphPart, block_parts
from .drawing.drawing import Drawing, draw
from .errors import (
    FormatError,
    InvalidEmbeddingError,
    InvalidGraphError,
    MissingDependencyError,
    NotPlanarError,
    PlanegraphError,
    PlanegraphWarning,
)
from .graphs import families
from .graphs.batch import GraphBatch
from .graphs.formats.convert import as_graph
from .graphs.graph import Graph
from .graphs.multigraph import MultiGraph
from .kuratowski import KuratowskiWitness
from .planarity.embedding import Embedding
from .planarity.find import embedding
from .planarity.layout import planar_layout
from .planarity.orders import canonical_order, st_numbering, triangulate
from .planarity.planar_code import read_planar_code
from .planarity.planarize import Planarization, planarize
from .planarity.subgraph import PlanarSubgraph, planar_subgraph

try:
    __version__ = version("planegraph")
except PackageNotFoundError:  # used from a source tree that was never installed
    __version__ = "0+unknown"

__all__ = [
    "AutomorphismBatch",
    "Automorphisms",
    "Block",
    "CanonicalForm",
    "CutNode",
    "Decomposition",
    "Drawing",
    "Embedding",
    "FormatError",
    "Graph",
    "GraphBatch",
    "GraphPart",
    "InvalidEmbeddingError",
    "InvalidGraphError",
    "KuratowskiWitness",
    "MissingDependencyError",
    "MultiGraph",
    "NotPlanarError",
    "PackedDecomposition",
    "PlanarSubgraph",
    "Planarization",
    "PlanegraphError",
    "PlanegraphWarning",
    "SkeletonEdge",
    "SpqrNode",
    "as_graph",
    "automorphism_batch",
    "automorphisms",
    "block_parts",
    "canonical_codes",
    "canonical_form",
    "canonical_order",
    "decompose",
    "decompose_batch",
    "draw",
    "embedding",
    "families",
    "is_isomorphic",
    "is_planar",
    "isomorphism",
    "kuratowski_witness",
    "planar_layout",
    "planar_mask",
    "planar_subgraph",
    "planarize",
    "read_planar_code",
    "st_numbering",
    "triangulate",
]
