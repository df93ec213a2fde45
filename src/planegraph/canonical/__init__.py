"""Canonical forms: a code that isomorphic graphs share, the labelling behind it, isomorphisms; and automorphisms."""
