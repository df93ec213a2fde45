"""Planarity, block-cut trees and SPQR trees with canonical walks: as arrays, as objects, as text, and verified."""
