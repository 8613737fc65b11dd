"""What differs between two sweeps' servers and clients, from what identifies each: `STACK=cpu image 1a2b; bench run --max-tokens 96`."""

import itertools

LONGEST_VALUE = 60
MOST_NAMED = 3
FOLDER = "a folder or file of its command"  # which the words have without what is before its name


def what_differs(old: str, new: str) -> str:
    """The settings, flags and other words that are not the same, with both values: `GPUS=3, now GPUS=2; --lora-rank 8, now without`."""
    before, now = _named(old), _named(new)
    found = [_pair(before.get(name, ""), now.get(name, "")) for name in {**before, **now} if before.get(name) != now.get(name)]
    more = f"; and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return "; ".join(found[:MOST_NAMED]) + more if found else FOLDER


def _named(words: str) -> dict[str, str]:
    """What a text sets, by its name: `GPUS` -> `GPUS=2`, `--steps` -> `--steps 4`; what sets nothing is under ''."""
    found: dict[str, str] = {}
    plain = []
    parts = iter(itertools.pairwise([*words.replace(";", " ").split(), ""]))
    for word, following in parts:
        name, equals, _ = word.partition("=")
        if equals:
            found[name] = word
        elif word == "image" or (word.startswith("-") and following and not following.startswith("-")):
            found[word] = f"{word} {following}"
            next(parts, None)
        elif word.startswith("-"):
            found[word] = word
        else:
            plain.append(word)
    return ({"": " ".join(plain)} if plain else {}) | found


def _pair(old: str, new: str) -> str:
    if not old:
        return f"now with {_cut(new)}"
    return f"{_cut(old)}, now {_cut(new) if new else 'without'}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
