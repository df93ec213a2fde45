"""Tables in canonical terms: node ids become canonical indices and edge ids pairs of these; then isomorphic graphs have equal tables.

Row order is part of the promise (tables/packed.hpp): SPQR nodes, blocks, cut nodes and walk entries stand in canonical order.
"""

from __future__ import annotations

import numpy as np
from plain import Plain

PLAIN_COLUMNS = (
    *("walk_other", "walk_kappa", "walk_pos", "walk_spqr"),
    *("spqr_type", "spqr_set", "spqr_parent", "spqr_theta", "spqr_level", "spqr_block"),
    *("block_root", "block_level", "block_parent_cut", "cut_level", "cut_parent_block"),
)


def canonical_tables(g: Plain, arrays) -> dict[str, list]:
    """Everything in ``arrays`` in terms that do not depend on the input's numbering."""
    index = [int(x) for x in arrays["labelling"]]
    inverse = np.argsort(np.asarray(index, dtype=np.int64)) if g.n else np.zeros(0, np.int64)
    out = {name: [int(x) for x in arrays[name]] for name in PLAIN_COLUMNS}
    out["walk_node"] = [index[int(v)] for v in arrays["walk_node"]]
    out["walk_edge"] = [-1 if e < 0 else tuple(sorted(index[v] for v in g.edges[int(e)])) for e in arrays["walk_edge"]]
    out["cut_node"] = [index[int(v)] for v in arrays["cut_node"]]
    out["node_component"] = [int(arrays["node_component"][v]) for v in inverse]
    for name in ("spqr", "block"):
        pairs = zip(arrays[f"node_{name}_node"], arrays[f"node_{name}_{name}"], strict=True)
        out[f"node_{name}"] = sorted((index[int(v)], int(x)) for v, x in pairs)
    return out


def first_difference(a: dict[str, list], b: dict[str, list]) -> str | None:
    """Where two such tables differ first, for the message of a failing test."""
    for name in a:
        if a[name] != b[name]:
            rows = [i for i, (x, y) in enumerate(zip(a[name], b[name], strict=False)) if x != y]
            at = rows[0] if rows else min(len(a[name]), len(b[name]))
            return f"{name} differs at row {at}: {a[name][at : at + 6]} and {b[name][at : at + 6]}"
    return None
