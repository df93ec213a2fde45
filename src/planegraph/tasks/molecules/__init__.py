"""Tables of molecules as tasks: read row by row, split, featurised, and judged beside baselines."""
