"""Types of the extension module; the arrays of ``run`` are described in docs/arrays.md."""

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
def is_planar(num_nodes: int, edges: NDArray[np.int64]) -> bool: ...
def planar_mask(node_ptr: NDArray[np.int64], edge_ptr: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.uint8]: ...
def kuratowski(num_nodes: int, edges: NDArray[np.int64]) -> NDArray[np.int32]: ...

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
