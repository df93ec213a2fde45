"""A few thousand rounds of the fuzzer in every run; ``make fuzz`` goes on for longer."""

from __future__ import annotations

from fuzz import Fuzzer


def test_fuzz():
    outcomes = {Fuzzer(seed).round() for seed in range(4000)}
    assert "nearly_good: fine" in outcomes
    assert "nearly_good: InvalidGraphError" in outcomes
    assert "batch: fine" in outcomes
