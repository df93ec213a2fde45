"""Datasets: where the raw files are, how they are packed, and the tasks they pose. Knows data/, not nn/."""
