"""Experiments: the paper's tables, run by name and kept as records. Only the commands know it.

The parts: configs.py (the settings of each published result), published.py (what was published and what must be reached), reproduce.py
(runs them), records.py and checks.py (what is kept of a run, and whether it is sound), tables.py (docs/results.md from the records).
"""
