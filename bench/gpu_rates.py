"""What each GPU can do: dense bf16 arithmetic with float32 accumulation, in TFLOP/s, as its vendor's data sheet gives it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """A peak rate and where it is written."""

    tflops: float
    source: str


# The first name that is part of the device's own name counts: the more particular come first. Where a data sheet gives the rate
# with sparsity, half of it.
RATES = (
    ("H200", Rate(989.0, "NVIDIA H200 data sheet: 1,979 with sparsity")),
    ("H100 PCIe", Rate(756.0, "NVIDIA H100 data sheet (PCIe): 1,513 with sparsity")),
    ("H100 NVL", Rate(835.0, "NVIDIA H100 data sheet (NVL): 1,671 with sparsity")),
    ("H100", Rate(989.0, "NVIDIA H100 data sheet (SXM): 1,979 with sparsity")),
    ("A100", Rate(312.0, "NVIDIA A100 data sheet")),
    ("A10G", Rate(70.0, "NVIDIA A10G data sheet (AWS G5)")),
    ("L40S", Rate(362.0, "NVIDIA L40S data sheet: 733 with sparsity")),
    ("L4", Rate(121.0, "NVIDIA L4 data sheet: 242 with sparsity")),
    ("RTX 4090", Rate(165.2, "NVIDIA Ada architecture white paper, table of the RTX 4090")),
)


def rate_of(device: str) -> Rate | None:
    """The rate of a device by the name that its driver gives it, or None for one that is not in the table."""
    words = device.replace("-", " ").split()
    if "Laptop" in words:
        return None  # the same name for another chip
    return next((rate for name, rate in RATES if _names(name.split(), words)), None)


def _names(name: list[str], words: list[str]) -> bool:
    """Whether the name's words all stand in the device's, as whole words: an L40 is no L4."""
    return all(word in words for word in name)
