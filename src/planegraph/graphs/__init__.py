"""Graphs with labels, one or many as flat arrays, named families, and the formats that they come in."""
