"""Stands in for peft, which needs torch: SkyRL's JAX backend writes one of its config files beside a saved adapter, no more."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass
class LoraConfig:
    """The three settings that SkyRL gives; peft itself fills in its defaults for the rest when it reads the file."""

    base_model_name_or_path: str
    r: int
    lora_alpha: float

    def save_pretrained(self, folder: str | Path) -> None:
        """Writes adapter_config.json as peft does: sorted keys, two spaces."""
        content = asdict(self) | {"peft_type": "LORA", "task_type": None, "inference_mode": False}
        (Path(folder) / "adapter_config.json").write_text(json.dumps(content, indent=2, sort_keys=True))
