"""The names that SkyRL imports from flash_attn.bert_padding."""

from typing import NoReturn


def _absent(*args: object, **kwargs: object) -> NoReturn:
    raise NotImplementedError("flash-attn is not in this image: set trainer.flash_attn and trainer.remove_microbatch_padding to false")


pad_input = unpad_input = index_first_axis = rearrange = _absent
