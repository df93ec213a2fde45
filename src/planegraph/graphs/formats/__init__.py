"""One reader for each format: graph6, networkx, PyG, and molecules by RDKit. Each needs its package only when it is used."""
