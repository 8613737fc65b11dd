"""A problem of any task."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """A question as it is put to the model, and its right answer: the number alone, as GSM8K writes it after `####` ("12", "1,250")."""

    question: str
    answer: str
