"""What the equations are made of: sums along incidences, the MLP on gathered rows, the recursion over trees, batch norm with its ReLU.

Each operation is one function with its definition in plain PyTorch operations. Files named ``triton_*`` hold the same on CUDA as few
kernels; the tests compare the two.
"""
