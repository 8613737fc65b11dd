"""Stands in for flash-attn, which SkyRL's FSDP worker imports and, with trainer.flash_attn=false, never calls."""
