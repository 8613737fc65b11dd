"""Tasks that a model learns: problems with answers that can be checked."""
