"""`bench scale`: one frozen batch, and one that grows, on more and more GPUs; it drives servers by the sweep's machinery."""
