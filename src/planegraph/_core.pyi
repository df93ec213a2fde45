"""Types of the extension module; the arrays of ``run`` are described in docs/arrays.md."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

def run(
    node_ptr: NDArray[np.int64],
    edge_ptr: NDArray[np.int64],
    edges: NDArray[np.int64],
    node_keys: NDArray[np.int64] | None = None,
    node_float: bool = False,
    edge_keys: NDArray[np.int64] | None = None,
    edge_float: bool = False,
    *,
    nonplanar_as_set: bool = False,
    walks: bool = True,
    codes: bool = False,
    threads: int = 1,
) -> dict[str, NDArray[np.generic]]: ...

# docs of cpp/planegraph/symmetry/symmetries.hpp
def symmetries(
    node_ptr: NDArray[np.int64],
    edge_ptr: NDArray[np.int64],
    edges: NDArray[np.int64],
    node_keys: NDArray[np.int64] | None = None,
    node_float: bool = False,
    edge_keys: NDArray[np.int64] | None = None,
    edge_float: bool = False,
    *,
    generators: bool = False,
    threads: int = 1,
) -> dict[str, NDArray[Any]]: ...

# the schema: docs of cpp/planegraph/tables/schema.hpp, read by decomposition/tables.py
COLUMNS: list[tuple[str, str, str, int, str | None, bool, bool, bool, bool]]

def is_planar(num_nodes: int, edges: NDArray[np.int64]) -> bool: ...
def planar_mask(node_ptr: NDArray[np.int64], edge_ptr: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.uint8]: ...
def kuratowski(num_nodes: int, edges: NDArray[np.int64]) -> NDArray[np.int32]: ...

# embeddings, faces and drawings: docs of cpp/bindings/planarity.cpp
def embed(num_nodes: int, edges: NDArray[np.int64]) -> NDArray[np.int32] | None: ...
def embedding_problem(num_nodes: int, edges: NDArray[np.int64], next: NDArray[np.int32]) -> tuple[str, int]: ...
def faces(num_nodes: int, edges: NDArray[np.int64], next: NDArray[np.int32]) -> tuple[NDArray[np.int32], ...]: ...
def triangulate(
    num_nodes: int, edges: NDArray[np.int64], next: NDArray[np.int32], outer: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...
def canonical_order(num_nodes: int, edges: NDArray[np.int64], next: NDArray[np.int32], outer: int) -> NDArray[np.int32]: ...
def grid_layout(num_nodes: int, edges: NDArray[np.int64]) -> NDArray[np.int64] | None: ...
def grid_layout_of(
    num_nodes: int, edges: NDArray[np.int64], next: NDArray[np.int32], outer: NDArray[np.int32]
) -> NDArray[np.int64]: ...
def read_drawing(
    points: NDArray[np.float64], edges: NDArray[np.int64]
) -> tuple[int, int, int, NDArray[np.int32], NDArray[np.int32]]: ...
def st_numbering(num_nodes: int, edges: NDArray[np.int64], s: int, t: int) -> tuple[int, NDArray[np.int32]]: ...

# collation: docs of cpp/planegraph/collate/
Shape = tuple[int, int, int, int, int, int, int, list[int], list[int], list[int]]
SPACES: list[tuple[str, str]]
SECTIONS: list[tuple[str, str, str, str | None, int, bool]]

class Tables:
    def __init__(self, tables: Mapping[str, NDArray[np.generic]]) -> None: ...

def collate(
    tables: Tables,
    ids: NDArray[np.int64],
    rows_per_edge: int,
    capacity: tuple | None = None,
    pool_ptr: NDArray[np.int64] | None = None,
    allocate: Callable[[int], NDArray[np.int32]] | None = None,
) -> tuple[NDArray[np.int32] | None, Shape]: ...
def returns(tables: Tables, steps: int) -> NDArray[np.float32]: ...
def gather_rows(from_: NDArray[np.uint8], ptr: NDArray[np.int64] | None, ids: NDArray[np.int64], to: NDArray[np.uint8]) -> None: ...
def depths(
    spqr_ptr: NDArray[np.int64],
    spqr_parent: NDArray[np.int32],
    block_ptr: NDArray[np.int64],
    block_parent_cut: NDArray[np.int32],
    cut_ptr: NDArray[np.int64],
    cut_parent_block: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...

# sums and norms of the models: docs of cpp/planegraph/kernels/; addresses of tensors
def sum_rows(
    x: int,
    x_stride: int,
    index: int,
    begin: int,
    end: int,
    rows: int,
    width: int,
    y: int,
    y_stride: int,
    is_double: bool,
    add: bool,
) -> None: ...
def norm_relu(
    norm: tuple[int, ...],
    rows: int,
    width: int,
    eps: float,
    flat: float,
    running: tuple[int, int],
    momentum: float,
    y: int,
    is_double: bool,
) -> int: ...
def norm_relu_gradient(
    norm: tuple[int, ...], rows: int, width: int, n: int, gradient: int, dx: int, dw: int, db: int, is_double: bool
) -> None: ...

# for tests and benchmarks only
def dart_classes(
    n: int, edges: NDArray[np.int32], node_colours: NDArray[np.int32], dart_colours: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def chosen_start(
    n: int,
    edges: NDArray[np.int32],
    node_colours: NDArray[np.int32],
    dart_colours: NDArray[np.int32],
    next: NDArray[np.int32],
) -> int: ...
def weinberg_code(
    n: int,
    edges: NDArray[np.int32],
    node_colours: NDArray[np.int32],
    dart_colours: NDArray[np.int32],
    next: NDArray[np.int32],
    start_dart: int,
    mirror: bool,
) -> NDArray[np.int32]: ...
def dfs_yardstick(num_nodes: int, edges: NDArray[np.int64]) -> float: ...
