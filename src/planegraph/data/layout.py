"""The sizes of a batch, and what the host knows of it: where every section of its buffer and every slice of its trees begins.

- :class:`Capacity`: how many rows each table has and how wide each slice of the trees is. As a setting it fixes the shapes of all
  padded batches; the exact sizes of one batch are a capacity too (``layout.sizes``).
- :class:`Layout`: a capacity together with the rows of edge features per edge. Frozen and hashable: batches with equal layouts
  have equal shapes everywhere, so one captured step serves them all.

Slices are listed deepest first. The last slice of SPQR nodes holds the roots, one for each row of the block table; its width is that of
all blocks together and is not listed in a capacity. O(1) per section and slice.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from itertools import accumulate, pairwise, starmap, zip_longest
from typing import Any, NamedTuple

from .. import _core
from ..errors import PlanegraphError

Slices = tuple[tuple[int, int], ...]

UNIT_OF = dict(_core.SPACES)
"""Spaces, which are what rows of a batch are ordered in, and what the rows of each are counted as."""

COUNTS = tuple(dict.fromkeys(UNIT_OF.values()))
"""What the section ``counts`` counts."""


class Kind(IntEnum):
    """What the entries of a section are."""

    VALUE = 0  # the same in every batch
    ID = 1  # a row of the target space, -1 for none
    PTR = 2  # where the items of a row begin in the target space, which has the same segments; one entry more than rows
    SOURCE = 3  # the row of the dataset, for features


_CONTENT = {
    "offsets": (Kind.PTR, 0, 0),
    "id": (Kind.ID, -1, 0),
    "first": (Kind.ID, 0, 0),
    "end": (Kind.ID, 0, 1),
    "position": (Kind.VALUE, 0, 0),
    "type": (Kind.VALUE, -1, 0),
}
"""Kind, ``pad`` and ``plus`` of each content of a section."""


class Section(NamedTuple):
    """A section of the buffer (cpp/planegraph/collate/sections.hpp).

    Attributes:
        space: the rows that it has entries for.
        content: what the entries are: "offsets", "id", "first", "end", "position" or "type".
        target: the space that offsets and ids point into.
        extra: entries beyond one per row.
        rows_only: whether it is empty without edge features.
    """

    name: str
    space: str
    content: str
    target: str | None
    extra: int
    rows_only: bool

    @property
    def kind(self) -> Kind:
        """What its entries are to whoever fills it."""
        return _CONTENT[self.content][0]

    @property
    def pad(self) -> int:
        """The entry where there is no row or no id."""
        return _CONTENT[self.content][1]

    @property
    def plus(self) -> int:
        """What is added to ids."""
        return _CONTENT[self.content][2]


SECTIONS = {section.name: section for section in starmap(Section, _core.SECTIONS)}
SECTION_NAMES = ("counts", *SECTIONS)
"""The sections of the buffer in their order."""

_LENGTHS = tuple((COUNTS.index(UNIT_OF[s.space]), s.extra, s.rows_only) for s in SECTIONS.values())
_GRAIN = 8  # sizes of a capacity are rounded up to a multiple of this


class DoesNotFitError(PlanegraphError, ValueError):
    """A batch is larger than the capacity it was to be padded to; ``layout`` says what it needs (see :meth:`Capacity.grow`)."""

    def __init__(self, message: str, layout: Layout) -> None:
        super().__init__(message)
        self.layout = layout


@dataclass(frozen=True)
class Capacity:
    """Sizes of a batch: rows of each table, widths of the slices (deepest first), and the largest position in a walk.

    ``spqr`` lists the slices below the roots. There is one slice of blocks more than of cut nodes. A batch fits if every table and slice
    is large enough and the last row of each table stays free, so that there is always a pad row (``graphs`` may be full).

    >>> Capacity(graphs=4, nodes=40, edges=48, walks=120, node_spqr=48, node_block=48, max_position=16, blocks=(8, 16), cuts=(8,)).num_spqr
    24
    """

    graphs: int
    nodes: int
    edges: int
    walks: int
    node_spqr: int
    node_block: int
    max_position: int
    spqr: tuple[int, ...] = ()
    blocks: tuple[int, ...] = (0,)
    cuts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("spqr", "blocks", "cuts"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if len(self.blocks) != len(self.cuts) + 1:
            raise ValueError(
                f"a capacity needs one slice of blocks more than of cut nodes; found {len(self.blocks)} and {len(self.cuts)}"
            )

    @property
    def num_spqr(self) -> int:
        """SPQR nodes in all slices, roots included."""
        return sum(self.spqr) + sum(self.blocks)

    def as_tuple(self) -> tuple:
        """For the core: the fields in their order."""
        return tuple(getattr(self, name) for name in _FIELDS)

    def padded(self) -> Capacity:
        """The smallest capacity for batches of at most these sizes: rounded up to multiples of 8, with a pad row in each table.

        >>> Capacity(4, 40, 47, 120, 48, 48, 16, spqr=(3,), blocks=(8,)).padded()
        Capacity(graphs=4, nodes=48, edges=48, walks=128, node_spqr=56, node_block=56, max_position=16, spqr=(8,), blocks=(16,), cuts=())
        """
        return replace(
            self,
            max_position=_round_up(self.max_position),
            spqr=tuple(map(_round_up, self.spqr)),
            blocks=_with_spare(self.blocks),
            cuts=_with_spare(self.cuts),
            **{name: _spare(getattr(self, name)) for name in TABLE_OF},
        )

    def grow(self, layout: Layout) -> Capacity:
        """The smallest larger capacity that also holds a batch of this (unpadded) layout, with some room to spare in what grows.

        >>> small = Capacity(4, 40, 48, 120, 48, 48, 16, blocks=(8,))
        >>> exact = Layout(Capacity(4, 50, 30, 60, 50, 30, 9, spqr=(2,), blocks=(3,)))
        >>> grown = small.grow(exact)
        >>> grown.nodes, grown.edges, grown.spqr
        (56, 48, (8,))
        """
        need = layout.sizes

        def table(name: str) -> int:
            have, wanted = getattr(self, name), getattr(need, name)
            return have if have > wanted else _spare(wanted + wanted // 16)

        def position(have: int, wanted: int) -> int:
            return have if have >= wanted else _round_up(wanted + wanted // 16)

        def slices(name: str, spare: bool) -> tuple[int, ...]:
            rows = _by_depth(getattr(self, name), getattr(need, name))
            return tuple(table_width(h, w, spare and k == 0) for k, (h, w) in enumerate(rows))[::-1]

        def table_width(have: int, wanted: int, spare: bool) -> int:
            return have if have >= wanted + spare else _round_up(wanted + wanted // 16 + spare)

        return replace(
            self,
            graphs=max(self.graphs, need.graphs),
            max_position=position(self.max_position, need.max_position),
            spqr=slices("spqr", False),
            blocks=slices("blocks", True),
            cuts=slices("cuts", True),
            **{name: table(name) for name in TABLE_OF},
        )

    def maximum(self, other: Capacity) -> Capacity:
        """The smallest capacity that holds whatever fits into either: the larger of each two sizes, slices paired by their depth.

        >>> one = Capacity(4, 40, 48, 120, 48, 48, 16, spqr=(8, 16))
        >>> one.maximum(Capacity(4, 64, 8, 120, 48, 48, 16, spqr=(24,))).spqr
        (8, 24)
        """

        def larger(a: Any, b: Any) -> Any:
            return tuple(map(max, _by_depth(a, b)))[::-1] if isinstance(a, tuple) else max(a, b)

        return Capacity(*map(larger, self.as_tuple(), other.as_tuple()))


_FIELDS = tuple(f.name for f in fields(Capacity))
TABLE_OF = {"nodes": "node", "edges": "edge", "walks": "walk", "node_spqr": "node_spqr", "node_block": "node_block"}
"""The sizes of a capacity that are rows of a table, and which."""


@dataclass(frozen=True)
class Layout:
    """Everything the host knows about a batch; lengths are those of the tensors, padding included.

    Args:
        sizes: rows of each table and widths of the slices.
        rows_per_edge: rows of edge features per edge: 0 (none), 1, or 2 (one per direction).
        padded: whether there may be pad rows.

    ``spqr_slices``, ``block_slices`` and ``cut_slices`` are tuples of (start, stop), deepest first; ``offsets[name]`` is (start, stop) of
    a section in the buffer, whose length is ``length``.

    >>> layout = Layout(Capacity(2, 7, 6, 9, 9, 9, 3, blocks=(2, 2), cuts=(2,)))
    >>> layout.num_darts, layout.num_spqr, layout.block_slices, layout.cut_slices
    (12, 4, ((0, 2), (2, 4)), ((0, 2),))
    >>> layout.offsets["node_ptr"]
    (10, 13)
    """

    sizes: Capacity
    rows_per_edge: int = 0
    padded: bool = False

    num_graphs: int = field(init=False, compare=False, repr=False)
    num_nodes: int = field(init=False, compare=False, repr=False)
    num_darts: int = field(init=False, compare=False, repr=False)
    num_rows: int = field(init=False, compare=False, repr=False)
    num_walks: int = field(init=False, compare=False, repr=False)
    num_spqr: int = field(init=False, compare=False, repr=False)
    num_blocks: int = field(init=False, compare=False, repr=False)
    num_cuts: int = field(init=False, compare=False, repr=False)
    num_node_spqr: int = field(init=False, compare=False, repr=False)
    num_node_block: int = field(init=False, compare=False, repr=False)
    max_position: int = field(init=False, compare=False, repr=False)
    spqr_slices: Slices = field(init=False, compare=False, repr=False)
    block_slices: Slices = field(init=False, compare=False, repr=False)
    cut_slices: Slices = field(init=False, compare=False, repr=False)
    section_lengths: tuple[int, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        s, rows = self.sizes, self.rows_per_edge
        if rows not in (0, 1, 2):
            raise ValueError(f"rows_per_edge must be 0, 1 or 2; found {rows!r}")
        blocks = sum(s.blocks)
        counts = (
            s.graphs,
            s.nodes,
            2 * s.edges,
            rows * s.edges,
            s.walks,
            sum(s.spqr) + blocks,
            blocks,
            sum(s.cuts),
            s.node_spqr,
            s.node_block,
        )
        found: dict[str, Any] = {f"num_{name}": count for name, count in zip(COUNTS, counts, strict=True)}
        found["max_position"] = s.max_position
        found["spqr_slices"] = _bounds((*s.spqr, blocks))
        found["block_slices"] = _bounds(s.blocks)
        found["cut_slices"] = _bounds(s.cuts)
        found["section_lengths"] = (
            len(COUNTS),
            *(0 if rows_only and not rows else counts[unit] + extra for unit, extra, rows_only in _LENGTHS),
        )
        self.__dict__.update(found)  # frozen for everyone else

    @property
    def offsets(self) -> dict[str, tuple[int, int]]:
        """(start, stop) of each section in the buffer."""
        return dict(zip(SECTION_NAMES, _bounds(self.section_lengths), strict=True))

    @property
    def length(self) -> int:
        """The length of the buffer."""
        return sum(self.section_lengths)


def _bounds(widths: tuple[int, ...]) -> Slices:
    return tuple(pairwise(accumulate(widths, initial=0)))


def _by_depth(a: tuple[int, ...], b: tuple[int, ...]) -> list[tuple[int, int]]:
    """The widths of two lists of slices, paired from depth 0, which stands last, down; 0 where one is shorter."""
    return list(zip_longest(reversed(a), reversed(b), fillvalue=0))


def _round_up(value: int) -> int:
    return -(-value // _GRAIN) * _GRAIN


def _spare(value: int) -> int:
    """Rounded up, with at least one row more than asked for."""
    return _round_up(value + 1)


def _with_spare(widths: tuple[int, ...]) -> tuple[int, ...]:
    """Rounded up; the last slice, which ends the table, with a spare row."""
    return (*map(_round_up, widths[:-1]), *map(_spare, widths[-1:]))
