"""What networkx reads of every installed backend when it is imported: alone here, so that it costs no import of planegraph."""


def info() -> dict:
    """The functions of planegraph/networkx_backend.py, for ``nx.config``."""
    functions = (
        "all_node_cuts",
        "articulation_points",
        "bridges",
        "check_planarity",
        "has_bridges",
        "is_planar",
    )
    return {
        "backend_name": "planegraph",
        "project": "planegraph",
        "package": "planegraph",
        "url": "https://github.com/planegraph/planegraph",
        "short_summary": "Planarity and connectivity by a C++ core, in linear time.",
        "functions": {name: {} for name in functions},
    }
