"""gspo-bench: times a fused GSPO loss against the two-pass round trip on a Tinker server."""

__version__ = "0.1.0"
