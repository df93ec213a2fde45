"""Pictures of a graph and its decomposition: a page to explore, and a still picture. Standard library and numpy alone."""
