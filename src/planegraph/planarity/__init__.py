"""Planar graphs in the plane: embeddings, their faces and duals, orders of their nodes, and drawings."""
