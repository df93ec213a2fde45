"""A dataset that is kept on a GPU, where batches are made from the ids of their graphs."""
